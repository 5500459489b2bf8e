"""The report as Markdown, for a pull request or a job summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_eagle_contract.report.terminal import (
    cells,
    closing,
    known_lines,
    left_out,
    noted,
    open_lines,
    quiet,
    summary,
)
from pytest_eagle_contract.report.text import LABELS
from pytest_eagle_contract.report.verdict import Record, verdict

TICKS = re.compile("`+")
MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def markdown(
    records: Sequence[Record], engines: Sequence[Record], complaints: Sequence[str]
) -> str:
    """Return the whole report."""
    lines = [
        "## EAGLE-3 contracts",
        "",
        f"**{closing(verdict(records, complaints), records)}**",
        "",
        *(f"{_escaped(line)}\n" for line in summary(records)),
    ]
    if records:
        head, rows = cells(records)
        shown = [row for row in rows if not quiet(row)]
        if shown:
            lines += _head(*map(_escaped, head))
            lines += [_row(_code(id), *map(_escaped, found)) for id, *found in shown]
            lines.append("")
        lines.append(f"{left_out(rows)}.")
    if engines:
        lines += ["", *_head("draft", "engine", "verdict", "reasons")]
        lines += [_row(*_engine(e)) for e in engines]
    for r in records:
        if r["outcome"] == "failed":
            lines += ["", f"### {_code(r['id'])} on {_escaped(r['subject'])}", ""]
            lines += [
                f"- **{label}**: {_code(r[label]) if label == 'repeat' else _escaped(r[label])}"
                for label in LABELS
                if r[label]
            ]
            lines += [f"- **note**: {_escaped(note)}" for note in r["notes"]]
    for title, listed in (
        ("note: ", noted(records)),
        ("", known_lines(records)),
        ("not verified: ", open_lines(records)),
        ("known failures: ", complaints),
    ):
        lines += ["", *(f"- {title}{_escaped(line)}" for line in listed)]
    return "\n".join(lines) + "\n"


def _engine(row: Record) -> Iterator[str]:
    yield _escaped(row["label"])
    yield _escaped(" ".join(filter(None, (row["name"], row["version"], row["runner"]))))
    yield row["verdict"]
    yield ", ".join(map(_code, row["reasons"]))


def _head(*cells: str) -> Iterator[str]:
    yield _row(*cells)
    yield _row(*("---",) * len(cells))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, whatever a checkpoint's names hold."""
    return MARKUP.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    """Return a text as code, fenced by more backticks than it holds in a row.

    Contract ids alone stand in tables, where a bar would end the cell.
    """
    longest = max((len(run) for run in TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"
