"""Trainers are recognised by what only they write, and what they meant is read from data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_eagle_contract.assess import Inputs, build_case
from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS, TOP_IDS
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.intent import Evidence, Intent
from pytest_eagle_contract.trainers.registry import PROFILES, find

Edit = Callable[[dict[str, Any]], None]
NAMES = ("specforge", "speculators", "eagle", "modelopt", "automodel", "verl-speco", "angelslim")


@pytest.fixture
def intent_of(good: Path, targets: Path, tmp_path: Path) -> Callable[..., Intent]:
    def read(
        name: str, edit: Edit | None = None, target: str | None = "llama", **stated: Any
    ) -> Intent:
        path = shutil.copytree(good / name, tmp_path / name)
        config = next(path.rglob("config.json"))
        data = json.loads(config.read_text())
        if edit is not None:
            edit(data)
            config.write_text(json.dumps(data))
        inputs = Inputs(target=targets / target if target else None, **stated)
        return build_case(open_checkpoint(path), inputs).intent

    return read


def test_there_are_seven_and_each_is_found_by_name() -> None:
    assert tuple(p.name for p in PROFILES) == NAMES
    assert [find(name).name for name in NAMES] == list(NAMES)
    assert find("Verl_SpeCo").name == "verl-speco"


def test_an_unknown_name_is_answered_with_the_closest() -> None:
    with pytest.raises(InputError, match=r"'specforg' is no known trainer; use specforge"):
        find("specforg")
    with pytest.raises(InputError, match="use specforge, speculators, eagle, modelopt"):
        find("zzz")


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_statement_names_its_source(profile: Any) -> None:
    stated = {"signatures", "ids_mean", "default", "order", "map_order", "embedding"}
    stated |= {"trained_as"} if profile.trained_as else set()
    stated |= {"rope_theta"} if profile.rope_theta else set()
    stated |= {"ids_places"} if profile.ids_places else set()
    assert stated <= set(profile.sources)


def test_equal_marks_of_several_trainers_leave_it_unknown(intent_of: Any) -> None:
    intent = intent_of("verl-speco-plain")
    assert intent.trainer.value is None
    assert intent.trainer.reason == "fits eagle, specforge, verl-speco alike"


def test_a_word_from_the_user_settles_what_files_leave_open(intent_of: Any) -> None:
    intent = intent_of("verl-speco-plain", trainer="verl-speco")
    assert intent.trainer.value == "verl-speco"
    assert intent.boundaries.value == REFERENCE.shifted(1)
    assert intent.boundaries.evidence is Evidence.DEFAULT


def test_a_class_name_alone_does_not_make_a_convert_output_of_speculators(intent_of: Any) -> None:
    intent = intent_of("speculators-convert")
    assert intent.trainer.value is None
    # What it writes still has the meaning that the format gives it.
    written = intent_of("speculators-plain", lambda c: c.update(architectures=["Eagle3Speculator"]))
    assert written.trainer.value is None
    assert written.boundaries.value == (2, 4, 5)


def test_the_mirrored_base_of_specforge_is_told_from_a_plain_export(intent_of: Any) -> None:
    assert intent_of("specforge-hf").trainer.value == "specforge"
    edited = intent_of("specforge-sglang", lambda c: c.pop("rope_theta"))
    assert edited.trainer.value is None


def test_a_marked_export_of_verl_beats_the_mirrored_base(intent_of: Any) -> None:
    assert intent_of("verl-speco", lambda c: c.update(rope_theta=500000.0)).trainer.value == (
        "verl-speco"
    )


def test_a_rewritten_class_name_does_not_hide_automodel(intent_of: Any) -> None:
    def strip(config: dict[str, Any]) -> None:
        del config["attn_implementation"], config["parallel_drafting"]

    assert intent_of("automodel-served").trainer.value == "automodel"
    assert intent_of("automodel-one-layer", strip).trainer.value == "automodel"


def test_a_converted_model_optimizer_export_keeps_its_trainer(intent_of: Any) -> None:
    intent = intent_of("modelopt-vllm")
    assert intent.trainer.value == "modelopt"
    residual = intent.switches["norm_before_residual"]
    assert (residual.value, residual.certain) == (False, True)


def test_written_outputs_are_one_below_their_boundaries(intent_of: Any) -> None:
    intent = intent_of("specforge-ids", trainer="specforge")
    assert intent.boundaries.value == (1, 3, 6)
    assert intent.boundaries.evidence is Evidence.DECLARED


def test_a_trainer_that_is_only_suggested_is_no_evidence(intent_of: Any) -> None:
    intent = intent_of("specforge-ids")
    assert intent.boundaries.value == (1, 3, 6)
    assert intent.boundaries.evidence is Evidence.DEFAULT


@pytest.mark.parametrize("ids", [[1, 3, 4], [2, 4, 5]])
def test_the_default_set_is_evidence_whoever_wrote_it(intent_of: Any, ids: list[int]) -> None:
    def default(config: dict[str, Any]) -> None:
        config["eagle_config"] = {TOP_IDS: ids}

    boundaries = intent_of("specforge-sglang", default).boundaries
    assert (boundaries.value, boundaries.certain) == ((2, 4, 5), True)


def test_a_trainer_that_captures_in_layer_order_sorts_what_it_lists(intent_of: Any) -> None:
    assert intent_of("modelopt-ids").boundaries.value == (1, 5, 7)
    assert intent_of("speculators-ids").boundaries.value == (1, 3, 6)
    assert intent_of("verl-speco").boundaries.value == (6, 1, 3)


def test_ids_where_the_trainer_writes_none_are_someone_elses(intent_of: Any) -> None:
    def top(config: dict[str, Any]) -> None:
        config[TOP_IDS] = [1, 3, 6]

    intent = intent_of("specforge-sglang", top)
    assert intent.trainer.value == "specforge"
    assert intent.boundaries.value is None
    assert set(intent.readings.values()) == {(2, 4, 7), (1, 3, 6)}


def test_an_id_of_the_layer_count_is_a_boundary_whoever_wrote_it(intent_of: Any) -> None:
    intent = intent_of("final-boundary", target="gpt-oss")
    assert intent.trainer.value == "modelopt"
    assert intent.boundaries.value == (4, 6, 8)


def test_two_places_of_one_meaning_agree_and_of_two_contradict(intent_of: Any) -> None:
    assert intent_of("both-ids").boundaries.value == (1, 3, 6)
    # verl-SpeCo writes one list of outputs in both places.
    assert not intent_of("verl-speco").contradiction


def test_two_places_alike_contradict_where_the_trainer_writes_one(intent_of: Any) -> None:
    def alike(config: dict[str, Any]) -> None:
        config["eagle_config"][TOP_IDS] = config[TOP_IDS]

    intent = intent_of("both-ids", alike)
    assert NESTED_IDS in intent.contradiction
    assert intent.boundaries.value is None


def test_the_users_own_layers_beat_what_files_say(intent_of: Any) -> None:
    intent = intent_of("speculators-ids", aux_layers=(2, 3, 4))
    assert intent.boundaries.value == (2, 3, 4)
    assert intent.boundaries.reason == "--eagle-aux-layers"


def test_a_key_does_not_change_what_specforge_trains(intent_of: Any) -> None:
    def with_norm(config: dict[str, Any]) -> None:
        config["norm_output"] = True

    output = intent_of("specforge-sglang", with_norm, trainer="specforge").switches["norm_output"]
    assert (output.value, output.certain) == (False, True)


def test_a_key_against_the_habit_of_a_suggested_trainer_stays_open(intent_of: Any) -> None:
    def with_norm(config: dict[str, Any]) -> None:
        config["norm_output"] = True

    output = intent_of("specforge-sglang", with_norm).switches["norm_output"]
    assert output.value is None
    assert "the files only suggest SpecForge" in output.reason


def test_the_default_of_a_named_trainer_is_evidence(intent_of: Any) -> None:
    def bare(config: dict[str, Any]) -> None:
        config.pop("fc_norm", None)

    found = intent_of("specforge-sglang", bare, trainer="specforge").switches["fc_norm"]
    assert (found.value, found.certain) == (False, True)


@pytest.mark.parametrize(
    ("name", "place", "ids"),
    [
        ("angelslim-ids", "eagle_config", {TOP_IDS: [5, 6, 7]}),
        ("speculators-plain", "aux_hidden_states_layer_ids", [0, 1, 2]),
        ("verl-speco", "target_layer_ids", [0, 1, 2]),
    ],
)
def test_a_list_at_any_place_that_means_something_else_contradicts(
    intent_of: Any, name: str, place: str, ids: Any
) -> None:
    def more(config: dict[str, Any]) -> None:
        config[place] = (config.get(place) or {}) | ids if isinstance(ids, dict) else ids

    intent = intent_of(name, more)
    assert "contradict" in intent.contradiction
    assert intent.boundaries.value is None


def test_a_trainers_own_place_comes_before_the_standard_ones(intent_of: Any) -> None:
    def nested(config: dict[str, Any]) -> None:
        own = config["aux_hidden_states_layer_ids"]
        config["eagle_config"] = {TOP_IDS: [i + 1 for i in own]}

    reason = intent_of("angelslim-ids", nested).boundaries.reason
    assert reason.startswith("aux_hidden_states_layer_ids")


def test_the_defaults_of_speculators_are_those_of_its_config_class(intent_of: Any) -> None:
    intent = intent_of("speculators-plain", lambda c: c.pop("norm_before_residual"))
    residual = intent.switches["norm_before_residual"]
    assert (residual.value, residual.evidence) == (False, Evidence.DEFAULT)
    assert intent_of("speculators-default").switches["norm_before_residual"].value is True


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("specforge-sglang", "ascending"),
        ("modelopt", "frequency"),
        ("automodel-one-layer", "special ids, then frequency"),
        ("eagle-resaved", "unknown"),
    ],
)
def test_the_order_of_the_vocabulary_is_the_trainers(intent_of: Any, name: str, order: str) -> None:
    assert intent_of(name).map_order == order


def test_an_embedding_is_the_targets_unless_it_may_be_trained(intent_of: Any) -> None:
    assert intent_of("specforge-hf").owns_embedding.value is False
    assert intent_of("specforge-sglang").owns_embedding.reason.endswith("holds no embed_tokens")
    assert intent_of("eagle-wide", target="llama-wide").owns_embedding.value is None
