"""Say what the shape of an acceptance points to, where it has one that a known fault leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.acceptance.walk import Counts

FEW = 50
"""Verify steps, or rows of each half, below which no shape is read."""

NOTHING = 0.02
"""Accepted drafts a verify step that chance alone gives."""

COLLAPSE = 0.4
"""Share of the first place's acceptance below which that of the last has collapsed.

Sound drafts keep 0.7 or more over three places. A wrong norm_output left 0.05 to 0.2, a wrong
norm_before_residual 0.15, on pairs whose counts were compared with vLLM 0.32.
"""

WEAKEST = 0.1
"""How far every later place lies above the first where the first is the weakest."""

FALL = 0.5
"""Share of the early rows' acceptance below which that of the late ones has fallen."""

Rows = Sequence[NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Signature:
    """Name a shape, tell whether counts and rows have it, and say what is known to leave it.

    `shows` takes the counts of all prompts and, for each prompt, whether the first draft of each
    row is right, bool [R].
    """

    name: str
    shows: Callable[[Counts, Rows], bool]
    points_to: str


def conditional(total: Counts) -> tuple[float, ...]:
    """Return for each place the share accepted of those whose earlier places were, nan of none."""
    before = (total.drafts, *total.per_position)
    shares = zip(total.per_position, before, strict=False)
    return tuple(n / m if m else float("nan") for n, m in shares)


def _nothing(total: Counts, rows: Rows) -> bool:
    return total.accepted <= NOTHING * total.drafts


def _everything(total: Counts, rows: Rows) -> bool:
    return total.accepted == total.drafts * len(total.per_position)


def _collapse(total: Counts, rows: Rows) -> bool:
    first, *later = _seen(total)
    return bool(later) and later[-1] < COLLAPSE * first


def _weak_start(total: Counts, rows: Rows) -> bool:
    first, *later = _seen(total)
    return bool(later) and min(later) > first + WEAKEST


def _seen(total: Counts) -> tuple[float, ...]:
    """Return the conditional acceptance of the places that were reached often enough."""
    reached = (total.drafts, *total.per_position)
    shares = zip(conditional(total), reached, strict=False)
    return tuple(share for share, n in shares if n >= FEW)


def _falls(total: Counts, rows: Rows) -> bool:
    halves = [np.array_split(row, 2) for row in rows]
    early = np.concatenate([first for first, _ in halves])
    late = np.concatenate([second for _, second in halves])
    if min(early.size, late.size) < FEW or early.mean() < 0.1:
        return False
    return bool(late.mean() < FALL * early.mean())


SIGNATURES = (
    Signature(
        "nothing is accepted",
        _nothing,
        "look at the map's form and order, lm_head's rows, the embedding and the layers fed",
    ),
    Signature(
        "every draft is accepted",
        _everything,
        "these prompts cannot tell a sound draft from a better one; a server that fakes acceptance "
        "shows the same",
    ),
    Signature(
        "later places collapse",
        _collapse,
        "the first step is sound and what it feeds back is not: look at norm_output and "
        "norm_before_residual, the positions of later steps, and the steps of the training",
    ),
    Signature(
        "the first place is the weakest",
        _weak_start,
        "it is the one that the target's states feed: look at the layers fed and their order",
    ),
    Signature(
        "acceptance falls along the text",
        _falls,
        "look at the rotary base and scaling, the attention window and max_position_embeddings",
    ),
)


def signatures(total: Counts, rows: Rows) -> tuple[str, ...]:
    """Return a line for each shape that the acceptance has; none where too little was seen."""
    if total.drafts < FEW:
        return ()
    return tuple(f"{s.name}: {s.points_to}" for s in SIGNATURES if s.shows(total, rows))
