"""Which rope a config states, and which one an engine makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.checkpoint.geometry import read_geometry
from pytest_eagle_contract.contracts.rope import (
    PLAIN,
    Scaling,
    faults,
    fix_place,
    lacks_original,
    stated_scaling,
    used_base,
    used_scaling,
)
from pytest_eagle_contract.engines.model import Semantics
from pytest_eagle_contract.engines.rope import BEFORE_5, SINCE_5

OLD, NEW = Semantics(**BEFORE_5), Semantics(**SINCE_5)
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}
INNER = "transformer_layer_config"


def config(**data: Any) -> Config:
    return Config(Path("config.json"), data)


@pytest.mark.parametrize(
    "table",
    [
        {"rope_theta": 1e6},
        {"rope_type": "default", "rope_theta": 1e6},
        {"type": "mrope", "mrope_section": [1, 1, 2]},
        {"rope_type": "linear", "factor": 1},
        {"rope_type": "yarn", "factor": 1.0},
    ],
)
def test_tables_that_scale_nothing(table: dict[str, Any]) -> None:
    assert stated_scaling(config(rope_scaling=table)) == PLAIN
    assert not list(faults(config(rope_scaling=table)))


def test_an_attention_factor_scales_even_at_a_factor_of_one() -> None:
    table = {"rope_type": "yarn", "factor": 1.0, "attention_factor": 1.2}
    assert stated_scaling(config(rope_scaling=table)).kind == "yarn"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "su", "short_factor": [1], "long_factor": [2]}, {"rope_type": "longrope"}),
        (YARN, {**YARN, "beta_fast": 32, "beta_slow": 1.0}),
        (YARN, {"type": "yarn", "factor": 4}),
        (YARN, {"rope_theta": 1e6}),
        (YARN, {}),
        (YARN, None),
    ],
)
def test_two_tables_of_one_meaning(one: dict[str, Any], other: dict[str, Any]) -> None:
    for first, second in ((one, other), (other, one)):
        found = config(rope_parameters=first, rope_scaling=second)
        assert not list(faults(found))
        assert stated_scaling(found) == stated_scaling(config(rope_scaling=one))


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"rope_theta": float("inf")}, "rope_theta is inf, not a positive number"),
        ({"rope_theta": -1}, "rope_theta is -1, not a positive number"),
        (
            {"rope_scaling": {**YARN, "factor": float("nan")}},
            "rope_scaling.factor is nan, not a positive number",
        ),
        (
            {"rope_scaling": {**YARN, "original_max_position_embeddings": 0}},
            "rope_scaling.original_max_position_embeddings is 0, not a positive number",
        ),
        (
            {"rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1}},
            "llama3 is asked for without a high_freq_factor",
        ),
        (
            {"rope_scaling": {"rope_theta": 5.0}, "rope_theta": 6},
            "rope_theta is 6, rope_scaling.rope_theta is 5",
        ),
    ],
)
def test_faults(fields: dict[str, Any], fault: str) -> None:
    assert list(faults(config(**fields))) == [fault]


def test_what_transformers_4_and_5_read() -> None:
    found = config(rope_parameters={**YARN, "rope_theta": 1e6})
    scaled = Scaling("yarn", {"factor": 4.0, "original_max_position_embeddings": 128})
    assert used_scaling(found, OLD) == (PLAIN, "")
    assert used_scaling(found, NEW) == (scaled, "rope_parameters")
    assert used_base(found, OLD) == (10_000.0, "does not read rope_parameters.rope_theta")
    assert used_base(found, NEW) == (1e6, "rope_parameters.rope_theta")


def test_a_base_in_the_other_table_is_lost() -> None:
    found = config(rope_parameters={"rope_theta": 1e6}, rope_scaling=YARN)
    assert used_base(found, NEW) == (10_000.0, "does not read rope_parameters.rope_theta")
    mirrored = config(rope_theta=1e6, **found.data)
    assert used_base(mirrored, NEW) == (1e6, "rope_theta")
    assert used_base(mirrored, OLD) == (1e6, "rope_theta")


def test_a_type_that_an_engine_lacks_is_plain_where_it_ignores_it() -> None:
    found = config(rope_scaling=YARN)
    lacks = Semantics(rope_types=frozenset({"linear"}), rope_other_type="ignored")
    assert used_scaling(found, lacks) == (PLAIN, "rope_scaling")


def test_the_original_length_may_stand_above_the_table() -> None:
    table = {"rope_type": "yarn", "factor": 4.0}
    scaling = stated_scaling(config(rope_scaling=table))
    assert lacks_original(config(rope_scaling=table), scaling)
    above = config(rope_scaling=table, original_max_position_embeddings=128)
    assert not lacks_original(above, scaling)
    assert not lacks_original(config(), PLAIN)


def test_the_fix_stays_in_the_drafts_own_table() -> None:
    assert fix_place(config(rope_parameters=YARN), OLD) == "rope_scaling"
    inner = config(**{INNER: {"rope_parameters": YARN}})
    assert fix_place(inner, OLD) == f"{INNER}.rope_scaling"
    assert used_scaling(inner, NEW)[1] == f"{INNER}.rope_parameters"


def test_the_geometry_holds_the_table_that_scales() -> None:
    found = read_geometry(config(rope_parameters={"rope_theta": 1e6}, rope_scaling=YARN)).rope
    assert found.where == "rope_scaling"
    assert found.theta is not None
    assert found.theta.where == "rope_parameters.rope_theta"
    empty = read_geometry(config(rope_parameters={}, rope_scaling=YARN)).rope
    assert empty.where == "rope_scaling"
