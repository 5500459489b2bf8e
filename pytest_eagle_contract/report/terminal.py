"""The section that closes a run in the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import pytest

from pytest_eagle_contract.contracts.result import FILES
from pytest_eagle_contract.errors import one_line
from pytest_eagle_contract.report.text import table
from pytest_eagle_contract.report.verdict import Record, verdict

CELLS = {"passed": "pass", "failed": "FAIL", "unverified": "?", "known": "known"}
FOLLOWS = "(?)"
"""Not judged, because a contract that fails on the same subject names the fault."""

COLOURS = {"pass": "green", "fail": "red", "unverified": "yellow"}
MOST_NOTES = 2


def write(
    terminal: pytest.TerminalReporter,
    records: Sequence[Record],
    engines: Sequence[Record],
    complaints: Sequence[str],
) -> None:
    """Write checkpoint, table, matrix, notes, what is not verified, and the verdict."""
    verbose = terminal.config.get_verbosity() > 0
    terminal.section("EAGLE-3 contracts")
    for line in summary(records):
        terminal.write_line(line)
    if records:
        terminal.write_line("")
        for line in contract_table(records, everything=verbose):
            terminal.write_line(line)
    for block in (
        _matrix(engines),
        _notes(records, verbose),
        known_lines(records),
        _open_block(records),
        _complaints(complaints),
    ):
        if block:
            terminal.write_line("")
            for line in block:
                terminal.write_line(line)
    terminal.write_line("")
    result = verdict(records, complaints)
    terminal.write_line(closing(result, records), **{COLOURS[result]: True, "bold": True})


def contract_table(records: Sequence[Record], *, everything: bool) -> Iterator[str]:
    """Yield the table contract × subject; rows that tell nothing new only on request."""
    head, rows = cells(records)
    shown = [row for row in rows if everything or not quiet(row)]
    if shown:
        yield from table([head, *shown])
    if len(shown) < len(rows):
        yield f"{left_out(rows)} (-v lists them)"


def cells(records: Sequence[Record]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the head and the rows of the table contract × subject."""
    subjects = list(dict.fromkeys(r["subject"] for r in records))
    failing = {(_path(r), r["id"], r["on"]) for r in records if r["outcome"] == "failed"}
    found = {(r["id"], r["subject"]): _cell(r, failing) for r in records}
    ids = dict.fromkeys(r["id"] for r in records)
    return ("contract", *subjects), [(i, *(found.get((i, s), "-") for s in subjects)) for i in ids]


def _cell(record: Record, failing: Collection[tuple[str, str, str]]) -> str:
    named = ((_path(record), by, on) for by in record["blocked_by"] for on in (FILES, record["on"]))
    return FOLLOWS if any(key in failing for key in named) else CELLS[record["outcome"]]


def _path(record: Record) -> str:
    return record["checkpoint"]["path"] if record["checkpoint"] else ""


def quiet(row: tuple[str, ...]) -> bool:
    """Tell whether a contract passes wherever it was judged, or follows from one that fails."""
    return set(row[1:]) <= {"pass", "-", FOLLOWS}


def left_out(rows: Iterable[tuple[str, ...]]) -> str:
    """Count the contracts that need no row of their own."""
    found = [row for row in rows if quiet(row)]
    follow = sum(FOLLOWS in row for row in found)
    count = len(found) - follow
    passing = f"{count} {'contract passes' if count == 1 else 'contracts pass'} on every subject"
    following = f"{follow} {'follows' if follow == 1 else 'follow'} from what fails"
    return f"{passing}, {following}" if follow else passing


def closing(result: str, records: Sequence[Record]) -> str:
    """Return the verdict line with its counts."""
    counts = {outcome: sum(r["outcome"] == outcome for r in records) for outcome in CELLS}
    listed = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n)
    return f"VERDICT: {result.upper()}" + (f" ({listed})" if listed else "")


def summary(records: Sequence[Record]) -> Iterator[str]:
    """Yield what each draft is and was trained on."""
    seen: dict[str, Any] = {
        r["checkpoint"]["path"]: r["checkpoint"] for r in records if r["checkpoint"]
    }
    for path, found in seen.items():
        size = f"{found['draft_vocab_size'] or '?'} of {found['vocab_size'] or '?'} tokens"
        yield f"{one_line(path)}: trainer {found['trainer'] or 'not recognised'}, {size}"
        yield f"trained on boundaries {found['layers']} ({found['evidence']})"


def _matrix(engines: Sequence[Record]) -> list[str]:
    if not engines:
        return []
    drafts = {e["checkpoint"]: e["label"] for e in engines}
    rows = [
        (
            *((e["label"],) if len(drafts) > 1 else ()),
            " ".join(filter(None, (e["name"], e["version"], e["runner"]))),
            e["verdict"],
            f"{e['reasons'][0]}: {_short(e['first'])}" if e["reasons"] else "",
        )
        for e in engines
    ]
    head = ("engine", "verdict", "first reason")
    serving = sum(e["verdict"] == "serves" for e in engines)
    return [
        *table([("draft", *head) if len(drafts) > 1 else head, *rows]),
        f"{serving} of {len(engines)} serve it as trained; --eagle-engine=NAME holds it to one",
    ]


def noted(records: Sequence[Record]) -> list[str]:
    """Return the oddities of contracts that do not fail; those of a failure stand with it."""
    sound = (r for r in records if r["outcome"] not in ("failed", "known"))
    several = len({r["checkpoint"]["path"] for r in records if r["checkpoint"]}) > 1
    found = dict.fromkeys(
        f"{r['id']} [{r['subject']}]: {note}" if several else f"{r['id']}: {note}"
        for r in sound
        for note in r["notes"]
    )
    return list(found)


def _notes(records: Sequence[Record], verbose: bool) -> list[str]:
    listed = [f"note: {line}" for line in noted(records)]
    if verbose or len(listed) <= MOST_NOTES:
        return listed
    return [*listed[:MOST_NOTES], f"{len(listed) - MOST_NOTES} more notes (-v lists them)"]


def known_lines(records: Sequence[Record]) -> list[str]:
    """Return the failures that the user knows of, with the reasons given."""
    found = [r for r in records if r["outcome"] == "known"]
    return [f"known: {r['id']} [{r['subject']}]: {r['known']}" for r in found]


def _open_block(records: Sequence[Record]) -> list[str]:
    count = sum(r["outcome"] == "unverified" for r in records)
    return (
        [f"NOT VERIFIED: {count}", *(f"  {line}" for line in open_lines(records))] if count else []
    )


def open_lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield what was not verified and what would decide it, contracts of one reason together."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for r in (r for r in records if r["outcome"] == "unverified"):
        key = (r["measured"], _way_on(r))
        grouped.setdefault(key, []).append(f"{r['id']} [{r['subject']}]")
    for (measured, way_on), names in grouped.items():
        where = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        yield f"{where}: {measured}{way_on}"


def _way_on(record: Record) -> str:
    if record["blocked_by"]:
        return f" -> follows from {' or '.join(record['blocked_by'])}"
    return f" -> decided by {' or '.join(record['decided_by'])}" if record["decided_by"] else ""


def _complaints(complaints: Sequence[str]) -> list[str]:
    return [f"KNOWN FAILURES: {line}" for line in complaints]


def _short(text: str, limit: int = 90) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
