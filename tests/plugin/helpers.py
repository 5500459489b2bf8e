"""Drafts to run the plugin on, and what a run's JSON report says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  # safetensors reads bfloat16 with it
import pytest
from safetensors.numpy import load_file, save_file

FIXTURES = Path(__file__).parents[2] / "fixtures"
DRAFT = FIXTURES / "good" / "specforge-ids"
"""A draft that SGLang serves; vLLM reads other layer ids than it was trained on."""

OTHER = FIXTURES / "good" / "speculators-ids"
TARGET = FIXTURES / "targets" / "llama"

Outcomes = dict[tuple[str, str], str]
Change = Callable[[dict[str, Any]], object]


def options(
    draft: Path | None = DRAFT, *more: str, target: Path | None = TARGET, engine: str = "sglang"
) -> list[str]:
    """Return the options of a run in which everything passes."""
    found = [f"--eagle-ckpt={draft}"] if draft else []
    found += [f"--eagle-target={target}"] if target else []
    return [*found, *([f"--eagle-engine={engine}"] if engine else []), *more]


def changed(
    directory: Path,
    *,
    config: Change | None = None,
    tensors: Change | None = None,
    draft: Path = DRAFT,
) -> Path:
    """Copy a draft to `directory` and change it there."""
    shutil.copytree(draft, directory)
    if config is not None:
        file = directory / "config.json"
        data = json.loads(file.read_text())
        config(data)
        file.write_text(json.dumps(data))
    if tensors is not None:
        # What is loaded may still lie in the file that is about to be overwritten.
        loaded = {n: v.copy() for n, v in load_file(directory / "model.safetensors").items()}
        tensors(loaded)
        save_file(loaded, directory / "model.safetensors")
    return directory


def absolute(tensors: dict[str, Any]) -> None:
    """Store the map as absolute ids, the most common mistake."""
    tensors["d2t"] = tensors["d2t"] + range(len(tensors["d2t"]))


def report(result: pytest.RunResult, directory: Path) -> dict[str, Any]:
    """Return the JSON report that a run with `--eagle-report=json=report.json` wrote."""
    file = directory / "report.json"
    assert file.exists(), "\n".join([*result.outlines, *result.errlines])
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def outcomes(document: Mapping[str, Any]) -> Outcomes:
    """Return each contract's outcome by id and subject."""
    return {(c["id"], c["subject"]): c["outcome"] for c in document["contracts"]}


def failing(document: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return what failed."""
    return {key for key, outcome in outcomes(document).items() if outcome == "failed"}


def refused(result: pytest.RunResult) -> str:
    """Return the one line with which a run refused its input: exit code 4 and no traceback."""
    everything = "\n".join([*result.outlines, *result.errlines])
    assert result.ret == pytest.ExitCode.USAGE_ERROR, everything
    assert "Traceback" not in everything
    assert "INTERNALERROR" not in everything
    lines = [line for line in result.errlines if line.strip()]
    assert len(lines) == 1, lines
    assert lines[0].startswith("ERROR: ")
    return lines[0].removeprefix("ERROR: ")
