"""How sure an accept length is, from the spread between prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.acceptance.walk import Counts

RESAMPLES = 2000
SEED = 20


@dataclass(frozen=True, slots=True)
class Interval:
    """Hold an estimate with the bounds between which 95 % of resampled prompts fall."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def accept_length(counts: Sequence[Counts]) -> Interval:
    """Return the accept length of prompts, with an interval over prompts drawn anew."""
    return _interval(_length(counts, _all(counts)), _length(counts, _drawn(counts)))


def acceptance(counts: Sequence[Counts], place: int) -> Interval:
    """Return the share of verify steps that accept the draft at `place`, counted from 0."""
    accepted = [c.per_position[place] for c in counts]
    value = _ratio(accepted, counts, _all(counts))
    return _interval(value, _ratio(accepted, counts, _drawn(counts)))


def difference(mine: Sequence[Counts], other: Sequence[Counts]) -> Interval:
    """Return how much longer `mine` is than `other` on the same prompts, drawn together."""
    everything, drawn = _all(mine), _drawn(mine)
    value = _length(mine, everything) - _length(other, everything)
    return _interval(value, _length(mine, drawn) - _length(other, drawn))


def _all(counts: Sequence[Counts]) -> NDArray[np.int64]:
    return np.arange(len(counts))[None]


def _drawn(counts: Sequence[Counts]) -> NDArray[np.int64]:
    random = np.random.default_rng(SEED)
    return random.integers(len(counts), size=(RESAMPLES, len(counts)))


def _length(counts: Sequence[Counts], drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    return 1 + _ratio([c.accepted for c in counts], counts, drawn)


def _ratio(
    accepted: Sequence[int], counts: Sequence[Counts], drawn: NDArray[np.int64]
) -> NDArray[np.float64]:
    hits = np.array(accepted, dtype=np.float64)
    drafts = np.array([c.drafts for c in counts], dtype=np.float64)
    share: NDArray[np.float64] = hits[drawn].sum(1) / np.maximum(drafts[drawn].sum(1), 1)
    return share


def _interval(value: NDArray[np.float64], drawn: NDArray[np.float64]) -> Interval:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Interval(float(value[0]), float(low), float(high))
