"""Verify steps are counted as engines count them, and an interval says how sure a length is."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pytest_eagle_contract.acceptance.interval import accept_length, acceptance, difference
from pytest_eagle_contract.acceptance.signature import SIGNATURES, conditional, signatures
from pytest_eagle_contract.acceptance.walk import Counts, walk
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.prompts import Prompt, read_prompts


def right(*rows: str) -> np.ndarray:
    """Return drafts by place of the chain, each row a string such as `101` over positions."""
    return np.array([[c == "1" for c in row] for row in rows])


def test_all_right_gives_the_most() -> None:
    counts = walk(np.ones((3, 20), dtype=bool), 13)
    assert counts == Counts(3, (3, 3, 3))
    assert counts.accept_length == 4


def test_none_right_gives_one() -> None:
    counts = walk(np.zeros((3, 20), dtype=bool), 13)
    assert (counts.drafts, counts.accepted, counts.accept_length) == (12, 0, 1)


def test_a_right_draft_after_a_wrong_one_counts_for_nothing() -> None:
    assert walk(right("0000", "1111"), 5) == Counts(4, (0, 0))


def test_each_step_begins_after_what_was_accepted_and_one_more() -> None:
    # From row 0 two are accepted, so the next step is row 3, which accepts one, then row 5.
    assert walk(right("100100", "100000"), 7) == Counts(3, (2, 1))


def test_one_token_needs_no_step() -> None:
    counts = walk(right("1"), 1)
    assert counts == Counts(0, (0,))
    assert math.isnan(counts.accept_length)


@given(arrays(bool, st.tuples(st.integers(1, 5), st.integers(1, 30))), st.integers(1, 40))
def test_steps_and_accepted_tokens_make_up_the_text(found: np.ndarray, tokens: int) -> None:
    counts = walk(found, tokens)
    reached = 1 + counts.drafts + counts.accepted
    if found.shape[1] >= tokens:
        assert tokens <= reached <= tokens + found.shape[0]
    assert list(counts.per_position) == sorted(counts.per_position, reverse=True)


def test_counts_add_up() -> None:
    assert Counts(2, (1, 0)) + Counts(3, (2, 2)) == Counts(5, (3, 2))


def test_equal_prompts_leave_no_doubt() -> None:
    found = accept_length([Counts(10, (5, 3))] * 8)
    assert (found.value, found.low, found.high) == (1.8, 1.8, 1.8)


def test_more_prompts_are_surer() -> None:
    few = [Counts(10, (9,)), Counts(10, (1,))] * 3
    wide, narrow = accept_length(few), accept_length(few * 10)
    assert wide.value == narrow.value == 1.5
    assert narrow.high - narrow.low < wide.high - wide.low
    assert wide.low < 1.5 < wide.high


def test_prompts_are_compared_with_themselves() -> None:
    hard, easy = [Counts(10, (1,)), Counts(10, (9,))], [Counts(10, (2,)), Counts(10, (10,))]
    gap = difference(hard * 4, easy * 4)
    assert gap.high < 0
    assert gap.value == pytest.approx(-0.1)


def test_a_line_holds_a_prompt_and_what_the_target_wrote(tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text('{"token_ids": [1, 2], "continuation": [3]}\n\n[4, 5]\n{"continuation": [6]}\n')
    found = list(read_prompts(file))
    assert found == [Prompt((1, 2), (3,)), Prompt((4, 5)), Prompt((), (6,))]
    assert [p.written for p in found] == [(3,), (4, 5), (6,)]


@pytest.mark.parametrize("line", ['{"continuation": 3}', "{}", '{"token_ids": ["a"]}', "[true]"])
def test_a_line_without_ids_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text(line)
    with pytest.raises(InputError, match="line 1: holds no list of token ids"):
        list(read_prompts(file))


def test_acceptance_of_a_place_has_an_interval() -> None:
    counts = [Counts(10, (8, 4)), Counts(10, (4, 0)), Counts(20, (12, 8))]
    first, second = acceptance(counts, 0), acceptance(counts, 1)
    assert (first.value, second.value) == (24 / 40, 12 / 40)
    assert first.low < first.value < first.high
    alike = acceptance([Counts(10, (5,))] * 4, 0)
    assert (alike.low, alike.value, alike.high) == (0.5, 0.5, 0.5)


def test_conditional_acceptance_is_of_those_that_came_so_far() -> None:
    assert conditional(Counts(100, (80, 40, 10))) == (0.8, 0.5, 0.25)
    first, second = conditional(Counts(10, (0, 0)))
    assert first == 0
    assert math.isnan(second)


# The counts are those that vLLM 0.32 gave, or that were predicted and are equal to them in kind.
SOUND = Counts(1938, (645, 231, 56))
SHAPES = {
    "nothing is accepted": Counts(1007, (1, 0, 0)),
    "every draft is accepted": Counts(100, (100, 100, 100)),
    "later places collapse": Counts(446, (425, 138, 7)),
    "the first place is the weakest": Counts(347, (250, 219, 212)),
}


def steady(share: float, *, late: float | None = None) -> list[np.ndarray]:
    """Return rows of 40 prompts whose first drafts are right in this share, another one late."""
    random = np.random.default_rng(5)
    halves = [random.random((40, 30)) < s for s in (share, share if late is None else late)]
    return list(np.concatenate(halves, axis=1))


@pytest.mark.parametrize("name", [s.name for s in SIGNATURES])
def test_a_shape_is_named_by_what_leaves_it(name: str) -> None:
    rows = steady(0.5, late=0.1) if name not in SHAPES else steady(0.5)
    found = signatures(SHAPES.get(name, SOUND), rows)
    assert [line.partition(":")[0] for line in found] == [name]


@pytest.mark.parametrize(
    "total", [SOUND, Counts(264, (256, 254, 253)), Counts(272, (255, 250, 243)), Counts(90, (60,))]
)
def test_a_sound_acceptance_has_no_shape(total: Counts) -> None:
    assert signatures(total, steady(0.5)) == ()
    assert signatures(total, steady(0.5, late=0.4)) == ()


def test_no_shape_is_read_into_a_few_steps() -> None:
    assert signatures(Counts(40, (0, 0)), [np.zeros(40, bool)]) == ()
    assert signatures(Counts(60, (40, 1, 0)), [np.ones(20, bool), np.zeros(20, bool)]) == ()
