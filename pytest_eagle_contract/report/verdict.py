"""Turn the records of a run into one verdict and the document that reports share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
FIELDS = (
    "id",
    "subject",
    "outcome",
    "measured",
    "expected",
    "why",
    "fix",
    "incident",
    "notes",
    "needs",
    "blocked_by",
    "known",
    "nodeid",
)
PRIVATE = frozenset({"first", "place", "label", "given"})


def verdict(records: Sequence[Record], complaints: Sequence[str]) -> str:
    """Return `pass`, `fail` or `unverified`.

    Unverified where nothing passed, or where the draft's own meaning could not be decided. A
    capability that was not offered leaves its contracts unverified and the verdict alone.
    """
    if complaints or any(r["outcome"] == "failed" for r in records):
        return "fail"
    if any(r["undecided"] for r in records):
        return "unverified"
    return "pass" if any(r["outcome"] in ("passed", "known") for r in records) else "unverified"


def document(
    records: Sequence[Record], engines: Iterable[Record], complaints: Sequence[str]
) -> dict[str, Any]:
    """Return the report as JSON-ready data, schema 1."""
    summaries = {r["checkpoint"]["path"]: r["checkpoint"] for r in records if r["checkpoint"]}
    found = [_public(s) for s in summaries.values()]
    return {
        "schema": 1,
        "verdict": verdict(records, complaints),
        "checkpoint": found[0] if found else None,
        "checkpoints": found,
        "contracts": [
            {f: r[f] for f in FIELDS}
            | {"checkpoint": r["checkpoint"]["path"] if r["checkpoint"] else None}
            for r in records
        ],
        "engines": [{k: v for k, v in row.items() if k not in PRIVATE} for row in engines],
        "known_failures": list(complaints),
        "acceptance": _acceptance(records),
    }


def _acceptance(records: Sequence[Record]) -> dict[str, Any] | None:
    """Return what the first engine is predicted to accept; nothing is measured live here."""
    found = next((r["data"] for r in records if r["data"]), None)
    return None if found is None else {"predicted": found, "live": None}


def _public(summary: Record) -> dict[str, Any]:
    return {k: v for k, v in summary.items() if k not in ("layers", "evidence")}
