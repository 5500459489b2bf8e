"""What several mapping contracts ask about the stored map."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.needs import VOCAB_SIZE
from pytest_eagle_contract.contracts.outcome import Outcome, blocked, passed, unverified
from pytest_eagle_contract.token_map import Form, TokenMap, as_integers

INTEGERS = frozenset({"I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8"})


def readings_of(case: Case) -> TokenMap | Outcome:
    """Return the map by the form its values show, or the outcome where there is none to judge.

    Numbers that fit neither form are read as offsets, the form every engine assumes, so that the
    contract on the fault itself can name it.
    """
    stored, found = case.draft.stored_map, case.intent.classification
    if stored is None or found is None:
        return passed("no map is stored")
    if stored.problem:
        return blocked("mapping.length", stored.problem)
    if as_integers(stored.values) is None:
        return blocked("mapping.dtype", f"{stored.where} holds no integers")
    if not found.readings:
        return unverified(found.evidence, VOCAB_SIZE)
    return found.readings[1 if found.form is Form.ABSOLUTE else 0].token_map


def offset_reading(case: Case) -> TokenMap | None:
    """Return the map read as offsets, None where it cannot be."""
    found = case.intent.classification
    return found.readings[0].token_map if found is not None and found.readings else None


def unlike_mask(case: Case) -> bool:
    """Tell whether t2d keeps other ids than the map names."""
    stored, read = case.draft.stored_map, readings_of(case)
    if stored is None or stored.mask is None or isinstance(read, Outcome):
        return False
    return stored.mask.size == read.vocab_size and bool((read.mask() != stored.mask).any())


def intended_order(case: Case) -> str:
    """Return the order in which the draft's trainer numbers its vocabulary."""
    return case.intent.map_order


def sample(numbers: Iterable[object], limit: int = 5) -> str:
    """Write the first numbers of a longer list."""
    listed = list(numbers)
    shown = ", ".join(str(n) for n in listed[:limit])
    return f"[{shown}, …]" if len(listed) > limit else f"[{shown}]"
