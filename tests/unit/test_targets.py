"""A target's sizes are found wherever its family keeps them, and what was compared is said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_eagle_contract.assess import Inputs, assess
from pytest_eagle_contract.checkpoint.config import read_config
from pytest_eagle_contract.contracts.outcome import Outcome
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.pair import Target, read_target

SIZES: Mapping[str, Any] = {
    "hidden_size": 24,
    "vocab_size": 320,
    "num_hidden_layers": 8,
    "max_position_embeddings": 512,
    "num_attention_heads": 4,
    "rope_theta": 1e6,
    "dtype": "float16",
}
NAMES = ("thinker_config.text_config", "llm_config", "language_config", "text_config")


def nested(name: str, **beside: object) -> dict[str, object]:
    inner: Mapping[str, object] = SIZES
    for part in reversed(name.split(".")):
        inner = {part: inner}
    return {"architectures": ["Any"], **inner, **beside}


def target(directory: Path, config: Mapping[str, object]) -> Target:
    (directory / "config.json").write_text(json.dumps(config))
    return read_target(read_config(directory / "config.json"))


def outcome(draft: Path, target_at: Path, name: str) -> Outcome:
    results = assess(draft, Inputs(target=target_at))
    return next(r.outcome for r in results if r.contract.id == name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beside", [{}, {"hidden_size": 24}, {"vocab_size": 64, "dtype": "x"}])
def test_every_nesting_is_read(name: str, beside: dict[str, object], tmp_path: Path) -> None:
    found = target(tmp_path, nested(name, **beside))
    sizes = found.geometry
    assert sizes.hidden_size is not None
    assert sizes.hidden_size.value == 24
    assert sizes.vocab_size is not None
    assert (sizes.vocab_size.value, sizes.vocab_size.where) == (320, f"{name}.vocab_size")
    assert found.layers == 8
    assert sizes.max_position_embeddings is not None
    assert sizes.max_position_embeddings.value == 512
    assert sizes.rope.theta is not None
    assert sizes.rope.theta.value == 1e6
    assert found.dtype is not None
    assert found.dtype.value == "float16"


def test_sizes_at_top_level_are_not_replaced_by_an_inner_table(tmp_path: Path) -> None:
    sizes = target(tmp_path, {**SIZES, "text_config": {"hidden_size": 8, "vocab_size": 9}}).geometry
    assert sizes.hidden_size is not None
    assert sizes.vocab_size is not None
    assert (sizes.hidden_size.value, sizes.vocab_size.value) == (24, 320)


def test_longcats_own_spelling_of_the_depth(tmp_path: Path) -> None:
    assert target(tmp_path, {"hidden_size": 24, "num_layers": 8}).layers == 8
    assert target(tmp_path, {"num_hidden_layers": 4, "num_layers": 8}).layers == 4


def test_what_was_compared_is_said(good: Path, targets: Path) -> None:
    found = outcome(good / "specforge-sglang", targets / "llama", "checkpoint.target")
    assert (found.status, found.measured) == ("passed", "agrees in width 24, vocabulary 320")
    found = outcome(good / "speculators-plain", targets / "llama", "checkpoint.target")
    assert found.measured == "agrees in width 24, vocabulary 320, class LlamaForCausalLM"


def test_an_unread_size_leaves_it_open(good: Path, targets: Path, tmp_path: Path) -> None:
    found = outcome(good / "specforge-sglang", targets / "gemma3", "checkpoint.target")
    assert found.status == "unverified"
    assert found.measured == "the target's config states no vocab_size; agrees in width 24"
    target(tmp_path, {"architectures": ["Any"], "brain": dict(SIZES)})
    found = outcome(good / "specforge-sglang", tmp_path, "checkpoint.target")
    assert found.status == "unverified"
    assert found.measured.endswith("states no hidden_size and no vocab_size; nothing was compared")


def test_a_nested_base_is_set_beside_the_drafts(good: Path, tmp_path: Path) -> None:
    target(tmp_path, nested("llm_config"))
    found = outcome(good / "specforge-sglang", tmp_path, "checkpoint.rope")
    assert found.notes == (
        "base 500000 beside the target's 1e+06: right only if it was trained so",
    )


def test_a_nested_type_is_set_beside_the_drafts(good: Path, tmp_path: Path) -> None:
    target(tmp_path, nested("thinker_config.text_config"))
    found = outcome(good / "specforge-sglang", tmp_path, "checkpoint.dtypes")
    assert any("the target's float16" in note for note in found.notes)


def test_a_generation_config_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert target(tmp_path, SIZES).generation is None
    (tmp_path / "generation_config.json").write_text("{")
    assert target(tmp_path, SIZES).generation is None
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [2]}')
    assert target(tmp_path, SIZES).generation is not None
    other = tmp_path / "other.json"
    other.write_text(json.dumps(SIZES))
    assert read_target(read_config(other)).generation is None


def test_a_target_without_a_class_is_not_asked_for_again(
    tmp_path: Path, good: Path, targets: Path
) -> None:
    config = json.loads((targets / "llama" / "config.json").read_text())
    del config["architectures"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    draft, sglang = good / "specforge-ids", [find("sglang==0.5.23")]
    hows = {
        at: {
            need.how
            for result in assess(draft, Inputs(target=at), sglang)
            for need in result.outcome.needs
            if "famil" in need.how or "architectures" in need.how
        }
        for at in (None, tmp_path)
    }
    assert hows == {
        None: {"--eagle-target, whose family decides"},
        tmp_path: {"architectures in the target's config.json"},
    }
