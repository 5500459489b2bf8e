"""Layer ids in every counting, and the boundaries that they mean."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_eagle_contract.boundaries import (
    REFERENCE,
    DefaultBoundaries,
    Rule,
    at,
    convert,
    ids_for,
    same,
    shown,
)

RULES: tuple[Rule, ...] = get_args(Rule)
LAYERS = st.integers(1, 128)
DEEP = st.integers(14, 128)
"""Targets in which the last state of any formula below is the deepest."""

Stated = tuple[int, ...] | DefaultBoundaries
FORMULAS = st.builds(DefaultBoundaries, st.integers(0, 4), st.integers(-2, 2), st.integers(-5, 0))


@st.composite
def boundaries(draw: st.DrawFn, layers: int) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(0, layers), min_size=1, max_size=5, unique=True)))


@pytest.mark.parametrize(
    ("ids", "rule", "layers", "expected"),
    [
        ((2, 16, 29), "boundary", None, (2, 16, 29)),
        ((2, 16, 29), "output", None, (3, 17, 30)),
        ((1, 15, 28), "output if first id is 1", None, (2, 16, 29)),
        ((2, 16, 29), "output if first id is 1", None, (2, 16, 29)),
        ((28, 1, 15), "output if first id is 1", None, (28, 1, 15)),
        ((2, 16, 32), "boundary if largest id is L", 32, (2, 16, 32)),
        ((32, 16, 2), "boundary if largest id is L", 32, (32, 16, 2)),
        ((1, 15, 28), "boundary if largest id is L", 32, (2, 16, 29)),
        ((1, 15, 28), "boundary if largest id is L", None, None),
        ((), "output if first id is 1", None, ()),
        ((), "boundary if largest id is L", 32, ()),
    ],
)
def test_each_rule(
    ids: tuple[int, ...], rule: Rule, layers: int | None, expected: tuple[int, ...] | None
) -> None:
    assert convert(ids, rule, layers) == expected


@given(st.data(), LAYERS, st.sampled_from(RULES))
def test_written_ids_are_read_back(data: st.DataObject, layers: int, rule: Rule) -> None:
    wanted = data.draw(boundaries(layers))
    ids = ids_for(wanted, rule, layers)
    if ids is not None:
        assert convert(ids, rule, layers) == wanted
    else:
        assert rule in ("output if first id is 1", "boundary if largest id is L")


@given(st.data(), LAYERS, st.sampled_from(RULES))
def test_none_only_where_no_ids_will_do(data: st.DataObject, layers: int, rule: Rule) -> None:
    wanted = data.draw(boundaries(layers))
    if ids_for(wanted, rule, layers) is None:
        for shift in (-1, 0, 1, 2):
            assert convert([b - shift for b in wanted], rule, layers) != wanted


@given(st.data(), LAYERS)
def test_plain_rules_can_say_everything(data: st.DataObject, layers: int) -> None:
    wanted = data.draw(boundaries(layers))
    assert ids_for(wanted, "boundary", layers) == wanted
    assert ids_for(wanted, "output", layers) == tuple(b - 1 for b in wanted)


@given(st.data(), LAYERS, st.sampled_from(RULES))
def test_rules_keep_number_and_order(data: st.DataObject, layers: int, rule: Rule) -> None:
    ids = data.draw(boundaries(layers))
    read = convert(ids, rule, layers)
    assert read is not None
    assert len({b - i for i, b in zip(ids, read, strict=True)}) == 1


@given(DEEP, FORMULAS)
def test_formula_tells_its_layer_count(layers: int, formula: DefaultBoundaries) -> None:
    assert formula.layers_for(formula.at(layers)) == layers
    assert formula.layers_for(formula.at(layers)[::-1]) == layers
    assert formula.layers_for(formula.at(layers)[:2]) is None


@given(LAYERS, FORMULAS, st.integers(-3, 3))
def test_shifted_formula(layers: int, formula: DefaultBoundaries, by: int) -> None:
    assert formula.shifted(by).at(layers) == tuple(b + by for b in formula.at(layers))


def test_reference() -> None:
    assert REFERENCE.at(32) == (2, 16, 29)
    assert REFERENCE.at(61) == (2, 30, 58)


@given(st.data(), LAYERS, st.permutations(range(3)))
def test_same_in_any_order(data: st.DataObject, layers: int, order: list[int]) -> None:
    one = data.draw(st.lists(st.integers(0, layers), min_size=3, max_size=3).map(tuple))
    assert same(one, tuple(one[i] for i in order), layers)
    assert same(one, (*one, 1), layers) is False


@given(
    st.one_of(FORMULAS, st.lists(st.integers(0, 60), min_size=1, max_size=4).map(tuple)),
    st.one_of(FORMULAS, st.lists(st.integers(0, 60), min_size=1, max_size=4).map(tuple)),
    DEEP,
)
def test_same_is_symmetric_and_never_wrong_without_the_count(
    one: Stated, other: Stated, layers: int
) -> None:
    assert same(one, other, layers) == same(other, one, layers)
    undecided = same(one, other, None)
    assert undecided == same(other, one, None)
    if undecided is not None and not _both_formulas(one, other):
        assert same(one, other, layers) == undecided


def _both_formulas(one: object, other: object) -> bool:
    # Two formulas may meet at one layer count; they are compared as what they state.
    return isinstance(one, DefaultBoundaries) and isinstance(other, DefaultBoundaries)


@given(DEEP, FORMULAS)
def test_formula_is_its_own_value(layers: int, formula: DefaultBoundaries) -> None:
    assert same(formula, formula, None)
    assert same(formula, formula.at(layers), layers)
    assert same(formula, formula.at(layers), None) is None
    assert at(formula, None) is formula
    assert at(formula, layers) == formula.at(layers)


def test_nothing_known_is_undecided() -> None:
    assert same(None, (1, 2), 8) is None
    assert same((1, 2), None, None) is None
    assert at(None, 8) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        ((2, 16, 29), "{2, 16, 29}"),
        ((), "none but the final state"),
        (REFERENCE, "{2, L//2, L-3}"),
        (DefaultBoundaries(3, 1, -2), "{3, L//2+1, L-2}"),
    ],
)
def test_shown(value: Stated | None, text: str) -> None:
    assert shown(value) == text
