"""Fuzz any function that maps draft ids to target ids, and name the mistake it makes.

Hypothesis is imported when a function is fuzzed.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.errors import one_line
from pytest_eagle_contract.strategies import MAX_VOCABULARY, SMALL, faulty_cases, sound_cases
from pytest_eagle_contract.token_map.mistakes import (
    BOUNDS_MISTAKES,
    MISTAKES,
    MappingCase,
    Mistake,
    faulty_panel,
    inside,
    sound_panel,
)

__all__ = [
    "BOUNDS_MISTAKES",
    "INVALID",
    "MISTAKES",
    "Counterexample",
    "MapDraftIds",
    "MappingCase",
    "Mistake",
    "fuzz_mapping",
]

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

INVALID = -1
"""What a function may return for a draft id whose target is outside the vocabulary."""


class MapDraftIds(Protocol):
    """Map draft ids to target ids.

    Takes d2t as stored (int64 [D], offsets), the target's vocabulary size V and draft ids
    (int64 [N], each in [0, D)); returns N target ids as an integer array or anything that numpy
    makes one of. A function with a parameter named `t2d` is also given the mask (bool [V]) or
    None: Model-Optimizer ships none. For a target outside [0, V) it must raise or return INVALID.
    """

    def __call__(
        self, d2t: NDArray[np.int64], vocab_size: int, draft_ids: NDArray[np.int64], /
    ) -> object:
        """Return the target ids."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Show one call that went wrong, as small as could be found, and what explains it.

    `got` is None where the function raised or returned no integer ids: `problem` says which.
    `name` is the mistake's key in MISTAKES or BOUNDS_MISTAKES, empty where none explains every
    answer; `diagnosis` says it in words.
    """

    case: MappingCase
    got: NDArray[np.int64] | None
    problem: str
    name: str
    diagnosis: str

    def __str__(self) -> str:
        got = self.problem if self.got is None else _shown(self.got)
        return (
            f"draft ids {_shown(self.case.draft_ids)} of d2t {_shown(self.case.d2t)} "
            f"with V = {self.case.vocab_size:,}: expected {_expected(self.case)}, "
            f"got {got}; {self.diagnosis}"
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold what a function returned, or why it is no answer."""

    ids: NDArray[np.int64] | None
    problem: str = ""


def fuzz_mapping(
    function: MapDraftIds,
    *,
    max_examples: int = 100,
    seed: int | None = None,
    check_bounds: bool = True,
    max_vocab: int = MAX_VOCABULARY,
) -> Counterexample | None:
    """Look for a map and draft ids that a function gets wrong; None where there are none.

    Without a seed the same examples are tried every time. `check_bounds` also demands that targets
    outside the vocabulary are refused, which most engines do not do. Never raises for what the
    function raises, and stores no examples.
    """
    rounds = (
        (MISTAKES, sound_panel(), sound_cases),
        (BOUNDS_MISTAKES, faulty_panel(), faulty_cases),
    )
    for mistakes, panel, cases in rounds if check_bounds else rounds[:1]:
        # Small maps first: what they show needs no shrinking from thousands of entries.
        for max_draft in (SMALL, max_vocab):
            drawn = cases(max_vocab=max_vocab, max_draft=max_draft)
            case, steady = _search(function, drawn, (max_examples + 1) // 2, seed)
            if case is not None:
                break
        # The panel finds what a short search may miss; the search finds a smaller case.
        case = case or next((c for c in panel if is_wrong(c, ask(function, c))), None)
        if case is not None:
            return _diagnosed(function, case, mistakes, panel, steady=steady)
    return None


def ask(function: MapDraftIds, case: MappingCase) -> Answer:
    """Call a function on a case's own copies, with the mask where it takes one."""
    mask = None if case.t2d is None else case.t2d.copy()
    extra = {"t2d": mask} if _takes_mask(function) else {}
    try:
        result = function(case.d2t.copy(), case.vocab_size, case.draft_ids.copy(), **extra)
        ids = np.asarray(result)
    # The function under test may raise anything: that is its answer.
    except Exception as error:
        return Answer(None, one_line(f"raised {type(error).__name__}: {error}", 200))
    if ids.dtype.kind not in "iu":
        return Answer(None, f"{ids.dtype} values, not integer ids")
    if ids.shape != case.draft_ids.shape:
        return Answer(None, f"shape {list(ids.shape)} for {list(case.draft_ids.shape)} draft ids")
    return Answer(ids.astype(np.int64))


def is_wrong(case: MappingCase, answer: Answer) -> bool:
    """Tell whether an answer breaks the protocol or names another token than the map does."""
    legal = case.legal()
    if answer.ids is None:
        return bool(legal.all()) or not answer.problem.startswith("raised")
    right, refused = answer.ids == case.targets(), answer.ids == INVALID
    # One bad entry may make a function refuse the whole map.
    return not bool(right.all() if legal.all() else np.all(np.where(legal, right, False) | refused))


def _search(
    function: MapDraftIds,
    cases: SearchStrategy[MappingCase],
    max_examples: int,
    seed: int | None,
) -> tuple[MappingCase | None, bool]:
    """Return the smallest wrong case found, and whether the function answered steadily."""
    from random import Random

    from hypothesis import Phase, Verbosity, find, settings
    from hypothesis.errors import Flaky, NoSuchExample

    seen: list[MappingCase] = []

    def wrong(case: MappingCase) -> bool:
        found = is_wrong(case, ask(function, case))
        if found:
            seen[:] = [case]
        return found

    random = None if seed is None else Random(seed)
    chosen = settings(
        max_examples=max_examples,
        derandomize=seed is None,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        verbosity=Verbosity.quiet,
    )
    try:
        return find(cases, wrong, settings=chosen, random=random), True
    except NoSuchExample:
        return None, True
    except Flaky:
        # Hypothesis may find its own examples unsteady before the function was wrong once.
        return (seen[0] if seen else None), False


def _diagnosed(
    function: MapDraftIds,
    case: MappingCase,
    mistakes: Mapping[str, Mistake],
    panel: tuple[MappingCase, ...],
    *,
    steady: bool,
) -> Counterexample:
    answer = ask(function, case)
    answers = [(c, ask(function, c)) for c in panel]
    here = [m for m in mistakes.values() if _predicts(m, case, answer)]
    # Errors everywhere would fit any mistake that leaves the vocabulary.
    told = answer.ids is not None or any(a.ids is not None for _, a in answers)
    everywhere = [m for m in mistakes.values() if all(_predicts(m, c, a) for c, a in answers)]
    name, diagnosis = "", "no known mistake explains its answers"
    if not steady:
        diagnosis = "answers differently to equal calls"
    elif told and everywhere:
        name, diagnosis = everywhere[0].name, everywhere[0].says
    elif told and here:
        alike = ", or ".join(m.says for m in here[:2])
        diagnosis = f"{diagnosis}, though here it looks as if it {alike}"
    return Counterexample(case, answer.ids, answer.problem, name, diagnosis)


def _predicts(mistake: Mistake, case: MappingCase, answer: Answer) -> bool:
    predicted = mistake.apply(case)
    kept = inside(predicted, case.vocab_size)
    if answer.ids is None:
        return not kept.all()
    # An id outside the vocabulary may have been refused after the mistake was made.
    same = (answer.ids == predicted) | (~kept & (answer.ids == INVALID))
    return bool(same.all())


def _takes_mask(function: MapDraftIds) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "t2d" or p.kind is p.VAR_KEYWORD for p in parameters)


def _expected(case: MappingCase) -> str:
    targets, outside = case.targets(), ~case.legal()
    if not outside.any():
        return _shown(targets)
    return f"{_shown(targets[outside])} to be refused or {INVALID}, being outside"


def _shown(values: NDArray[np.int64]) -> str:
    return np.array2string(values, separator=", ", threshold=12, edgeitems=3)
