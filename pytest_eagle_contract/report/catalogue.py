"""The page of all contracts.

`python -m pytest_eagle_contract.report.catalogue > docs/contracts.md` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from pytest_eagle_contract.contracts.catalogue import FAMILIES, Contract
from pytest_eagle_contract.contracts.shipped import shipped

SUBJECTS = {
    "files": "the checkpoint's files",
    "engine": "each engine",
    "function": "the fixture `eagle_map_draft_ids`",
}


def page() -> str:
    """Return every shipped contract as Markdown, from the docstrings of their checks."""
    contracts = shipped()
    lines = [
        "# Contracts",
        "",
        "One id is one promise. A contract is checked on the checkpoint's files, on each engine,",
        "or on a mapping function of yours; select one with `-k mapping.offsets`. This page is",
        "generated from the docstrings by `python -m pytest_eagle_contract.report.catalogue`.",
    ]
    for family in FAMILIES:
        mine = [c for c in contracts if c.family == family]
        if mine:
            lines += ["", f"## {family}"]
            for id in dict.fromkeys(c.id for c in mine):
                lines += _entry(id, [c for c in mine if c.id == id])
    return "\n".join(lines) + "\n"


def _entry(id: str, contracts: list[Contract]) -> Iterator[str]:
    yield from ("", f"### `{id}`")
    for contract in contracts:
        yield from (
            "",
            f"**On {SUBJECTS[contract.subject]}.** {contract.promise}",
            "",
            f"- Why: {contract.why}",
            f"- Incident: {contract.incident}",
            f"- Fix: {contract.fix}",
            f"- Since: {contract.since}",
        )


if __name__ == "__main__":
    sys.stdout.write(page())
