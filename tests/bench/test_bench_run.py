"""Whole runs: what the plugin adds to pytest, and a draft of Kimi K2's size."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_eagle_contract.engines.registry import PROFILES
from tests.bench.children import Ran, busier, pytest_in, run, seconds, side_by_side

Note = Callable[[str, float, float], None]

ROUNDS = 15
MEGABYTE = 1_000_000
EVERY = [f"--eagle-engine={profile.name}" for profile in PROFILES]
SMALL = Path(__file__).parents[2] / "fixtures" / "good" / "specforge-hf"
PLUGIN_OFF = ("-p", "no:eagle_contract")

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory and reads are accounted as Linux does"
)


def _timed(benchmark: Any, commands: dict[str, list[str]], cwd: Path) -> dict[str, list[Ran]]:
    """Run the commands side by side as one round of the benchmark."""
    rounds = 1 if benchmark.disabled else ROUNDS
    ran: dict[str, list[Ran]] = benchmark.pedantic(
        side_by_side, args=(commands, cwd, rounds), rounds=1, iterations=1
    )
    for name, results in ran.items():
        benchmark.extra_info[f"{name}, median s"] = round(seconds(results), 3)
    return ran


def test_idle_plugin(benchmark: Any, note: Note, tmp_path: Path) -> None:
    commands = {"with": pytest_in("--co"), "without": pytest_in("--co", *PLUGIN_OFF)}
    ran = _timed(benchmark, commands, tmp_path)
    assert {r.code for results in ran.values() for r in results} == {5}
    # A few milliseconds drown in a busy machine's wall time, so processor time is compared.
    note("idle plugin, ms over a run without it", busier(ran["with"], ran["without"]) * 1e3, 15.0)


@pytest.mark.parametrize("engines", [[], EVERY], ids=["matrix", "every engine named"])
def test_kimi_sized_draft(
    benchmark: Any, note: Note, tmp_path: Path, options: list[str], engines: list[str]
) -> None:
    commands = {"judged": pytest_in(*options, *engines), "empty": pytest_in()}
    ran = _timed(benchmark, commands, tmp_path)
    for result in ran["judged"]:
        assert result.code in (0, 1)
        assert "VERDICT" in result.output
    name = "every engine" if engines else "matrix"
    empty = seconds(ran["empty"])
    note(f"{name}, s (an empty run: {empty:.3f})", seconds(ran["judged"]), 1.5 * empty + 0.7)
    note(f"{name}, peak MB", max(r.peak for r in ran["judged"]) / MEGABYTE, 250)
    # Modules are read by the same calls. A small draft costs those too, and next to no weights.
    small = run(pytest_in(f"--eagle-ckpt={SMALL}", *options[1:], *engines), tmp_path)
    weights = max(r.read for r in ran["judged"]) - small.read
    note(f"{name}, MB of the draft read", weights / MEGABYTE, 16)


def test_done_before_torch_is_imported(
    benchmark: Any, note: Note, tmp_path: Path, options: list[str]
) -> None:
    python = os.environ.get("EAGLE_BENCH_TORCH_PYTHON")
    if python is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here: EAGLE_BENCH_TORCH_PYTHON names an interpreter that has it")
    commands = {
        "judged": pytest_in(*options, *EVERY),
        "torch": [python or sys.executable, "-c", "import torch"],
    }
    ran = _timed(benchmark, commands, tmp_path)
    assert {r.code for r in ran["torch"]} == {0}
    share = seconds(ran["judged"]) / seconds(ran["torch"])
    note("whole run, as a share of import torch", share, 1)


@pytest.fixture
def options(draft: Path, target: Path) -> list[str]:
    return [f"--eagle-ckpt={draft}", f"--eagle-target={target}"]
