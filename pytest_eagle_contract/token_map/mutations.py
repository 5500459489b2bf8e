"""Faults that real exports had, each a named operator that turns a sound map into a broken one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_eagle_contract.token_map.model import TokenMap
from pytest_eagle_contract.token_map.stored import StoredMap, as_integers

Operator = Callable[[TokenMap, int], StoredMap]


@dataclass(frozen=True, slots=True)
class Mutation:
    """Hold a fault: what it does to a map, in words and as a function.

    `apply` takes a sound map and a place, any integer, which picks the entry of a fault in one
    entry (modulo D). It returns what a file would store. Some faults leave some maps as they are:
    ask `is_broken`.
    """

    name: str
    says: str
    apply: Operator


def stored_soundly(token_map: TokenMap) -> StoredMap:
    """Return a map as a healthy checkpoint stores it: int64 offsets with their mask."""
    return StoredMap(
        values=token_map.offsets(),
        dtype="I64",
        kind="d2t",
        where="d2t",
        mask=token_map.mask(),
        mask_where="t2d",
        target_vocab_size=token_map.vocab_size,
    )


def is_broken(token_map: TokenMap, stored: StoredMap) -> bool:
    """Tell whether stored numbers, dtype or mask differ from what the map should be stored as."""
    sound = stored_soundly(token_map)
    return (
        stored.dtype != sound.dtype
        or not np.array_equal(stored.values, sound.values)
        or (stored.mask is not None and not np.array_equal(stored.mask, token_map.mask()))
    )


def reached_targets(stored: StoredMap, vocab_size: int) -> TokenMap | None:
    """Return the map that an engine makes of stored numbers as offsets; None for fractions."""
    values = as_integers(stored.values)
    return None if values is None else TokenMap.from_offsets(values, vocab_size, stored.where)


def _store(token_map: TokenMap, values: ArrayLike, dtype: str = "I64") -> StoredMap:
    return replace(stored_soundly(token_map), values=np.asarray(values), dtype=dtype)


def _entry(token_map: TokenMap, place: int, target: int) -> StoredMap:
    """Store the map with one entry pointed at another target."""
    index = place % len(token_map)
    offsets = token_map.offsets()
    offsets[index] = target - index
    return _store(token_map, offsets)


def _shuffled(token_map: TokenMap, place: int) -> StoredMap:
    order = np.random.default_rng(abs(place)).permutation(len(token_map))
    return _store(token_map, token_map.offsets()[order])


def _one_off(token_map: TokenMap, place: int) -> StoredMap:
    return _entry(token_map, place, int(token_map.targets[place % len(token_map)]) + 1)


def _duplicate(token_map: TokenMap, place: int) -> StoredMap:
    return _entry(token_map, place, int(token_map.targets[(place + 1) % len(token_map)]))


def _ascending(token_map: TokenMap, _: int) -> StoredMap:
    return _store(token_map, np.sort(token_map.targets) - np.arange(len(token_map)))


def _bfloat16(token_map: TokenMap, _: int) -> StoredMap:
    return _store(token_map, round_to_bfloat16(token_map.offsets()))


def _mask_mismatch(token_map: TokenMap, place: int) -> StoredMap:
    mask = token_map.mask()
    mask[place % mask.size] ^= True
    return replace(stored_soundly(token_map), mask=mask)


def _prefix_fallback(token_map: TokenMap, _: int) -> StoredMap:
    zeros = np.zeros(len(token_map), dtype=np.int64)
    mask = np.arange(token_map.vocab_size) < len(token_map)
    return replace(stored_soundly(token_map), values=zeros, mask=mask)


def _int64(change: Callable[[TokenMap], NDArray[np.int64]]) -> Operator:
    return lambda token_map, _: _store(token_map, change(token_map))


def _cast(numpy_type: type[np.generic], code: str) -> Operator:
    def cast(token_map: TokenMap, _: int) -> StoredMap:
        # float16 ends at 65,504: what lies above becomes infinite, as on a real save.
        with np.errstate(over="ignore"):
            return _store(token_map, token_map.offsets().astype(numpy_type), code)

    return cast


def round_to_bfloat16(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return integers after a trip through bfloat16, which keeps 8 significant bits."""
    bits = values.astype(np.float32).view(np.uint32)
    # Round to nearest, ties to even, on the 16 bits that bfloat16 drops.
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(
        0xFFFF0000
    )
    return rounded.astype(np.uint32).view(np.float32).astype(np.int64)


MUTATIONS: Mapping[str, Mutation] = {
    name: Mutation(name, says, apply)
    for name, says, apply in (
        ("absolute", "target ids stand where offsets belong", _int64(lambda m: m.targets)),
        (
            "arange_twice",
            "the draft id was added before storing and again on reading",
            _int64(lambda m: m.targets + np.arange(len(m))),
        ),
        ("counting", "arange(D), verl-SpeCo's default", _int64(lambda m: np.arange(len(m)))),
        ("negated", "offsets are draft - target", _int64(lambda m: -m.offsets())),
        ("shuffled", "offsets stand in random order", _shuffled),
        ("rolled", "offsets stand one place late", _int64(lambda m: np.roll(m.offsets(), 1))),
        ("reversed", "offsets stand in reverse", _int64(lambda m: m.offsets()[::-1].copy())),
        ("sorted", "targets were renumbered ascending, as from t2d", _ascending),
        ("one_off", "one offset is too large by one", _one_off),
        ("all_one_off", "every offset is too large by one", _int64(lambda m: m.offsets() + 1)),
        ("duplicate", "two draft ids name one target", _duplicate),
        ("negative", "one target is below 0", lambda m, p: _entry(m, p, -2)),
        ("past_vocabulary", "one target is V", lambda m, p: _entry(m, p, m.vocab_size)),
        (
            "far_past",
            "one target needs more than 32 bits",
            lambda m, p: _entry(m, p, 2**32 + m.vocab_size),
        ),
        ("zeros", "the buffer was never filled", _int64(lambda m: 0 * m.offsets())),
        (
            "truncated",
            "the last half is missing",
            _int64(lambda m: m.offsets()[: len(m) // 2 or 1]),
        ),
        (
            "too_long",
            "rows beyond the draft vocabulary, padded with 0",
            _int64(lambda m: np.append(m.offsets(), [0])),
        ),
        ("float", "stored as float32", _cast(np.float32, "F32")),
        ("half", "stored as float16, which rounds above 2,048", _cast(np.float16, "F16")),
        ("bfloat16", "rounded through bfloat16 on the way", _bfloat16),
        ("int32", "stored as int32", _cast(np.int32, "I32")),
        ("int16", "stored as int16, which wraps above 32,767", _cast(np.int16, "I16")),
        ("mask_mismatch", "t2d differs in one id", _mask_mismatch),
        ("prefix_fallback", "map and mask both keep the first D ids", _prefix_fallback),
    )
}
"""Every fault by name. All but float and int32 change what some draft id means or is kept."""
