"""Sound ways to map draft ids pass; each known mistake is found, shrunk and named."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis.errors import Flaky
from numpy.typing import NDArray

from pytest_eagle_contract.mapping_fuzz import (
    BOUNDS_MISTAKES,
    INVALID,
    MISTAKES,
    MapDraftIds,
    MappingCase,
    fuzz_mapping,
)
from pytest_eagle_contract.token_map.mistakes import faulty_panel, sound_panel

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


def numpy_gather(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
    return draft_ids + d2t[draft_ids]


def sglang_gather(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
    hot_token_id = d2t + np.arange(d2t.size)
    return hot_token_id[draft_ids]


def vllm_scatter(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
    targets = np.arange(d2t.size) + d2t
    found = np.empty_like(draft_ids)
    for row, draft_id in enumerate(draft_ids):
        logits = np.where(np.arange(d2t.size) == draft_id, 1.0, 0.0)
        canvas = np.full(vocab_size, -np.inf)
        canvas[targets] = logits
        found[row] = canvas.argmax()
    return found


def marking(function: MapDraftIds) -> MapDraftIds:
    def checked(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
        targets = numpy_gather(d2t, vocab_size, draft_ids)
        legal = (targets >= 0) & (targets < vocab_size)
        fine = draft_ids[legal]
        targets[~legal] = INVALID
        targets[legal] = np.asarray(function(d2t, vocab_size, fine))
        return targets

    return checked


def raising(function: MapDraftIds) -> MapDraftIds:
    def checked(d2t: Ids, vocab_size: int, draft_ids: Ids) -> object:
        targets = d2t + np.arange(d2t.size)
        if np.any((targets < 0) | (targets >= vocab_size)):
            raise ValueError("target outside the vocabulary")
        return function(d2t, vocab_size, draft_ids)

    return checked


CORRECT = [numpy_gather, sglang_gather, vllm_scatter]


@pytest.mark.parametrize("function", CORRECT)
def test_correct_functions_pass(function: MapDraftIds) -> None:
    assert fuzz_mapping(function, check_bounds=False) is None
    assert fuzz_mapping(raising(function), max_examples=60) is None


def test_marking_bad_targets_passes() -> None:
    assert fuzz_mapping(marking(sglang_gather)) is None


def test_other_containers_pass() -> None:
    assert fuzz_mapping(lambda d, v, i: numpy_gather(d, v, i).tolist(), check_bounds=False) is None
    narrow = fuzz_mapping(lambda d, v, i: (i + d[i]).astype(np.int32), check_bounds=False)
    assert narrow is None


def order_from_mask(d2t: Ids, vocab_size: int, draft_ids: Ids, t2d: Mask | None = None) -> Ids:
    if t2d is None:
        return draft_ids + d2t[draft_ids]
    rank = np.cumsum(t2d) - 1
    return np.array([np.flatnonzero(t2d & (rank == i))[0] for i in draft_ids])


def bfloat16_copy(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
    return draft_ids + d2t.astype(ml_dtypes.bfloat16).astype(np.int64)[draft_ids]


def wraps_negatives(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
    return np.arange(vocab_size).take(draft_ids + d2t[draft_ids])


WRONG: list[tuple[str, MapDraftIds]] = [
    ("absolute", lambda d2t, size, ids: d2t[ids]),
    ("arange_twice", lambda d2t, size, ids: sglang_gather(d2t, size, ids) + ids),
    ("order_from_mask", lambda d2t, size, ids: np.sort(d2t + np.arange(d2t.size))[ids]),
    ("int16_offsets", lambda d2t, size, ids: ids + d2t.astype(np.int16)[ids]),
    ("int16_targets", lambda d2t, size, ids: (ids + d2t[ids]).astype(np.int16)),
    ("bfloat16_offsets", bfloat16_copy),
    ("float16_offsets", lambda d2t, size, ids: ids + _half(d2t)[ids]),
    ("wraps_negative_offsets", lambda d2t, size, ids: ids + (d2t % size)[ids]),
    ("clamps_offsets", lambda d2t, size, ids: ids + d2t.clip(0)[ids]),
    ("one_high", lambda d2t, size, ids: ids + d2t[ids] + 1),
    ("next_entry", lambda d2t, size, ids: ids + d2t[(ids + 1) % d2t.size]),
    ("identity", lambda d2t, size, ids: ids),
    ("all_zero", lambda d2t, size, ids: np.zeros_like(ids)),
    ("negated", lambda d2t, size, ids: ids - d2t[ids]),
    ("position", lambda d2t, size, ids: np.arange(ids.size) + d2t[ids]),
    ("ignores_bounds", numpy_gather),
    ("ignores_bounds", sglang_gather),
    ("wraps_negatives", wraps_negatives),
    ("wraps_negatives", vllm_scatter),
    ("wraps_modulo", lambda d2t, size, ids: (ids + d2t[ids]) % size),
    ("clamps_targets", lambda d2t, size, ids: (ids + d2t[ids]).clip(0, size - 1)),
    ("int32_targets", lambda d2t, size, ids: (ids + d2t[ids]).astype(np.int32)),
]


def _half(values: Ids) -> Ids:
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float16).astype(np.float64)
    return np.where(np.isfinite(rounded), rounded, 2.0**40).astype(np.int64)


@pytest.mark.parametrize(
    ("name", "function"), WRONG, ids=[f"{n}-{i}" for i, (n, _) in enumerate(WRONG)]
)
def test_each_mistake_is_found_shrunk_and_named(name: str, function: MapDraftIds) -> None:
    found = fuzz_mapping(function)
    assert found is not None
    assert found.name == name, str(found)
    assert {**MISTAKES, **BOUNDS_MISTAKES}[name].says == found.diagnosis
    assert found.case.d2t.size <= 3
    assert found.case.draft_ids.size <= 2


def test_order_from_the_mask_is_caught_where_the_function_falls_back() -> None:
    found = fuzz_mapping(order_from_mask)
    assert found is not None
    assert found.name == "order_from_mask"
    assert found.case.t2d is not None
    assert (found.case.d2t.tolist(), found.case.vocab_size) == ([1, -1], 2)


def test_a_checked_mistake_is_still_named() -> None:
    def absolute(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
        targets = d2t[draft_ids]
        return np.where((targets >= 0) & (targets < vocab_size), targets, INVALID)

    found = fuzz_mapping(absolute)
    assert found is not None
    assert found.name == "absolute"
    assert str(found) == (
        "draft ids [1] of d2t [0, 0] with V = 2: expected [1], got [0]; treats d2t as absolute ids"
    )


def test_the_mask_must_not_be_needed() -> None:
    found = fuzz_mapping(lambda d2t, size, ids, t2d: ids + d2t[ids] + 0 * t2d[ids])  # type: ignore[arg-type]
    assert found is not None
    assert found.problem.startswith("raised TypeError")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda d2t, size, ids: 1 / 0, "raised ZeroDivisionError"),
        (lambda d2t, size, ids: (ids + d2t[ids]).astype(float), "float64 values"),
        (lambda d2t, size, ids: (ids + d2t[ids])[:, None], "shape [1, 1] for [1] draft ids"),
        (lambda d2t, size, ids: None, "object values"),
        (lambda d2t, size, ids: "12", "<U2 values"),
    ],
)
def test_answers_that_are_no_ids(function: MapDraftIds, says: str) -> None:
    found = fuzz_mapping(function)
    assert found is not None
    assert found.got is None
    assert says in str(found)
    assert found.name == ""


def test_an_unsteady_function_is_called_so() -> None:
    calls = itertools.count()

    def unsteady(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
        return draft_ids + d2t[draft_ids] + (next(calls) == 7)

    found = fuzz_mapping(unsteady, check_bounds=False)
    assert found is not None
    assert "equal calls" in found.diagnosis


def test_unsteady_examples_without_a_wrong_answer_find_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def flaky(*args: object, **options: object) -> object:
        raise Flaky("inconsistent data generation")

    monkeypatch.setattr("hypothesis.find", flaky)
    assert fuzz_mapping(lambda d2t, size, ids: ids + d2t[ids], check_bounds=False) is None


def test_an_unknown_mistake_is_shown_without_a_name() -> None:
    found = fuzz_mapping(lambda d2t, size, ids: ids + d2t[ids] + 17 * (ids % 3 == 2))
    assert found is not None
    assert found.name == ""
    assert found.case.draft_ids.tolist() == [2]
    assert found.diagnosis.startswith("no known mistake explains")


def test_the_same_examples_every_time() -> None:
    def calls_of(**options: int) -> list[bytes]:
        seen: list[bytes] = []

        def spy(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
            seen.append(d2t.tobytes() + draft_ids.tobytes())
            return numpy_gather(d2t, vocab_size, draft_ids)

        assert fuzz_mapping(spy, max_examples=20, check_bounds=False, **options) is None
        return seen

    assert calls_of() == calls_of()
    assert calls_of(seed=1) == calls_of(seed=1)
    assert calls_of(seed=1) != calls_of(seed=2)


def test_the_function_cannot_spoil_its_inputs() -> None:
    def spoils(d2t: Ids, vocab_size: int, draft_ids: Ids) -> Ids:
        targets = draft_ids + d2t[draft_ids]
        d2t[:] = draft_ids[:] = 0
        return targets

    assert fuzz_mapping(spoils, check_bounds=False) is None


@pytest.mark.parametrize(
    ("mistakes", "panel"), [(MISTAKES, sound_panel), (BOUNDS_MISTAKES, faulty_panel)]
)
def test_the_panel_tells_mistakes_apart(
    mistakes: dict[str, object], panel: Callable[[], tuple[MappingCase, ...]]
) -> None:
    answers = {
        name: b"".join(mistake.apply(case).tobytes() for case in panel())  # type: ignore[attr-defined]
        for name, mistake in mistakes.items()
    }
    if panel is sound_panel:
        answers["truth"] = b"".join(case.targets().tobytes() for case in panel())
    assert len(set(answers.values())) == len(answers)
