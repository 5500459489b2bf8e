"""What two real trainers wrote with their own export code, judged contract by contract."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_eagle_contract.assess import Inputs, Result, assess, build_case
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.engines.registry import find

HERE = Path(__file__).parent
TIMEOUT = 300

SGLANG, VLLM_V1, VLLM_V2 = "sglang 0.5.23", "vllm 0.32.0 v1", "vllm 0.32.0 v2"
ENGINES = tuple(find(s) for s in ("sglang==0.5.23", "vllm==0.32.0:v1", "vllm==0.32.0:v2"))

Expected = dict[tuple[str, str], tuple[str, str]]
"""Each outcome that is no pass: contract and subject to status and words of what was measured."""

# No run here counts text, and no trainer's export does.
UNCOUNTED: Expected = {("mapping.coverage", "files"): ("unverified", "no text is given to count")}

# SGLang does not read the format, which leaves the rest open. Only a switch that no conversion of
# the format can save is judged all the same.
ANYWAY = ("checkpoint.engine", "checkpoint.switches")
UNREAD: Expected = {
    (c.id, SGLANG): ("unverified", "does not read this format")
    for c in shipped()
    if c.subject == "engine" and c.static and c.id not in ANYWAY
} | {("checkpoint.engine", SGLANG): ("failed", "does not read the speculators format")}
CONVERTED: Expected = UNCOUNTED | UNREAD

EXPORTS: dict[str, tuple[str, Expected]] = {
    # SpecForge writes what both engines read: default layers unwritten, theta in both spellings.
    "specforge/to_hf": ("specforge/target", UNCOUNTED),
    "specforge/to_sglang": ("specforge/target", UNCOUNTED),
    # The default trains with the residual after the norm, which SGLang has no code for.
    "speculators/default/0": (
        "speculators/verifier",
        CONVERTED
        | {("checkpoint.switches", SGLANG): ("failed", "computes with norm_before_residual false")},
    ),
    # The variant turns that off.
    "speculators/variant/0": ("speculators/verifier", CONVERTED),
    # The converter writes null for the layer ids, float32 for the type and the default special ids,
    # and keeps theta. All of it is harmless to vLLM.
    "speculators/converted_hf": ("specforge/target", CONVERTED),
    "speculators/converted_sglang": ("specforge/target", CONVERTED),
    # It reads the rotary base from the older key alone, and loses one written in the newer key.
    "speculators/converted_modern": ("specforge/target", CONVERTED),
}


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let both trainers export, and return the folder; a trainer that is missing is an error."""
    root = tmp_path_factory.mktemp("exports")
    _export("export_specforge.py", root / "specforge")
    _export("export_speculators.py", root / "speculators", "--specforge", root / "specforge")
    return root


def _export(script: str, *args: str | Path) -> None:
    python = os.environ.get("EAGLE_EXPORTS_PYTHON", sys.executable)
    done = subprocess.run(
        [python, HERE / script, *args],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script} ended with status {done.returncode}\n{done.stderr[-4000:]}")


def _judge(written: Path, name: str, *token_maps: str) -> list[Result]:
    inputs = Inputs(
        target=written / EXPORTS[name][0], token_maps=tuple(written / m for m in token_maps)
    )
    return assess(written / name, inputs, ENGINES)


def _one(results: list[Result], contract: str, subject: str = "files") -> Result:
    return next(r for r in results if (r.contract.id, r.subject) == (contract, subject))


@pytest.mark.parametrize("name", EXPORTS)
def test_every_contract_has_the_outcome_the_export_deserves(written: Path, name: str) -> None:
    results = _judge(written, name)
    expected = EXPORTS[name][1]
    statuses = {
        (r.contract.id, r.subject): r.outcome.status
        for r in results
        if r.outcome.status != "passed"
    }
    assert statuses == {place: status for place, (status, _) in expected.items()}
    for (contract, subject), (_, words) in expected.items():
        assert words in _one(results, contract, subject).outcome.measured


def test_a_rotary_base_that_the_converter_lost_is_named(written: Path) -> None:
    # A draft may be trained with another base than its target's, so this alone is no failure.
    lost = _one(_judge(written, "speculators/converted_modern"), "checkpoint.rope").outcome
    assert any("10000" in note and "500000" in note for note in lost.notes)
    for name in EXPORTS.keys() - {"speculators/converted_modern"}:
        assert not _one(_judge(written, name), "checkpoint.rope").outcome.notes, name


@pytest.mark.parametrize(
    ("name", "trainer"),
    [
        ("specforge/to_hf", "specforge"),
        ("specforge/to_sglang", "specforge"),
        ("speculators/default/0", "speculators"),
        ("speculators/variant/0", "speculators"),
        # Whoever trained what was converted, the file does not say.
        ("speculators/converted_hf", None),
        ("speculators/converted_sglang", None),
    ],
)
def test_the_trainer_is_recognised(written: Path, name: str, trainer: str | None) -> None:
    draft = open_checkpoint(written / name)
    assert build_case(draft, Inputs()).intent.trainer.value == trainer


def test_vllm_captures_unsorted_layers_in_the_order_they_were_extracted_in(written: Path) -> None:
    # The trainer's states come out of vLLM, which collects them layer by layer whatever the order
    # of [6, 1, 3] is, and serves them the same way.
    results = _judge(written, "speculators/variant/0")
    for engine in (VLLM_V1, VLLM_V2):
        captured = _one(results, "layers.engine", engine).outcome
        order = _one(results, "layers.order", engine).outcome
        assert captured.measured.startswith("captures {1, 3, 6} (eagle_aux_hidden_state_layer_ids")
        assert order.measured == "concatenates {1, 3, 6}"


@pytest.mark.parametrize(
    ("name", "token_map"),
    [
        ("specforge/to_hf", "specforge/vocab_mapping.pt"),
        ("speculators/default/0", "speculators/data/d2t-128.npy"),
    ],
)
def test_the_trainers_own_mapping_file_is_the_exported_map(
    written: Path, name: str, token_map: str
) -> None:
    outcome = _one(_judge(written, name, token_map), "mapping.side-files").outcome
    assert (outcome.status, outcome.measured) == ("passed", "1 files agree")


def test_the_other_trainers_mapping_file_is_another_map(written: Path) -> None:
    # Both trainers counted the same tokens and broke ties differently.
    results = _judge(written, "specforge/to_hf", "speculators/data/d2t-128.npy")
    outcome = _one(results, "mapping.side-files").outcome
    assert outcome.status == "failed"
    assert "is another map" in outcome.measured


def test_the_draft_vocabularies_hide_nothing(written: Path) -> None:
    for name in EXPORTS:
        assert "no prefix" in _one(_judge(written, name), "mapping.prefix").outcome.measured
