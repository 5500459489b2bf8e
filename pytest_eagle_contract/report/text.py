"""Write outcomes for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

WIDTH = 100
LABELS = ("measured", "expected", "why", "fix", "incident", "repeat")


class Writer(Protocol):
    """Name what is used of pytest's terminal writer."""

    def line(self, text: str) -> None:
        """Write one line."""


@dataclass(frozen=True, slots=True)
class Crash:
    """Hold a failure in one line, where pytest looks for it."""

    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Block:
    """Hold a failure's block and the line that stands for it in summaries and JUnit messages.

    Of plain text, pytest repeats the whole block there when it runs in CI.
    """

    text: str
    reprcrash: Crash

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Writer) -> None:
        """Write the block, as pytest asks for it."""
        writer.line(self.text)


def failure_text(record: Mapping[str, Any], promise: str) -> str:
    """Return a failed contract as a block.

    It says what was measured, promised, expected and noted, why it matters, and what to do.
    """
    # pytest names the item above the block, and repeats the first line in its short summary.
    lines = [*_wrapped(str(record["measured"])), *_field("promise", promise)]
    for label in LABELS[1:-1]:
        if record.get(label):
            lines += _field(label, str(record[label]))
        if label == "expected":
            for note in record.get("notes", ()):
                lines += _field("note", str(note))
    return "\n".join([*lines, f"{_head('repeat')}{record['repeat']}"])


def _field(label: str, text: str) -> list[str]:
    return _wrapped(text, _head(label))


def _head(label: str) -> str:
    return f"  {label + ':':<10}"


def _wrapped(text: str, head: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return rows as aligned columns; the first row is the head."""
    listed = [tuple(map(str, row)) for row in rows]
    widths = [max(len(row[i]) for row in listed) for i in range(len(listed[0]))]
    return [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in listed
    ]
