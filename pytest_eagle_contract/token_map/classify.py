"""Decide from the numbers whether a stored map holds offsets or absolute ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.token_map.describe import describe
from pytest_eagle_contract.token_map.model import Form, TokenMap
from pytest_eagle_contract.token_map.stored import StoredMap, as_integers

ABSOLUTE_KINDS = frozenset({"selected_token_ids", "token map"})
"""Names whose owners (Automodel, SGLang) define them as absolute ids; they settle a tie."""

TELLING_SIZE = 64
"""From this many ids on, a vocabulary without two neighbouring ids is no chance."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold one reading of the stored numbers and what is wrong with it.

    `outside` counts draft ids with a target outside the vocabulary, `repeated` targets named more
    than once, `unlike_mask` ids that only one of this reading and t2d holds (None: no usable t2d).
    """

    token_map: TokenMap
    outside: int
    repeated: int
    unlike_mask: int | None

    @property
    def legal(self) -> bool:
        """Tell whether the ids are unique and inside the vocabulary."""
        return not self.outside and not self.repeated

    @property
    def fits_mask(self) -> bool:
        """Tell whether the reading is legal and t2d keeps the same ids."""
        return self.legal and self.unlike_mask == 0

    def __str__(self) -> str:
        name = _NAMES[self.token_map.form]
        top = self.token_map.vocab_size - 1
        faults = [
            f"{count:,} {what}"
            for count, what in (
                (self.outside, f"of {len(self.token_map):,} outside 0..{top:,}"),
                (self.repeated, "named more than once"),
            )
            if count
        ]
        return f"as {name}: " + (" and ".join(faults) or f"unique and inside 0..{top:,}")


@dataclass(frozen=True, slots=True)
class Classification:
    """Say what the stored numbers mean, why, and whether the values leave no other meaning.

    `token_map` is the map so read, None where the form is ambiguous or neither. `readings` are the
    two that were weighed, offsets first; empty where the numbers or V allow none.
    """

    form: Form
    evidence: str
    certain: bool
    token_map: TokenMap | None = None
    readings: tuple[Reading, ...] = ()


def classify(stored: StoredMap, vocab_size: int | None = None) -> Classification:
    """Decide the form of a stored map from its values, with t2d as the judge where it is there.

    `vocab_size` is V; without it the file's own statement, then t2d's length is taken. The name of
    the numbers counts only where the values allow both readings.
    """
    if stored.problem:
        return Classification(Form.NEITHER, stored.problem, True)
    size = _vocabulary(stored, vocab_size)
    if size is None:
        return Classification(Form.AMBIGUOUS, "the target's vocabulary size is not known", False)
    values = as_integers(stored.values)
    if values is None:
        evidence = f"the {stored.dtype} numbers are not all integers"
        return Classification(Form.NEITHER, evidence, True)
    mask = stored.mask if stored.mask is not None and stored.mask.size == size else None
    offsets = _read(TokenMap.from_offsets(values, size, stored.where), mask)
    absolute = _read(TokenMap.from_absolute(values, size, stored.where), mask)
    form, evidence, certain = (
        _zeros(stored, offsets)
        if not values.any()
        else _by_mask(stored, offsets, absolute)
        if mask is not None
        else _by_values(stored, offsets, absolute)
    )
    if stored.mask is not None and mask is None:
        evidence += f"; t2d has {stored.mask.size:,} entries for {size:,} target ids"
        certain = False
    chosen = {Form.OFFSETS: offsets, Form.IDENTITY: offsets, Form.ABSOLUTE: absolute}.get(form)
    token_map = None
    if chosen is not None:
        token_map = TokenMap(chosen.token_map.targets, size, form, stored.where)
    return Classification(form, evidence, certain, token_map, (offsets, absolute))


def settled(found: Classification, others: Iterable[StoredMap]) -> Classification:
    """Return a classification that other files decide, where the numbers alone did not.

    `others` are maps of the same draft whose own form is certain, by their name or their mask.
    """
    if found.certain or not found.readings:
        return found
    for other in others:
        told = classify(other, found.readings[0].token_map.vocab_size)
        for reading in found.readings if told.certain else ():
            read = reading.token_map
            if read == told.token_map:
                # Zeros are offsets of a prefix, which classify calls the identity.
                form = found.form if found.form is Form.IDENTITY else read.form
                evidence = f"as {_NAMES[read.form]} it is the map of {other.where}"
                chosen = TokenMap(read.targets, read.vocab_size, form, read.where)
                return replace(found, form=form, evidence=evidence, certain=True, token_map=chosen)
    return found


_NAMES = {Form.OFFSETS: "offsets", Form.ABSOLUTE: "absolute ids"}


def _vocabulary(stored: StoredMap, given: int | None) -> int | None:
    told = given if given is not None else stored.target_vocab_size
    if told is None and stored.mask is not None:
        told = int(stored.mask.size)
    return told if told is not None and told > 0 else None


def _read(token_map: TokenMap, mask: NDArray[np.bool_] | None) -> Reading:
    unlike = None if mask is None else int(np.count_nonzero(token_map.mask() != mask))
    return Reading(
        token_map, int(token_map.out_of_range.size), int(token_map.duplicates.size), unlike
    )


Verdict = tuple[Form, str, bool]


def _zeros(stored: StoredMap, offsets: Reading) -> Verdict:
    count, size = len(stored), offsets.token_map.vocab_size
    prefix = f"all {count:,} numbers are 0, which as offsets keeps target ids 0..{count - 1:,}"
    if not offsets.legal:
        return Form.NEITHER, f"{prefix} of a vocabulary of only {size:,}", True
    if count == size:
        return Form.IDENTITY, f"{prefix}: the whole vocabulary", offsets.unlike_mask in (None, 0)
    if offsets.unlike_mask:
        kept = int(np.count_nonzero(stored.mask)) if stored.mask is not None else 0
        return Form.NEITHER, f"{prefix}, but t2d keeps {kept:,} ids that are not these", True
    if offsets.unlike_mask == 0:
        return Form.IDENTITY, f"{prefix} of {size:,}, and t2d keeps the same", True
    return Form.IDENTITY, f"{prefix} of {size:,}: a prefix map, or a buffer never filled", False


def _by_mask(stored: StoredMap, offsets: Reading, absolute: Reading) -> Verdict:
    if offsets.fits_mask != absolute.fits_mask:
        form = Form.OFFSETS if offsets.fits_mask else Form.ABSOLUTE
        name = "offsets" if offsets.fits_mask else "absolute ids"
        evidence = f"as {name} they are the ids that t2d keeps: {_distance(offsets, absolute)}"
        return form, f"{evidence}{_default_bug(absolute)}; {_last(stored, offsets)}", True
    form, evidence, certain = _by_values(stored, offsets, absolute)
    if offsets.fits_mask:
        return form, evidence, certain
    if _counts_up(absolute):
        form = Form.NEITHER
    evidence = f"{evidence}; t2d keeps other ids: {_distance(offsets, absolute)}"
    return form, evidence, form is Form.NEITHER


def _by_values(stored: StoredMap, offsets: Reading, absolute: Reading) -> Verdict:
    both = f"{offsets}; {absolute}"
    if offsets.legal != absolute.legal:
        form = Form.OFFSETS if offsets.legal else Form.ABSOLUTE
        return form, f"{both}{_default_bug(absolute)}; {_last(stored, offsets)}", True
    if not offsets.legal:
        return Form.NEITHER, f"{both}; {_last(stored, offsets)}", True
    return _by_habit(stored, offsets, absolute)


def _by_habit(stored: StoredMap, offsets: Reading, absolute: Reading) -> Verdict:
    """Decide between two legal readings by name and by what vocabularies look like."""
    if stored.kind in ABSOLUTE_KINDS:
        return Form.ABSOLUTE, f"both readings are legal, and {stored.kind} is absolute ids", True
    if offsets.token_map == absolute.token_map:
        return Form.OFFSETS, "its one entry means the same in both readings", True
    if _counts_up(absolute):
        return Form.AMBIGUOUS, f"both readings are legal{_default_bug(absolute)}", False
    close, apart = _neighbours(absolute.token_map), _neighbours(offsets.token_map)
    if len(stored) >= TELLING_SIZE and close and not apart:
        evidence = (
            f"as offsets no two of the {len(stored):,} targets would be neighbours, "
            f"as absolute ids {close:,} pairs are; {_last(stored, offsets)}"
        )
        return Form.ABSOLUTE, evidence, True
    return Form.AMBIGUOUS, f"{offsets}; {absolute}; {_last(stored, offsets)}", False


def _distance(offsets: Reading, absolute: Reading) -> str:
    return (
        f"{offsets.unlike_mask:,} ids differ from t2d as offsets, "
        f"{absolute.unlike_mask:,} as absolute ids"
    )


def _last(stored: StoredMap, offsets: Reading) -> str:
    return describe(stored, len(stored) - 1, offsets.token_map.vocab_size)


def _counts_up(absolute: Reading) -> bool:
    return len(absolute.token_map) > 1 and absolute.token_map.is_prefix


def _default_bug(absolute: Reading) -> str:
    if not _counts_up(absolute):
        return ""
    count = len(absolute.token_map)
    return (
        f": the numbers count 0..{count - 1:,}, an absolute prefix that read as offsets "
        f"gives 2*i (verl-SpeCo's default buffer)"
    )


def _neighbours(token_map: TokenMap) -> int:
    kept = token_map.mask()
    return int(np.count_nonzero(kept[1:] & kept[:-1]))
