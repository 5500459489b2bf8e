"""Hypothesis strategies for token maps of every trainer's style, sound and broken.

Hypothesis is imported when a strategy is built; `MUTATIONS` works without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.token_map import Form, StoredMap, TokenMap
from pytest_eagle_contract.token_map.mistakes import MappingCase
from pytest_eagle_contract.token_map.mutations import MUTATIONS, Mutation, is_broken

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "MAX_VOCABULARY",
    "MUTATIONS",
    "SMALL",
    "STYLES",
    "TRAINER_STYLES",
    "BrokenMap",
    "Mutation",
    "broken_maps",
    "draft_ids",
    "faulty_cases",
    "sound_cases",
    "valid_maps",
]

MAX_VOCABULARY = 262_144
VOCABULARIES = (32_000, 128_256, 151_936, 163_840, MAX_VOCABULARY)
"""Sizes in use: Llama 2, Llama 3, Qwen, Kimi, Gemma."""

SMALL = 12
"""Up to this many draft ids the targets themselves are drawn, so that they shrink one by one."""

Arrange = Callable[[NDArray[np.int64], int], NDArray[np.int64]]

STYLES: Mapping[str, Arrange] = {
    "ascending": lambda ids, _: np.sort(ids),
    "specials first": lambda ids, specials: np.concatenate(
        [np.sort(ids[:specials]), ids[specials:]]
    ),
    "frequency": lambda ids, _: ids,
    "prefix": lambda ids, _: np.arange(ids.size),
    "full": lambda ids, _: np.arange(ids.size),
}
"""How trainers number the ids they keep: given in order of frequency, with a count of specials."""

TRAINER_STYLES = {
    "SpecForge": "ascending",
    "speculators": "ascending",
    "EAGLE": "ascending",
    "verl-SpeCo": "ascending",
    "AngelSlim": "ascending",
    "Automodel": "specials first",
    "Model-Optimizer": "frequency",
}


@dataclass(frozen=True, slots=True)
class BrokenMap:
    """Pair a sound map with the faulty numbers that stand in its place."""

    sound: TokenMap
    stored: StoredMap
    mutation: Mutation


def valid_maps(
    style: str | None = None,
    *,
    max_vocab: int = MAX_VOCABULARY,
    max_draft: int = MAX_VOCABULARY,
) -> SearchStrategy[TokenMap]:
    """Draw a sound map in a trainer's style, of any style where none is named.

    V runs from 1 to `max_vocab`, D from 1 to the lesser of V and `max_draft`. Maps of up to SMALL
    ids are drawn id by id; larger ones from two sizes and a seed, so that shrinking stays quick.
    An unknown style raises KeyError.
    """
    from hypothesis import strategies as st

    if style is not None and style not in STYLES:
        raise KeyError(f"no style {style!r}: one of {', '.join(STYLES)}")
    styles = st.just(style) if style is not None else st.sampled_from(tuple(STYLES))

    def sizes(name: str) -> SearchStrategy[TokenMap]:
        # Small maps twice as often: they are quick, and a fault found in one shrinks further.
        small = _small(name, max_vocab, max_draft)
        return small if max_draft <= SMALL else small | small | _large(name, max_vocab, max_draft)

    return styles.flatmap(sizes)


def broken_maps(
    kind: str | None = None, *, max_vocab: int = MAX_VOCABULARY
) -> SearchStrategy[BrokenMap]:
    """Draw a sound map and what a fault makes of it, any fault of MUTATIONS where none is named.

    Maps that the fault leaves as they were are left out. An unknown kind raises KeyError.
    """
    from hypothesis import assume
    from hypothesis import strategies as st

    kinds = (MUTATIONS[kind],) if kind is not None else tuple(MUTATIONS.values())
    maps = valid_maps(max_vocab=max_vocab)

    @st.composite
    def build(draw: DrawFn) -> BrokenMap:
        mutation = draw(st.sampled_from(kinds))
        sound = draw(maps)
        stored = mutation.apply(sound, draw(st.integers(0, len(sound) - 1)))
        assume(is_broken(sound, stored))
        return BrokenMap(sound, stored, mutation)

    return build()


def draft_ids(
    token_map: TokenMap, *, min_size: int = 1, max_size: int = 16
) -> SearchStrategy[NDArray[np.int64]]:
    """Draw int64 [N] draft ids of a map, N between the sizes, the last id often."""
    from hypothesis import strategies as st

    last = len(token_map) - 1
    one = st.integers(0, last) | st.just(last)
    return st.lists(one, min_size=min_size, max_size=max_size).map(_as_ids)


def sound_cases(
    *, max_vocab: int = MAX_VOCABULARY, max_draft: int = MAX_VOCABULARY
) -> SearchStrategy[MappingCase]:
    """Draw calls with a sound map: expected are its targets."""
    from hypothesis import strategies as st

    maps = valid_maps(max_vocab=max_vocab, max_draft=max_draft)

    @st.composite
    def build(draw: DrawFn) -> MappingCase:
        token_map = draw(maps)
        drawn = draw(draft_ids(token_map, max_size=8))
        return MappingCase.of(token_map, drawn, with_mask=not draw(st.booleans()))

    return build()


def faulty_cases(
    *, max_vocab: int = MAX_VOCABULARY, max_draft: int = MAX_VOCABULARY
) -> SearchStrategy[MappingCase]:
    """Draw calls that meet a target outside the vocabulary, never -1, which stands for INVALID."""
    from hypothesis import strategies as st

    maps = valid_maps(max_vocab=max_vocab, max_draft=max_draft)
    beyond = st.integers(0, 8) | st.sampled_from((2**16, 2**31, 2**32, 2**40))

    @st.composite
    def build(draw: DrawFn) -> MappingCase:
        token_map = draw(maps)
        bad = draw(st.integers(0, len(token_map) - 1))
        distance = draw(beyond)
        targets = token_map.targets.copy()
        targets[bad] = -2 - distance if draw(st.booleans()) else token_map.vocab_size + distance
        drawn = [*draw(draft_ids(token_map, min_size=0, max_size=4)), bad]
        broken = TokenMap(targets, token_map.vocab_size)
        return MappingCase.of(broken, np.asarray(drawn), with_mask=not draw(st.booleans()))

    return build()


def _as_ids(drawn: list[int]) -> NDArray[np.int64]:
    # A named function: Hypothesis reads the source of every lambda it is given, at each call.
    return np.asarray(drawn, dtype=np.int64)


@cache
def _small(style: str, largest: int, max_draft: int) -> SearchStrategy[TokenMap]:
    """Draw the ids first and the vocabulary around them, so that both shrink freely."""
    from hypothesis import strategies as st

    @st.composite
    def build(draw: DrawFn) -> TokenMap:
        one = st.integers(0, min(largest, 64) - 1) | st.integers(0, largest - 1)
        size = min(SMALL, largest, max_draft)
        ids = np.asarray(draw(st.lists(one, min_size=1, max_size=size, unique=True)), np.int64)
        if style == "full":
            return _arranged(style, ids, 0, ids.size)
        needed = ids.size if style == "prefix" else int(ids.max()) + 1
        vocab = draw(st.just(needed) | st.integers(needed, largest))
        return _arranged(style, ids, draw(_specials(style, ids.size)), vocab)

    return build()


@cache
def _large(style: str, largest: int, max_draft: int) -> SearchStrategy[TokenMap]:
    """Draw two sizes and a seed."""
    from hypothesis import strategies as st

    known = tuple(v for v in VOCABULARIES if v <= largest)
    sizes = st.integers(1, largest) | st.sampled_from(known or (largest,))

    @st.composite
    def build(draw: DrawFn) -> TokenMap:
        vocab = draw(sizes)
        if style == "full":
            vocab = min(vocab, max_draft)
            return _arranged(style, np.arange(vocab), 0, vocab)
        # A reduced vocabulary is for speed: nobody keeps more ids than half of a large one.
        most = vocab if vocab <= SMALL else vocab // 2
        count = draw(st.integers(1, min(most, max_draft)))
        ids = _kept(vocab, count, draw(st.integers(0, 2**32 - 1)))
        return _arranged(style, ids, draw(_specials(style, count)), vocab)

    return build()


def _arranged(style: str, ids: NDArray[np.int64], specials: int, vocab: int) -> TokenMap:
    return TokenMap(STYLES[style](ids, specials), vocab, Form.ABSOLUTE, f"{style} map")


@cache
def _specials(style: str, count: int) -> SearchStrategy[int]:
    from hypothesis import strategies as st

    return st.integers(0, min(count, 256)) if style == "specials first" else st.just(0)


def _kept(vocab: int, count: int, seed: int) -> NDArray[np.int64]:
    """Return `count` ids in a random order of frequency, the lowest ones likelier than others.

    Real vocabularies keep nearly all low ids, so that small maps start with offsets of zero.
    """
    random = np.random.default_rng(seed)
    low = random.integers(0, count + 1)
    high = low + random.choice(vocab - low, count - low, replace=False, shuffle=False)
    return random.permutation(np.concatenate([np.arange(low), high]))
