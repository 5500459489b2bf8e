"""Predict an engine's accept counts exactly: greedy chains, all positions at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from pytest_eagle_contract.acceptance.observe import Observed
from pytest_eagle_contract.acceptance.walk import Counts, walk
from pytest_eagle_contract.draft.model import ReferenceDraft


@dataclass(frozen=True, slots=True)
class Prediction:
    """Hold the counts of each prompt, and which drafts are right at every row.

    `right` holds an array [K, R] for each prompt, whose first row is the last prompt position.
    `unlike` counts continuation tokens that are not the target's greedy choice.
    """

    counts: tuple[Counts, ...]
    right: tuple[NDArray[np.bool_], ...]
    unlike: int = 0

    @property
    def total(self) -> Counts:
        """Return the counts of all prompts together."""
        first, *rest = self.counts
        return sum(rest, start=first)

    @property
    def accuracy(self) -> float:
        """Return the share of rows whose first drafted token is the target's."""
        rows = np.concatenate([r[0] for r in self.right])
        return float(rows.mean()) if rows.size else float("nan")


def predict(draft: ReferenceDraft, observed: Iterable[Observed], steps: int) -> Prediction:
    """Return what an engine wired like `draft` accepts with chains of `steps` drafts."""
    pairs = [(one, _right(draft, one, steps)) for one in observed]
    counts = tuple(walk(right, one.count) for one, right in pairs)
    rows = tuple(right[:, : one.count] for one, right in pairs)
    return Prediction(counts, rows, sum(one.unlike for one, _ in pairs))


def _right(draft: ReferenceDraft, one: Observed, steps: int) -> NDArray[np.bool_]:
    states = fed(one, draft.wiring.boundaries)
    drafted = draft.chain(one.tokens, states, steps, one.start)
    rows = torch.arange(one.start, one.start + drafted.shape[1], device=one.tokens.device)
    last = one.tokens.numel() - 1
    hits = []
    for step, ids in enumerate(drafted):
        place = rows + 2 + step
        hits.append((ids == one.tokens[place.clamp(max=last)]) & (place <= last))
    right: NDArray[np.bool_] = torch.stack(hits).cpu().numpy()
    return right


def fed(one: Observed, boundaries: Sequence[int]) -> torch.Tensor:
    """Return the states [N, A·Ht] that fc takes, the final state where no boundary is named."""
    if not boundaries:
        return one.final
    return torch.cat([one.states[b] for b in boundaries], dim=-1)
