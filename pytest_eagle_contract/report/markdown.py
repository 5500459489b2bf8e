"""The report as Markdown, for a pull request or a job summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_eagle_contract.report.terminal import CELLS, closing
from pytest_eagle_contract.report.verdict import Record, verdict


def markdown(
    records: Sequence[Record], engines: Sequence[Record], complaints: Sequence[str]
) -> str:
    """Return the whole report."""
    lines = [
        "## EAGLE-3 contracts",
        "",
        f"**{closing(verdict(records, complaints), records)}**",
        "",
    ]
    if records:
        subjects = list(dict.fromkeys(r["subject"] for r in records))
        cells = {(r["id"], r["subject"]): CELLS[r["outcome"]] for r in records}
        lines += list(_rows(("contract", *subjects)))
        for id in dict.fromkeys(r["id"] for r in records):
            lines.append(_row((f"`{id}`", *(cells.get((id, s), "-") for s in subjects))))
    if engines:
        lines += ["", *_rows(("engine", "verdict", "reasons"))]
        lines += [
            _row(
                (
                    f"{e['name']} {e['version']} {e['runner'] or ''}",
                    e["verdict"],
                    ", ".join(e["reasons"]),
                )
            )
            for e in engines
        ]
    for r in records:
        if r["outcome"] == "failed":
            lines += ["", f"### `{r['id']}` on {r['subject']}", ""]
            lines += [
                f"- **{label}**: {_escaped(r[label])}"
                for label in ("measured", "expected", "why", "fix", "incident", "repeat")
                if r[label]
            ]
    lines += ["", *(f"- known failures: {_escaped(c)}" for c in complaints)] if complaints else []
    return "\n".join(lines) + "\n"


def _rows(head: tuple[str, ...]) -> Iterator[str]:
    yield _row(head)
    yield _row(("---",) * len(head))


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_escaped(c).strip() for c in cells) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
