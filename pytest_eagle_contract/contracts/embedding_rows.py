"""Compare a draft's embedding with its target's, row by row, on a bounded sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.checkpoint import Checkpoint, TensorInfo
from pytest_eagle_contract.checkpoint.model import TensorSource
from pytest_eagle_contract.checkpoint.target_weights import TargetWeights
from pytest_eagle_contract.contracts.needs import READABLE_WEIGHTS
from pytest_eagle_contract.contracts.needs import RUN as TO_RUN
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, unverified
from pytest_eagle_contract.errors import InputError

RUN = 48
PLACES = 4
RELATED = 0.5
"""Mean cosine above which rows are taken for the same tokens' (unrelated rows measure near 0)."""

NAMES = (
    "model.embed_tokens.weight",
    "model.language_model.embed_tokens.weight",
    "language_model.model.embed_tokens.weight",
    "embed_tokens.weight",
)

Relation = Literal[
    "equal", "trained", "shifted", "unrelated", "other shape", "not found", "unreadable"
]


@dataclass(frozen=True, slots=True)
class Rows:
    """Say how two embeddings relate, with the numbers seen."""

    relation: Relation
    detail: str

    @property
    def differs(self) -> bool | None:
        """Tell whether the draft's rows are not the target's; None where that cannot be seen."""
        unseen = self.relation in ("not found", "unreadable")
        return None if unseen else self.relation != "equal"

    def outcome(self) -> Outcome:
        """Judge the relation for the contract on the files."""
        if self.relation == "shifted":
            return failed(self.detail, "each row under its own token id")
        if self.relation == "unreadable":
            return unverified(self.detail, READABLE_WEIGHTS)
        if self.relation in ("unrelated", "not found"):
            return unverified(self.detail, TO_RUN)
        return passed(self.detail)


@lru_cache(maxsize=16)
def compare_rows(draft: Checkpoint, info: TensorInfo, target: TargetWeights) -> Rows:
    """Compare sampled rows of the draft's embedding with the target's."""
    starts = _starts(info.rows)
    try:
        found = target.find(NAMES)
        if found is None:
            return Rows("not found", "the target's weights hold no embedding under a known name")
        theirs, source = found
        if theirs.shape != info.shape:
            shapes = list(info.shape), list(theirs.shape)
            detail = "the draft's embedding is {}, the target's {}".format(*shapes)
            return Rows("other shape", detail)
        read = [_rows(source, theirs.name, start, theirs.rows) for start in starts]
    # The draft is not to blame for its target's files.
    except InputError as error:
        return Rows("unreadable", str(error))
    pairs = [
        (_rows(draft, info.name, start, info.rows), rows)
        for start, rows in zip(starts, read, strict=True)
    ]
    mine, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
    if np.array_equal(mine, other) or np.allclose(mine, other, atol=1e-2 * _scale(other)):
        return Rows("equal", f"{len(mine)} sampled rows equal the target's")
    return _related(pairs)


def _related(pairs: list[tuple[NDArray[np.float32], NDArray[np.float32]]]) -> Rows:
    aligned = float(np.mean([_cosine(a, b) for a, b in pairs]))
    shifts = {
        shift: float(np.mean([_cosine(_cut(a, shift), _cut(b, -shift)) for a, b in pairs]))
        for shift in (-1, 1)
    }
    shift, cosine = max(shifts.items(), key=lambda item: item[1])
    if cosine > RELATED and cosine > aligned + 0.2:
        return Rows("shifted", f"row i holds the target's row i{-shift:+d} (cosine {cosine:.2f})")
    if aligned > RELATED:
        return Rows("trained", f"a trained embedding, mean cosine {aligned:.2f} with the target's")
    return Rows("unrelated", f"unlike the target's embedding, mean cosine {aligned:.2f}")


def _cut(rows: NDArray[np.float32], shift: int) -> NDArray[np.float32]:
    return rows[shift:] if shift > 0 else rows[: len(rows) + shift]


def _starts(rows: int) -> list[int]:
    last = max(rows - RUN, 0)
    return sorted({place * last // (PLACES - 1) for place in range(PLACES)})


def _rows(
    source: Checkpoint | TensorSource, name: str, start: int, rows: int
) -> NDArray[np.float32]:
    return source.read(name, start, min(start + RUN, rows)).astype(np.float32)


def _cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    dots = (one * other).sum(axis=1)
    used = norms > 0
    return float(np.mean(dots[used] / norms[used])) if used.any() else 0.0


def _scale(rows: NDArray[np.float32]) -> float:
    return float(np.abs(rows).max()) if rows.size else 1.0
