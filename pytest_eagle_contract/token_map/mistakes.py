"""What readers make of stored offsets when they get them wrong, as data to diagnose by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.token_map.model import TokenMap
from pytest_eagle_contract.token_map.mutations import round_to_bfloat16

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MappingCase:
    """Hold one call: d2t int64 [D] as stored, V, draft ids int64 [N] and t2d bool [V] or None."""

    d2t: Ids
    vocab_size: int
    draft_ids: Ids
    t2d: NDArray[np.bool_] | None

    @classmethod
    def of(cls, token_map: TokenMap, draft_ids: Ids, *, with_mask: bool = True) -> MappingCase:
        """Return the call that looks draft ids up in a map."""
        mask = token_map.mask() if with_mask else None
        return cls(token_map.offsets(), token_map.vocab_size, draft_ids, mask)

    def targets(self) -> Ids:
        """Return the true target ids [N], those outside the vocabulary as they are."""
        return self.draft_ids + self.d2t[self.draft_ids]

    def legal(self) -> NDArray[np.bool_]:
        """Tell for each draft id whether its target is inside the vocabulary."""
        return inside(self.targets(), self.vocab_size)


def inside(targets: Ids, vocab_size: int) -> NDArray[np.bool_]:
    """Tell for each target whether it is inside the vocabulary."""
    return (targets >= 0) & (targets < vocab_size)


@dataclass(frozen=True, slots=True)
class Mistake:
    """Hold a mistake: what the reader does, in words and as a function of a call to target ids."""

    name: str
    says: str
    apply: Callable[[MappingCase], Ids]


def _table(*rows: tuple[str, str, Callable[[MappingCase], Ids]]) -> Mapping[str, Mistake]:
    return {name: Mistake(name, says, apply) for name, says, apply in rows}


def _from_mask(case: MappingCase) -> Ids:
    # Sorting the targets gives the order that t2d gives, also where there is no t2d.
    return np.sort(case.d2t + np.arange(case.d2t.size))[case.draft_ids]


def _added(change: Callable[[MappingCase], Ids]) -> Callable[[MappingCase], Ids]:
    """Return the reader that adds changed offsets to the draft ids."""
    return lambda case: change(case)[case.draft_ids] + case.draft_ids


MISTAKES = _table(
    ("absolute", "treats d2t as absolute ids", lambda c: c.d2t[c.draft_ids]),
    (
        "arange_twice",
        "adds the draft id twice",
        lambda c: c.d2t[c.draft_ids] + 2 * c.draft_ids,
    ),
    ("identity", "returns draft ids as they are", lambda c: c.draft_ids),
    ("all_zero", "returns token 0 for every draft id", lambda c: 0 * c.draft_ids),
    (
        "order_from_mask",
        "derives the order from t2d, which is right for ascending maps only",
        _from_mask,
    ),
    ("int16_offsets", "keeps offsets in int16", _added(lambda c: c.d2t.astype(np.int16))),
    (
        "int16_targets",
        "keeps target ids in int16",
        lambda c: c.targets().astype(np.int16).astype(np.int64),
    ),
    (
        "uint16_targets",
        "keeps target ids in uint16",
        lambda c: c.targets().astype(np.uint16).astype(np.int64),
    ),
    (
        "bfloat16_offsets",
        "rounds offsets through bfloat16, which keeps 8 bits",
        _added(lambda c: round_to_bfloat16(c.d2t)),
    ),
    (
        "bfloat16_targets",
        "rounds target ids through bfloat16, which keeps 8 bits",
        lambda c: round_to_bfloat16(c.targets()),
    ),
    (
        "float16_offsets",
        "rounds offsets through float16, which keeps 11 bits",
        _added(lambda c: _through_float16(c.d2t)),
    ),
    ("negated", "subtracts offsets", _added(lambda c: -c.d2t)),
    (
        "wraps_negative_offsets",
        "adds V to negative offsets, which only frequency-ordered maps have",
        _added(lambda c: np.where(c.d2t < 0, c.d2t + c.vocab_size, c.d2t)),
    ),
    ("clamps_offsets", "takes negative offsets for 0", _added(lambda c: np.maximum(c.d2t, 0))),
    ("absolute_value", "drops the sign of offsets", _added(lambda c: np.abs(c.d2t))),
    ("one_high", "returns the next token", lambda c: c.targets() + 1),
    ("one_low", "returns the token before", lambda c: c.targets() - 1),
    ("next_entry", "reads the next entry of d2t", _added(lambda c: np.roll(c.d2t, -1))),
    ("entry_before", "reads the entry of d2t before", _added(lambda c: np.roll(c.d2t, 1))),
    (
        "position",
        "adds the position in the batch instead of the draft id",
        lambda c: c.d2t[c.draft_ids] + np.arange(c.draft_ids.size),
    ),
)
"""Mistakes that show on a sound map."""

BOUNDS_MISTAKES = _table(
    ("ignores_bounds", "ignores bounds and returns ids outside [0, V)", MappingCase.targets),
    (
        "wraps_negatives",
        "wraps negative targets, as an index from the end",
        lambda c: np.where(c.targets() < 0, c.targets() + c.vocab_size, c.targets()),
    ),
    ("wraps_modulo", "takes targets modulo V", lambda c: c.targets() % c.vocab_size),
    (
        "clamps_targets",
        "clamps targets into the vocabulary",
        lambda c: np.clip(c.targets(), 0, c.vocab_size - 1),
    ),
    (
        "zero_for_outside",
        "returns token 0 for a target outside",
        lambda c: np.where(c.legal(), c.targets(), 0),
    ),
    (
        "int32_targets",
        "keeps target ids in int32",
        lambda c: c.targets().astype(np.int32).astype(np.int64),
    ),
)
"""Mistakes that show only where a target is outside the vocabulary."""


def _through_float16(values: Ids) -> Ids:
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float16).astype(np.float64)
    return np.nan_to_num(rounded, posinf=2.0**40, neginf=-(2.0**40)).astype(np.int64)


@cache
def sound_panel() -> tuple[MappingCase, ...]:
    """Return calls with sound maps on which any two mistakes differ, and each from the truth."""
    random = np.random.default_rng(3)
    ranked = random.permutation(151_936)[:20_000]
    first_special = 151_643
    common = np.sort(ranked[ranked < first_special])
    specials = np.concatenate([np.arange(first_special, first_special + 26), common])
    rows: tuple[tuple[int, Ids, list[int]], ...] = (
        (8, np.array([5, 0, 3]), [0, 1, 2]),
        (8, np.array([5, 0, 3, 7]), [3, 0, 3, 1]),
        (8, np.array([6]), [0]),
        (16, np.arange(8), [1, 7]),
        (16, np.arange(16), [15, 3]),
        (9, np.arange(9)[::-1], [8, 1, 4]),
        (512, np.array([255, 257, 259, 511]), [0, 1, 2, 3]),
        (163_840, _ascending(163_840, 32_000), [0, 99, 100, 15_999, 20_001, 31_999]),
        (151_936, ranked, [0, 1, 2, 7_777, 19_998, 19_999]),
        (151_936, specials, [0, 25, 26, 4_001, 4_003]),
    )
    return tuple(MappingCase.of(TokenMap(t, v), np.asarray(ids)) for v, t, ids in rows)


@cache
def faulty_panel() -> tuple[MappingCase, ...]:
    """Return calls that meet a target outside the vocabulary, on which the mistakes differ."""
    rows = (
        (8, [5, 8, 3], [0, 1, 2]),
        (8, [5, 11, 3], [1]),
        (8, [5, -2, 3], [2, 1]),
        (8, [5, 0, -11], [2, 0]),
        (128, [0, 1, 1_002], [2, 0]),
        (128, [2**32 + 4, 1, 2], [1, 0]),
    )
    return tuple(MappingCase.of(TokenMap(np.asarray(t), v), np.asarray(ids)) for v, t, ids in rows)


def _ascending(vocab: int, count: int) -> Ids:
    """Return ascending targets that keep the first hundred ids and spread over the rest."""
    rest = np.linspace(100, vocab - 1, count - 100).astype(np.int64)
    return np.concatenate([np.arange(100), rest])
