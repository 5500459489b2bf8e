"""Say what an engine makes of a map, sound or with a fault that another contract names."""

from __future__ import annotations

from pytest_eagle_contract.contracts.case import Case, sourced
from pytest_eagle_contract.contracts.map_facts import INTEGERS, offset_reading, readings_of
from pytest_eagle_contract.contracts.outcome import Outcome, blocked, failed, passed, refused
from pytest_eagle_contract.engines.model import Semantics
from pytest_eagle_contract.engines.resolution import MapUse, Resolution
from pytest_eagle_contract.token_map import Form, StoredMap, TokenMap


def maps(case: Case, reading: Resolution) -> Outcome:
    """Judge whether an engine maps draft ids as the trainer did."""
    return sourced(_maps(case, reading), reading, _decisive(case, reading))


def _decisive(case: Case, reading: Resolution) -> str:
    if case.draft.stored_map is None:
        return "map_absent"
    return "map_stored" if reading.semantics.map_stored == "lost" else "map_equal_vocab"


def _maps(case: Case, reading: Resolution) -> Outcome:
    use, stored = reading.token_map, case.draft.stored_map
    if use.kind == "unsized":
        return blocked("checkpoint.lm-head", use.detail, loud=True)
    if stored is None:
        return _without(case, use)
    if stored.problem:
        return blocked("mapping.length", stored.problem)
    if use.kind == "error":
        fix = "leave d2t out of the export for this engine"
        return refused(use.detail, "a checkpoint that this engine loads", fix)
    if use.kind == "none":
        read = readings_of(case)
        same = isinstance(read, TokenMap) and read.is_prefix
        return passed(use.detail) if same else failed(use.detail, "the stored map is used")
    return consequence(case, reading.semantics) or passed(use.detail)


def _without(case: Case, use: MapUse) -> Outcome:
    """Judge an engine that finds no map: right only where both vocabularies are equal."""
    if case.draft.geometry.draft_rows != case.vocab_size:
        return blocked("mapping.present", use.detail, loud=use.kind == "error")
    if use.kind == "zeros":
        return failed(use.detail, "draft ids are target ids", "store d2t, all zero")
    return passed(use.detail)


def consequence(case: Case, facts: Semantics) -> Outcome | None:
    """Return the open outcome for a faulty map, with what this engine does; None for a sound one.

    Engines add the draft id to whatever is stored, so the map is followed as offsets.
    """
    stored, read, found = case.draft.stored_map, offset_reading(case), case.intent.classification
    if stored is None or found is None:
        return None
    if stored.dtype not in INTEGERS:
        return blocked("mapping.dtype", "uses or rounds the floats")
    if read is None:
        return None
    if found.form is Form.ABSOLUTE:
        return blocked("mapping.offsets", _emitted(read, facts), loud=_stops(read, facts))
    return _short(case, stored, facts) or _faulty(read, facts)


def _short(case: Case, stored: StoredMap, facts: Semantics) -> Outcome | None:
    rows = case.draft.head_rows
    if rows is None or len(stored) == rows:
        return None
    refuses = facts.map_length == "error"
    does = "refuses" if refuses else "does not notice"
    return blocked("mapping.length", f"{does} a d2t of another length", loud=refuses)


def _faulty(read: TokenMap, facts: Semantics) -> Outcome | None:
    if read.out_of_range.size:
        return blocked("mapping.range", _emitted(read, facts), loud=_stops(read, facts))
    if read.duplicates.size:
        refuses = facts.map_duplicates == "error"
        does = "refuses" if refuses else "does not notice"
        return blocked("mapping.bijective", f"{does} two draft ids of one target", loud=refuses)
    return None


def _stops(read: TokenMap, facts: Semantics) -> bool:
    """Tell whether an engine notices targets outside the vocabulary.

    A device's own check sees an id too large; a negative one counts from the end.
    """
    if facts.map_outside == "device error":
        return bool((read.targets >= read.vocab_size).any())
    return facts.map_outside == "error" and bool(read.out_of_range.size)


def _emitted(read: TokenMap, facts: Semantics) -> str:
    worst = int(read.out_of_range[-1]) if read.out_of_range.size else len(read) - 1
    target = int(read.targets[worst])
    text = f"draft id {worst:,} becomes {target:,}"
    if 0 <= target < read.vocab_size:
        return text
    return f"{text}, outside 0..{read.vocab_size - 1:,}: {facts.map_note or facts.map_outside}"
