"""Count drafts and accepted tokens as an engine does, from which drafts are right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Counts:
    """Hold an engine's counts: verify steps, and accepted tokens by place in the chain [K]."""

    drafts: int
    per_position: tuple[int, ...]

    @property
    def accepted(self) -> int:
        """Return how many drafted tokens were accepted."""
        return sum(self.per_position)

    @property
    def accept_length(self) -> float:
        """Return tokens a verify step, the one that the target adds included; nan without steps."""
        return 1 + self.accepted / self.drafts if self.drafts else float("nan")

    def __add__(self, other: Counts) -> Counts:
        """Return the counts of both runs."""
        places = (a + b for a, b in zip(self.per_position, other.per_position, strict=True))
        return Counts(self.drafts + other.drafts, tuple(places))


def walk(right: NDArray[np.bool_], tokens: int) -> Counts:
    """Walk an engine's verify steps over one continuation of `tokens` tokens.

    `right` [K, R] says for each row, the first being the last prompt position, whether the j-th
    token drafted there is the target's. The target's own first token is out before the first step;
    each step adds what it accepts and one token, until all are out. The last step may count beyond
    the end, as engines do.
    """
    steps, rows = right.shape
    chained = np.logical_and.accumulate(right, axis=0).sum(axis=0)
    places = np.zeros(steps, dtype=np.int64)
    drafts, row = 0, 0
    while row + 1 < tokens and row < rows:
        accepted = int(chained[row])
        places[:accepted] += 1
        drafts += 1
        row += accepted + 1
    return Counts(drafts, tuple(int(n) for n in places))
