"""A token map in absolute target ids, and its algebra."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_eagle_contract.errors import InputError


class Form(StrEnum):
    """Name what the stored numbers of a map mean."""

    OFFSETS = "offsets"
    ABSOLUTE = "absolute"
    IDENTITY = "identity"
    AMBIGUOUS = "ambiguous"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True, eq=False)
class TokenMap:
    """Map D draft ids to target ids of a vocabulary of V.

    `targets` is int64 [D], absolute and read-only. `form` is how the numbers were stored and
    `where` names their place. No constructor checks the ids: a faulty map can be held, asked for
    its faults and shown. Maps are equal when their targets and V are.
    """

    targets: NDArray[np.int64]
    vocab_size: int
    form: Form = Form.ABSOLUTE
    where: str = ""

    def __post_init__(self) -> None:
        targets = np.ascontiguousarray(self.targets, dtype=np.int64)
        if targets.ndim != 1:
            place, problem = self.where or "token map", f"has shape {list(targets.shape)}"
            raise InputError(place, "", problem, "give one target id a draft id")
        # A view, so that the caller's own array stays writable.
        view = targets.view()
        view.flags.writeable = False
        object.__setattr__(self, "targets", view)

    @classmethod
    def from_offsets(cls, offsets: ArrayLike, vocab_size: int, where: str = "") -> TokenMap:
        """Read stored offsets [D]: target = draft + offset."""
        stored = np.asarray(offsets, dtype=np.int64)
        return cls(stored + np.arange(stored.size), vocab_size, Form.OFFSETS, where)

    @classmethod
    def from_absolute(cls, ids: ArrayLike, vocab_size: int, where: str = "") -> TokenMap:
        """Read stored target ids [D]: target = id."""
        return cls(np.asarray(ids, dtype=np.int64), vocab_size, Form.ABSOLUTE, where)

    @classmethod
    def from_mask(cls, mask: ArrayLike, where: str = "") -> TokenMap:
        """Number the ids that a t2d mask [V] keeps in ascending order.

        This is the true map only of trainers that number ascending; Automodel and Model-Optimizer
        number by frequency, which a mask cannot hold.
        """
        kept = np.asarray(mask, dtype=bool)
        return cls(np.flatnonzero(kept), kept.size, Form.ABSOLUTE, where)

    def __len__(self) -> int:
        return int(self.targets.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenMap):
            return NotImplemented
        return self.vocab_size == other.vocab_size and np.array_equal(self.targets, other.targets)

    def __hash__(self) -> int:
        return hash(self.digest())

    def digest(self) -> str:
        """Return a SHA-256 that is the same for equal maps on any machine."""
        head = f"{self.vocab_size}:".encode()
        return hashlib.sha256(head + self.targets.astype("<i8").tobytes()).hexdigest()

    def offsets(self) -> NDArray[np.int64]:
        """Return what d2t should store, int64 [D]."""
        return self.targets - np.arange(len(self))

    def mask(self) -> NDArray[np.bool_]:
        """Return what t2d should store, bool [V]; targets outside the vocabulary are left out."""
        kept = np.zeros(self.vocab_size, dtype=bool)
        kept[self._inside()] = True
        return kept

    @property
    def is_ascending(self) -> bool:
        """Tell whether targets rise strictly, so that t2d alone determines the map."""
        return bool(np.all(self.targets[1:] > self.targets[:-1]))

    @property
    def is_prefix(self) -> bool:
        """Tell whether every draft id is its own target."""
        return bool(np.array_equal(self.targets, np.arange(len(self))))

    @property
    def is_full(self) -> bool:
        """Tell whether the draft vocabulary is as large as the target's."""
        return len(self) == self.vocab_size

    @property
    def is_legal(self) -> bool:
        """Tell whether every target lies in the vocabulary and no two are equal."""
        return not self.out_of_range.size and int(np.count_nonzero(self.mask())) == len(self)

    @property
    def out_of_range(self) -> NDArray[np.intp]:
        """Return the draft ids whose target is outside the vocabulary."""
        return np.flatnonzero((self.targets < 0) | (self.targets >= self.vocab_size))

    @property
    def duplicates(self) -> NDArray[np.intp]:
        """Return, ascending, the target ids inside the vocabulary that several draft ids name."""
        inside = self._inside()
        if int(np.count_nonzero(self.mask())) == inside.size:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(np.bincount(inside, minlength=self.vocab_size) > 1)

    def draft_ids_of(self, target: int) -> NDArray[np.intp]:
        """Return the draft ids that name a target, none where the draft cannot emit it."""
        return np.flatnonzero(self.targets == target)

    def coverage(self, token_ids: ArrayLike) -> float:
        """Return the share of target tokens (any shape) that the draft can emit.

        It bounds the acceptance rate of any draft with this map. nan without tokens; an id outside
        the vocabulary raises InputError.
        """
        ids = np.asarray(token_ids, dtype=np.int64).ravel()
        if ids.size and (ids.min() < 0 or ids.max() >= self.vocab_size):
            outside = int(ids[(ids < 0) | (ids >= self.vocab_size)][0])
            problem = f"token {outside} is outside 0..{self.vocab_size - 1}"
            raise InputError("coverage", "token_ids", problem, "leave padding out")
        return float(np.mean(self.mask()[ids])) if ids.size else float("nan")

    def coverage_of_counts(self, counts: ArrayLike) -> float:
        """Return the share of all tokens that the draft can emit, from counts a target id [V].

        nan where the counts are all zero; another length than V raises InputError.
        """
        weights = np.asarray(counts, dtype=np.float64)
        if weights.shape != (self.vocab_size,):
            problem = f"has shape {list(weights.shape)}"
            raise InputError("coverage", "counts", problem, f"give [{self.vocab_size}]")
        total = float(weights.sum())
        return float(weights[self.mask()].sum()) / total if total else float("nan")

    def _inside(self) -> NDArray[np.int64]:
        outside = self.out_of_range
        return np.delete(self.targets, outside) if outside.size else self.targets
