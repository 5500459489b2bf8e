"""Say what an engine makes of a map whose fault another contract names."""

from __future__ import annotations

from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.map_facts import blocked, offset_reading
from pytest_eagle_contract.contracts.outcome import Outcome
from pytest_eagle_contract.engines.model import Semantics
from pytest_eagle_contract.token_map import Form, StoredMap, TokenMap, as_integers


def consequence(case: Case, facts: Semantics) -> Outcome | None:
    """Return the open outcome for a faulty map, with what this engine does; None for a sound one.

    Engines add the draft id to whatever is stored, so the map is followed as offsets.
    """
    stored, read, found = case.draft.stored_map, offset_reading(case), case.intent.classification
    if stored is None or found is None:
        return None
    if as_integers(stored.values) is None:
        refuses = facts.map_dtypes == "integer"
        return blocked("mapping.dtype", "refuses it" if refuses else "uses or rounds the floats")
    if read is None:
        return None
    if found.form is Form.ABSOLUTE:
        return blocked("mapping.offsets", _emitted(read, facts))
    return _short(case, stored, facts) or _faulty(read, facts)


def _short(case: Case, stored: StoredMap, facts: Semantics) -> Outcome | None:
    rows = case.draft.head_rows
    if rows is None or len(stored) == rows:
        return None
    refuses = facts.map_length == "error"
    return blocked("mapping.length", "refuses it" if refuses else "does not compare the lengths")


def _faulty(read: TokenMap, facts: Semantics) -> Outcome | None:
    if read.out_of_range.size:
        return blocked("mapping.range", _emitted(read, facts))
    if read.duplicates.size:
        refuses = facts.map_duplicates == "error"
        return blocked("mapping.bijective", "refuses it" if refuses else "does not notice")
    return None


def _emitted(read: TokenMap, facts: Semantics) -> str:
    worst = int(read.out_of_range[-1]) if read.out_of_range.size else len(read) - 1
    target = int(read.targets[worst])
    text = f"draft id {worst:,} becomes {target:,}"
    if 0 <= target < read.vocab_size:
        return text
    return f"{text}, outside 0..{read.vocab_size - 1:,}: {facts.map_note or facts.map_outside}"
