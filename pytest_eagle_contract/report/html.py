"""The report as one HTML page, without a script or anything to load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from pytest_eagle_contract.report.terminal import (
    cells,
    closing,
    known_lines,
    noted,
    open_lines,
    summary,
)
from pytest_eagle_contract.report.text import LABELS
from pytest_eagle_contract.report.verdict import Record, verdict

STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid #8886; padding: .2rem .6rem; text-align: left; vertical-align: top; }
code, td:first-child { font-family: ui-monospace, monospace; font-size: .93em; }
dt { font-weight: 600; } dd { margin: 0 0 .4rem 1.5rem; overflow-wrap: anywhere; }
.pass, .serves { color: #1a7f37; } .fail, .breaks, .degraded { color: #cf222e; font-weight: 600; }
.unverified, .unknown, .known { color: #9a6700; }
"""
CLASSES = {"pass": "pass", "FAIL": "fail", "?": "unverified", "(?)": "unverified", "known": "known"}


def page(records: Sequence[Record], engines: Sequence[Record], complaints: Sequence[str]) -> str:
    """Return the whole report."""
    result = verdict(records, complaints)
    title = closing(result, records)
    body = [
        f'<h1 class="{result}">{escape(title)}</h1>',
        *(f"<p>{escape(line)}</p>" for line in summary(records)),
        *_contracts(records),
        *_matrix(engines),
        *_failures(records),
        *_list("Known to fail", known_lines(records)),
        *_list("Not verified", open_lines(records)),
        *_list("Known failures", complaints),
        *_list("Notes", noted(records)),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    parts = ["<!doctype html>", f'<html lang="en"><head>{head}</head><body>', *body]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _contracts(records: Sequence[Record]) -> Iterator[str]:
    if records:
        head, rows = cells(records)
        yield from _table(head, rows, CLASSES)


def _matrix(engines: Sequence[Record]) -> Iterator[str]:
    if engines:
        rows = [
            (
                " ".join(filter(None, (e["name"], e["version"], e["runner"]))),
                e["label"],
                e["verdict"],
                f"{e['reasons'][0]}: {e['first']}" if e["reasons"] else "",
            )
            for e in engines
        ]
        yield "<h2>Engines</h2>"
        classes = {verdict: verdict for _, _, verdict, _ in rows}
        yield from _table(("engine", "draft", "verdict", "first reason"), rows, classes)


def _failures(records: Sequence[Record]) -> Iterator[str]:
    for r in records:
        if r["outcome"] == "failed":
            yield f"<h2><code>{escape(r['id'])}</code> on {escape(r['subject'])}</h2><dl>"
            for label in LABELS:
                if r[label]:
                    shown = escape(r[label])
                    shown = f"<code>{shown}</code>" if label == "repeat" else shown
                    yield f"<dt>{label}</dt><dd>{shown}</dd>"
            yield from (f"<dt>note</dt><dd>{escape(note)}</dd>" for note in r["notes"])
            yield "</dl>"


def _table(
    head: Iterable[str], rows: Iterable[Sequence[str]], classes: dict[str, str]
) -> Iterator[str]:
    yield "<table><thead><tr>" + "".join(f"<th>{escape(c)}</th>" for c in head) + "</tr></thead>"
    for row in rows:
        yield "<tr>" + "".join(_cell(c, classes.get(c, "")) for c in row) + "</tr>"
    yield "</table>"


def _cell(text: str, kind: str) -> str:
    return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        items = "".join(f"<li>{escape(line)}</li>" for line in listed)
        yield f"<h2>{title}</h2><ul>{items}</ul>"
