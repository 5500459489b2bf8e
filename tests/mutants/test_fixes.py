"""What a failure tells the user to do mends it, and one fault is told by one contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.build import GOOD
from fixtures.changes import Change, Mutant, add, cast, drop, edit, nothing, put, without
from fixtures.mutants import MUTANTS
from pytest_eagle_contract.assess import Inputs, Result, assess
from pytest_eagle_contract.engines.registry import default_engines, find

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


def follows_from_nothing(results: list[Result]) -> list[str]:
    """Return outcomes that follow from contracts which are sound, there and on the files."""
    open_or_failed = (r for r in results if r.outcome.status == "failed" or r.outcome.needs)
    causes = {(r.contract.id, r.subject) for r in open_or_failed}
    return [
        f"{r.contract.id} [{r.subject}] follows from {r.outcome.blocked_by}: {r.outcome.measured}"
        for r in results
        if r.outcome.blocked_by
        and causes.isdisjoint(
            (by, on) for by in r.outcome.blocked_by for on in ("files", r.subject)
        )
    ]


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.engine], ids=lambda m: m.name)
def test_what_follows_from_a_contract_follows_from_a_failure(
    mutant: Mutant, tmp_path: Path, targets: Path
) -> None:
    target = targets / mutant.target if mutant.target else None
    inputs = Inputs(target=target, trainer=mutant.trainer, aux_layers=mutant.aux_layers)
    results = assess(mutant.build(tmp_path / "d"), inputs, [find(mutant.engine)])
    assert not follows_from_nothing(results)


@pytest.mark.parametrize("name", GOOD)
def test_so_does_what_each_engine_makes_of_a_good_draft(
    name: str, good: Path, targets: Path
) -> None:
    results = assess(good / name, Inputs(target=targets / "llama"), default_engines())
    assert not follows_from_nothing(results)


def test_a_trainer_that_sorts_is_read_as_sorting_at_every_place(
    tmp_path: Path, targets: Path
) -> None:
    change = put(IDS, [5, 1, 7])
    for engine in (SGLANG, VLLM, "vllm==0.32.0:v2"):
        directory = tmp_path / engine.replace(":", "-")
        found = judged(change, engine, directory, targets, "modelopt-ids")
        assert found["layers.declared", True].outcome.status == "passed"
        assert found["layers.order", False].outcome.status == "passed", engine


def test_two_orders_of_one_set_leave_the_order_open(tmp_path: Path, targets: Path) -> None:
    def both(config: dict[str, Any], tensors: Any) -> None:
        config[IDS] = [2, 4, 5]
        config["eagle_config"] = {IDS: [4, 1, 3]}

    found = judged(both, VLLM, tmp_path, targets, "eagle-resaved")
    assert found["layers.declared", True].outcome.status == "passed"
    assert found["layers.order", False].outcome.status == "unverified"


def test_an_order_is_not_agreed_on_where_the_layers_are_open(tmp_path: Path, targets: Path) -> None:
    found = judged(put(IDS, [6, 1, 3]), VLLM, tmp_path, targets, "automodel-served")
    assert found["layers.declared", True].outcome.status == "unverified"
    assert found["layers.order", False].outcome.status == "unverified"


def test_an_empty_list_is_named_as_one(tmp_path: Path, targets: Path) -> None:
    found = judged(put(IDS, []), VLLM, tmp_path, targets, "speculators-ids")
    failed = {key for key, r in found.items() if r.outcome.status == "failed"}
    assert failed == {("layers.count", True)}


def test_a_map_that_an_engine_refuses_fails_without_its_size(tmp_path: Path, targets: Path) -> None:
    def unsized(config: dict[str, Any], tensors: Any) -> None:
        del config["draft_vocab_size"]

    found = judged(unsized, "vllm==0.32.0:v2", tmp_path, targets, "specforge-full")
    outcome = found["mapping.engine", False].outcome
    assert (outcome.status, outcome.loud) == ("failed", True)


@pytest.mark.parametrize(("engine", "loud"), [(SGLANG, False), ("vllm==0.16.0", True)])
def test_a_stored_norm_is_stronger_than_a_suggested_trainer(
    engine: str, loud: bool, tmp_path: Path, targets: Path
) -> None:
    found = judged(add("input_norm.weight", (72,)), engine, tmp_path, targets, "specforge-sglang")
    outcome = found["checkpoint.switches", False].outcome
    assert (outcome.status, outcome.loud) == ("failed", loud)


def test_a_stored_norm_contradicts_a_named_trainer(tmp_path: Path, targets: Path) -> None:
    path = Mutant("x", "specforge-sglang", add("input_norm.weight", (72,)), "").build(
        tmp_path / "d"
    )
    results = assess(path, Inputs(target=targets / "llama", trainer="specforge"))
    (outcome,) = (r.outcome for r in results if r.contract.id == "checkpoint.switches")
    assert outcome.status == "failed"
    assert "input_norm.weight is stored, and SpecForge trains with false" in outcome.measured


def test_a_vocabulary_that_is_not_written_is_no_pass(tmp_path: Path, targets: Path) -> None:
    found = judged(drop("vocab_size"), SGLANG, tmp_path, targets)
    assert found["checkpoint.lm-head", True].outcome.undecided


def test_a_count_unlike_fc_fails_on_the_files(tmp_path: Path, targets: Path) -> None:
    found = judged(put("num_aux_hidden_states", 5), SGLANG, tmp_path / "a", targets)
    assert found["layers.fc-width", True].outcome.status == "failed"
    found = judged(put("num_aux_hidden_states", -1), SGLANG, tmp_path / "b", targets)
    assert found["layers.count", True].outcome.status == "failed"


def test_a_float_map_is_no_engines_own(tmp_path: Path, targets: Path) -> None:
    found = judged(cast("d2t", "float32"), SGLANG, tmp_path, targets)
    assert found["mapping.engine", False].outcome.blocked_by == ("mapping.dtype",)


def test_a_buffer_that_counts_up_is_not_to_be_shifted(tmp_path: Path, targets: Path) -> None:
    """Zeros would be offsets of a prefix, which t2d does not keep."""
    found = judged(edit("d2t", lambda d2t: np.arange(d2t.size)), SGLANG, tmp_path, targets)
    assert found["mapping.offsets", True].outcome.status == "failed"
    assert "never filled" in found["mapping.offsets", True].outcome.fix
