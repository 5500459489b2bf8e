"""The strategies draw what they promise and shrink to what a reader can check by hand."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from pytest_eagle_contract.strategies import (
    MAX_VOCABULARY,
    MUTATIONS,
    SMALL,
    STYLES,
    TRAINER_STYLES,
    BrokenMap,
    broken_maps,
    draft_ids,
    faulty_cases,
    sound_cases,
    valid_maps,
)
from pytest_eagle_contract.token_map import TokenMap
from pytest_eagle_contract.token_map.mistakes import MappingCase
from pytest_eagle_contract.token_map.mutations import is_broken, reached_targets, stored_soundly

MANY = settings(deadline=None)
FEW = settings(deadline=None, max_examples=40)
"""Large maps take their time on a busy machine, and each style or kind has its own turn."""

SEARCH = settings(max_examples=2_000, database=None, derandomize=True, deadline=None)


@pytest.mark.parametrize("style", STYLES)
@FEW
@given(st.data())
def test_valid_maps_are_sound_and_in_style(style: str, data: st.DataObject) -> None:
    token_map = data.draw(valid_maps(style))
    assert token_map.is_legal
    assert 1 <= len(token_map) <= token_map.vocab_size <= MAX_VOCABULARY
    assert token_map.is_ascending or style not in ("ascending", "prefix", "full")
    assert token_map.is_prefix or style not in ("prefix", "full")
    assert token_map.is_full or style != "full"
    assert not is_broken(token_map, stored_soundly(token_map))


@MANY
@given(valid_maps(max_vocab=40, max_draft=5))
def test_sizes_are_bounded(token_map: TokenMap) -> None:
    assert token_map.vocab_size <= 40
    assert len(token_map) <= 5


def test_every_trainer_has_a_style() -> None:
    assert set(TRAINER_STYLES.values()) <= set(STYLES)


@pytest.mark.parametrize("vocab", [32_000, 163_840, 262_144])
def test_large_vocabularies_are_drawn(vocab: int) -> None:
    found = find(valid_maps(), lambda m: m.vocab_size == vocab and len(m) > 1_000, settings=SEARCH)
    assert found.vocab_size == vocab


def test_shrinking() -> None:
    wild = find(valid_maps(max_draft=SMALL), lambda m: not m.is_ascending, settings=SEARCH)
    assert (wild.targets.tolist(), wild.vocab_size) == ([1, 0], 2)
    far = find(valid_maps(max_draft=SMALL), lambda m: m.offsets().max() > 32_767, settings=SEARCH)
    assert (far.targets.tolist(), far.vocab_size) == ([32_768], 32_769)


@pytest.mark.parametrize("kind", MUTATIONS)
@FEW
@given(st.data())
def test_broken_maps_differ_from_their_sound_map(kind: str, data: st.DataObject) -> None:
    broken: BrokenMap = data.draw(broken_maps(kind))
    assert broken.mutation.name == kind
    assert broken.sound.is_legal
    assert is_broken(broken.sound, broken.stored)
    reached = reached_targets(broken.stored, broken.sound.vocab_size)
    if broken.stored.dtype == "I64" and kind not in ("mask_mismatch", "prefix_fallback"):
        assert reached != broken.sound


@MANY
@given(broken_maps())
def test_broken_maps_of_any_kind(broken: BrokenMap) -> None:
    assert broken.mutation.name in MUTATIONS


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("absolute", [5, 0, 3]),
        ("arange_twice", [5, 1, 5]),
        ("counting", [0, 1, 2]),
        ("negated", [-5, 1, -1]),
        ("rolled", [1, 5, -1]),
        ("reversed", [1, -1, 5]),
        ("sorted", [0, 2, 3]),
        ("one_off", [5, 0, 1]),
        ("all_one_off", [6, 0, 2]),
        ("duplicate", [5, 2, 1]),
        ("negative", [5, -3, 1]),
        ("past_vocabulary", [5, 7, 1]),
        ("zeros", [0, 0, 0]),
        ("truncated", [5]),
        ("too_long", [5, -1, 1, 0]),
        ("float", [5.0, -1.0, 1.0]),
    ],
)
def test_operators_work_without_hypothesis(kind: str, values: list[float]) -> None:
    sound = TokenMap(np.array([5, 0, 3]), 8)
    assert MUTATIONS[kind].apply(sound, 1).values.tolist() == values


@MANY
@given(st.data())
def test_draft_ids_lie_in_the_map(data: st.DataObject) -> None:
    token_map = data.draw(valid_maps())
    ids = data.draw(draft_ids(token_map, max_size=4))
    assert ids.dtype == np.int64
    assert 1 <= ids.size <= 4
    assert ids.min() >= 0
    assert ids.max() < len(token_map)


@MANY
@given(sound_cases())
def test_sound_cases_are_legal(case: MappingCase) -> None:
    assert case.legal().all()


@MANY
@given(faulty_cases())
def test_faulty_cases_meet_their_fault(case: MappingCase) -> None:
    assert not case.legal().all()
    assert not np.any(case.targets() == -1)


@pytest.mark.parametrize("build", [valid_maps, broken_maps])
def test_unknown_names(build: type) -> None:
    with pytest.raises(KeyError, match="nonsense"):
        build("nonsense")


def test_import_needs_neither_hypothesis_nor_torch() -> None:
    code = (
        "import sys, pytest_eagle_contract.strategies, pytest_eagle_contract.mapping_fuzz\n"
        "sys.exit('hypothesis' in sys.modules or 'torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
