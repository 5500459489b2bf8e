"""What a failure tells the user to do mends it, and one fault is told by one contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixtures.changes import Change, Mutant, nothing, put, without
from fixtures.mutants import MUTANTS
from pytest_eagle_contract.assess import Inputs, Result, assess
from pytest_eagle_contract.engines.registry import find

IDS = "eagle_aux_hidden_state_layer_ids"
SGLANG, VLLM = "sglang==0.5.23", "vllm==0.32.0:v1"


def judged(
    change: Change, engine: str, directory: Path, targets: Path, base: str = "specforge-hf"
) -> dict[tuple[str, bool], Result]:
    """Return outcomes by contract id and whether they are of the files."""
    path = Mutant("here", base, change, "").build(directory / base)
    results = assess(path, Inputs(target=targets / "llama"), [find(engine)])
    return {(r.contract.id, r.subject == "files"): r for r in results}


def flat(config: dict[str, Any], tensors: Any) -> None:
    config.update(config.pop("transformer_layer_config"))
    config["architectures"] = ["LlamaForCausalLMEagle3"]


def test_a_speculators_draft_moved_to_top_level_is_read(tmp_path: Path, targets: Path) -> None:
    before = judged(nothing, SGLANG, tmp_path / "a", targets, "speculators-plain")
    engine = before["checkpoint.engine", False].outcome
    assert engine.status == "failed"
    assert "move the keys of transformer_layer_config to top level" in engine.fix
    assert '"architectures": ["LlamaForCausalLMEagle3"]' in engine.fix
    after = judged(flat, SGLANG, tmp_path / "b", targets, "speculators-plain")
    assert after["checkpoint.engine", False].outcome.status == "passed"


def test_a_head_that_is_not_stored_is_no_engines_own(tmp_path: Path, targets: Path) -> None:
    found = judged(without("lm_head.weight"), VLLM, tmp_path, targets)
    assert found["checkpoint.lm-head", True].outcome.status == "failed"
    assert found["checkpoint.lm-head", False].outcome.blocked_by == ("checkpoint.lm-head",)


@pytest.mark.parametrize("engine", [SGLANG, VLLM])
def test_a_switch_without_its_tensors_is_the_switchs_fault(
    engine: str, tmp_path: Path, targets: Path
) -> None:
    found = judged(put("fc_norm", True), engine, tmp_path, targets)
    assert found["checkpoint.switches", True].outcome.status == "failed"
    assert found["checkpoint.tensors", False].outcome.blocked_by == ("checkpoint.switches",)


@pytest.mark.parametrize("engine", [SGLANG, VLLM, "vllm==0.32.0:v2"])
def test_an_id_that_no_target_has_is_told_once(engine: str, tmp_path: Path, targets: Path) -> None:
    change = put(f"eagle_config.{IDS}", [1, 4, 12])
    found = judged(change, engine, tmp_path, targets, "modelopt")
    assert found["layers.range", True].outcome.status == "failed"
    assert found["layers.engine", False].outcome.blocked_by == ("layers.range",)


def test_two_lists_alike_are_told_to_count_differently(tmp_path: Path, targets: Path) -> None:
    def twice(config: dict[str, Any], tensors: Any) -> None:
        config[IDS] = [1, 3, 4]
        config["eagle_config"] = {IDS: [1, 3, 4]}

    outcome = judged(twice, VLLM, tmp_path, targets)["layers.declared", True].outcome
    assert "the one counts boundaries by custom and the other layer outputs" in outcome.measured


def test_every_lost_bias_is_named(tmp_path: Path, targets: Path) -> None:
    mutant = next(m for m in MUTANTS if m.name == "biases-dropped")
    results = assess(mutant.build(tmp_path / "d"), Inputs(target=targets / "llama"), [find(SGLANG)])
    (outcome,) = (
        r.outcome
        for r in results
        if r.contract.id == "checkpoint.switches" and r.subject != "files"
    )
    for name in ("q_proj", "k_proj", "v_proj"):
        assert f"midlayer.self_attn.{name}.bias" in outcome.measured


def test_of_many_target_families_the_rare_ones_are_named(good: Path) -> None:
    results = assess(good / "specforge-hf", Inputs(), [find(SGLANG)])
    (measured,) = (r.outcome.measured for r in results if r.contract.id == "layers.engine")
    assert measured.endswith("for other targets")
    assert len(measured) < 500
