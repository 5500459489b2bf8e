"""Token maps: their algebra, and what form their stored numbers are in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.strategies import BrokenMap, broken_maps, valid_maps
from pytest_eagle_contract.token_map import (
    Form,
    StoredMap,
    TokenMap,
    classify,
    describe,
    settled,
)
from pytest_eagle_contract.token_map.mutations import MUTATIONS, stored_soundly

V, D = 163_840, 32_000

MANY = settings(deadline=None)
FEW = settings(deadline=None, max_examples=40)
"""Large maps take their time on a busy machine, and each style or kind has its own turn."""


@pytest.fixture(scope="module")
def incident() -> TokenMap:
    """Return the seed incident's map: ascending, 100 offsets of zero, token 163,607 last."""
    middle = np.random.default_rng(7).choice(np.arange(101, 163_607), D - 101, replace=False)
    return TokenMap(np.concatenate([np.arange(100), np.sort(middle), [163_607]]), V)


def stored(values: object, mask: object = None, kind: str = "d2t") -> StoredMap:
    numbers = np.asarray(values)
    kept = None if mask is None else np.asarray(mask, dtype=bool)
    return StoredMap(numbers, "I64", kind, "model.safetensors: d2t", kept, "t2d")


@MANY
@given(valid_maps())
def test_round_trips(token_map: TokenMap) -> None:
    size = token_map.vocab_size
    assert TokenMap.from_offsets(token_map.offsets(), size) == token_map
    assert TokenMap.from_absolute(token_map.targets, size) == token_map
    assert np.count_nonzero(token_map.mask()) == len(token_map)
    assert token_map.is_legal
    assert not token_map.duplicates.size
    assert not token_map.out_of_range.size
    assert (TokenMap.from_mask(token_map.mask()) == token_map) == token_map.is_ascending
    assert token_map.is_prefix == (not token_map.offsets().any())
    assert token_map.coverage(token_map.targets) == 1.0


@MANY
@given(valid_maps())
def test_equal_maps_have_equal_digests(token_map: TokenMap) -> None:
    again = TokenMap.from_offsets(token_map.offsets(), token_map.vocab_size, "elsewhere")
    assert again.digest() == token_map.digest()
    assert hash(again) == hash(token_map)
    wider = TokenMap(token_map.targets, token_map.vocab_size + 1)
    assert wider.digest() != token_map.digest()
    assert wider != token_map
    assert token_map != "a map"


def test_targets_are_read_only_and_the_callers_array_is_not() -> None:
    mine = np.array([3, 1])
    token_map = TokenMap(mine, 4)
    mine[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        token_map.targets[0] = 1
    with pytest.raises(InputError, match=r"shape \[1, 2\]"):
        TokenMap(np.array([[1, 2]]), 4)


def test_faults_are_listed() -> None:
    token_map = TokenMap(np.array([5, -1, 5, 8, 2]), 8)
    assert token_map.out_of_range.tolist() == [1, 3]
    assert token_map.duplicates.tolist() == [5]
    assert token_map.draft_ids_of(5).tolist() == [0, 2]
    assert np.flatnonzero(token_map.mask()).tolist() == [2, 5]
    assert not token_map.is_legal
    assert not token_map.is_full


def test_coverage() -> None:
    token_map = TokenMap(np.array([0, 2]), 4)
    assert token_map.coverage([[0, 1], [2, 2]]) == 0.75
    assert token_map.coverage_of_counts([1, 1, 2, 0]) == 0.75
    assert np.isnan(token_map.coverage([]))
    assert np.isnan(token_map.coverage_of_counts([0, 0, 0, 0]))
    with pytest.raises(InputError, match="token -100 is outside"):
        token_map.coverage([0, -100])
    with pytest.raises(InputError, match="counts"):
        token_map.coverage_of_counts([1, 2])


def test_incident_reads_as_offsets(incident: TokenMap) -> None:
    offsets = incident.offsets()
    assert not offsets[:100].any()
    assert offsets[31_999] == 131_608
    for mask in (None, incident.mask()):
        found = classify(stored(offsets, mask), V)
        assert (found.form, found.certain) == (Form.OFFSETS, True)
        assert found.token_map == incident
        assert "draft id 31,999 stores 131,608: as an offset token 163,607" in found.evidence


def test_incident_stored_as_absolute_ids(incident: TokenMap) -> None:
    for mask in (None, incident.mask()):
        found = classify(stored(incident.targets, mask), V)
        assert (found.form, found.certain) == (Form.ABSOLUTE, True)
        assert found.token_map == incident
        assert "195,606 (outside 0..163,839)" in found.evidence


@MANY
@given(valid_maps())
def test_sound_maps_are_offsets_or_identity(token_map: TokenMap) -> None:
    expected = Form.IDENTITY if token_map.is_prefix else Form.OFFSETS
    found = classify(stored_soundly(token_map))
    assert (found.form, found.certain) == (expected, True)
    assert found.token_map == token_map
    bare = classify(stored(token_map.offsets()), token_map.vocab_size)
    assert bare.form in (expected, Form.AMBIGUOUS)
    assert bare.form is expected or not bare.certain


@MANY
@given(valid_maps())
def test_absolute_ids_with_their_mask_are_never_taken_for_offsets(token_map: TokenMap) -> None:
    found = classify(stored(token_map.targets, token_map.mask()))
    assert found.form is not Form.OFFSETS or len(token_map) == 1
    if token_map.targets.any() and len(token_map) > 1:
        assert (found.form, found.token_map) == (Form.ABSOLUTE, token_map)
    if token_map.targets.any():
        named = classify(stored(token_map.targets, kind="token map"), token_map.vocab_size)
        assert (named.form, named.token_map) == (Form.ABSOLUTE, token_map)


BREAKING = sorted(set(MUTATIONS) - {"float", "half", "int32", "int16", "one_off", "mask_mismatch"})


@pytest.mark.parametrize("kind", BREAKING)
@FEW
@given(st.data())
def test_broken_numbers_are_never_read_back_as_the_sound_map(
    kind: str, data: st.DataObject
) -> None:
    broken: BrokenMap = data.draw(broken_maps(kind))
    found = classify(broken.stored)
    assert found.token_map != broken.sound or found.form is Form.ABSOLUTE or len(broken.sound) == 1


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("absolute", Form.ABSOLUTE),
        ("arange_twice", Form.NEITHER),
        ("negated", Form.NEITHER),
        ("negative", Form.NEITHER),
        ("past_vocabulary", Form.NEITHER),
        ("far_past", Form.NEITHER),
        ("duplicate", Form.NEITHER),
        ("shuffled", Form.NEITHER),
        ("zeros", Form.NEITHER),
        ("counting", Form.NEITHER),
        ("int16", Form.NEITHER),
        ("bfloat16", Form.NEITHER),
        ("half", Form.NEITHER),
        ("float", Form.OFFSETS),
        ("int32", Form.OFFSETS),
        ("prefix_fallback", Form.IDENTITY),
        ("mask_mismatch", Form.OFFSETS),
    ],
)
def test_the_incident_broken_in_each_way(incident: TokenMap, kind: str, form: Form) -> None:
    found = classify(MUTATIONS[kind].apply(incident, 12_345), V)
    assert found.form is form, found.evidence
    assert (found.token_map is None) == (form is Form.NEITHER)


def test_prefix_maps() -> None:
    buffer = classify(stored(np.arange(32)), 128)
    assert (buffer.form, buffer.certain, buffer.token_map) == (Form.AMBIGUOUS, False, None)
    assert "2*i (verl-SpeCo's default buffer)" in buffer.evidence
    assert classify(stored(np.arange(1000)), 1000).form is Form.ABSOLUTE
    assert classify(stored(np.arange(32), np.arange(128) < 32), 128).form is Form.ABSOLUTE
    doubled = np.isin(np.arange(128), 2 * np.arange(32))
    assert classify(stored(np.arange(32), doubled), 128).form is Form.OFFSETS
    assert classify(stored(np.arange(32), np.ones(128)), 128).form is Form.NEITHER
    automodel = classify(stored(np.arange(32), kind="selected_token_ids"), 128)
    assert (automodel.form, automodel.certain) == (Form.ABSOLUTE, True)


def test_all_zeros() -> None:
    zeros = np.zeros(32, dtype=np.int64)
    full = classify(stored(zeros), 32)
    assert (full.form, full.certain) == (Form.IDENTITY, True)
    slice_or_buffer = classify(stored(zeros), 128)
    assert (slice_or_buffer.form, slice_or_buffer.certain) == (Form.IDENTITY, False)
    sliced = classify(stored(zeros, np.arange(128) < 32), 128)
    assert (sliced.form, sliced.certain) == (Form.IDENTITY, True)
    assert classify(stored(zeros, np.arange(128) >= 96), 128).form is Form.NEITHER
    assert classify(stored(zeros, np.ones(128)), 128).form is Form.NEITHER
    assert classify(stored(zeros), 16).form is Form.NEITHER


def test_low_absolute_ids_are_told_by_their_neighbours() -> None:
    ids = np.flatnonzero(np.arange(400) % 3)
    found = classify(stored(ids), 4_096)
    assert (found.form, found.certain) == (Form.ABSOLUTE, True)
    assert "no two of the 266 targets would be neighbours" in found.evidence
    assert classify(stored(ids[:8]), 4_096).form is Form.AMBIGUOUS


def test_a_side_file_settles_what_the_numbers_leave_open() -> None:
    ids = np.array([0, 3, 6, 9])
    stored = StoredMap(ids - np.arange(4), "I64", "d2t", "d2t")
    named = StoredMap(ids, "I64", "selected_token_ids", "ids.json", target_vocab_size=32)
    open_one = classify(stored, 32)
    assert open_one.form is Form.AMBIGUOUS
    told = settled(open_one, [named])
    assert (told.form, told.certain) == (Form.OFFSETS, True)
    assert told.evidence == "as offsets it is the map of ids.json"
    other = replace(named, values=ids + 1)
    assert settled(open_one, [other]) == open_one
    absolute = settled(classify(replace(stored, values=ids), 32), [named])
    assert (absolute.form, absolute.certain) == (Form.ABSOLUTE, True)


def test_a_side_file_settles_whether_zeros_are_meant() -> None:
    zeros = StoredMap(np.zeros(4, np.int64), "I64", "d2t", "d2t")
    named = StoredMap(np.arange(4), "I64", "selected_token_ids", "ids.json")
    told = settled(classify(zeros, 32), [named])
    assert (told.form, told.certain) == (Form.IDENTITY, True)


def test_one_entry_means_the_same_either_way() -> None:
    found = classify(stored([5]), 8)
    assert (found.form, found.certain) == (Form.OFFSETS, True)
    assert found.token_map == TokenMap(np.array([5]), 8)


def test_what_cannot_be_judged() -> None:
    assert classify(stored([1, 3])).form is Form.AMBIGUOUS
    assert classify(stored([1, 3]), 0).form is Form.AMBIGUOUS
    for numbers in ([0.5, 1.0], [np.nan], [np.inf], np.array([2**63], dtype=np.uint64)):
        assert classify(stored(numbers), 8).form is Form.NEITHER
    short_mask = classify(stored([5, 5], np.ones(4)), 8)
    assert not short_mask.certain
    assert "t2d has 4 entries for 8 target ids" in short_mask.evidence


def test_describe() -> None:
    numbers = stored(np.append(np.zeros(31_999, dtype=np.int64), 131_608))
    assert describe(numbers, 31_999, V) == (
        "draft id 31,999 stores 131,608: as an offset token 163,607, "
        "as an absolute id token 131,608"
    )
    assert "131,608 (outside 0..99,999)" in describe(numbers, 31_999, 100_000)
    assert "outside the 32,000 stored entries" in describe(numbers, -1)
    assert "no integer" in describe(stored([0.5]), 0)


@pytest.mark.parametrize("mask", [False, True])
def test_a_check_takes_about_a_millisecond(incident: TokenMap, mask: bool) -> None:
    calls: dict[str, Callable[[], object]] = {
        "legal": lambda: incident.is_legal,
        "duplicates": lambda: incident.duplicates,
        "mask": incident.mask,
        "offsets": incident.offsets,
        "classify": lambda: classify(stored(offsets, kept), V),
    }
    offsets, kept = incident.offsets(), incident.mask() if mask else None
    for name, call in calls.items():
        # The best of many: a shared machine only ever adds to it.
        best = min(_timed(call) for _ in range(30))
        assert best < 0.010, name


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
