"""The one error that bad input raises."""

from __future__ import annotations

import re
from pathlib import Path

MAX_PART = 240
COMMAND = re.compile(r"(?<!\S)(:|#)(:|#\[)(?=\w)")
"""How a line of a log begins that GitHub runs as a command, `::add-mask::` or `##[group]`."""


class InputError(ValueError):
    """Say in one line which file and field cannot be used, and what to do about it.

    Raised for everything a user can hand us: missing, truncated, hostile or mistyped input. The
    plugin turns it into exit code 4 or a failed contract; a traceback never reaches the user.
    """

    def __init__(self, path: Path | str, field: str, problem: str, remedy: str) -> None:
        self.path = str(path)
        self.field = field
        self.problem = problem
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.path}: {self.field}" if self.field else self.path
        # A very long path or message must not push the remedy out of the line.
        if len(place) > MAX_PART:
            place = "…" + place[1 - MAX_PART :]
        return one_line(f"{place}: {one_line(self.problem, MAX_PART)}; {self.remedy}")


def one_line(text: str, limit: int = 600) -> str:
    """Fold text to one printable line of at most `limit` characters, which no log obeys."""
    start = text[: 4 * limit]
    if not start.isprintable():
        start = "".join(c if c.isprintable() else " " for c in start)
    folded = COMMAND.sub(r"\1 \2", " ".join(start.split()))
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"
