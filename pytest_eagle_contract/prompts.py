"""Prompts as they are served: token ids, with the target's continuation where it is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_eagle_contract.checkpoint.files import read_bounded
from pytest_eagle_contract.errors import InputError

MAX_BYTES = 64 * 1024 * 1024
REMEDY = (
    "tokenise the text with the target's tokenizer and write one list of ids a line, as [1, 2] or "
    '{"token_ids": [1, 2]}, with "continuation" for what the target wrote'
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Hold token ids as served, and the target's own greedy continuation, () where not known."""

    token_ids: tuple[int, ...]
    continuation: tuple[int, ...] = ()

    @property
    def written(self) -> tuple[int, ...]:
        """Return what stands for the target's text: its continuation, else the prompt itself."""
        return self.continuation or self.token_ids


def read_prompts(path: Path) -> Iterator[Prompt]:
    """Yield the prompt of each line; text is refused with one line, for there is no tokenizer."""
    lines = read_bounded(path, MAX_BYTES).decode("utf-8-sig", errors="replace").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _prompt(path, f"line {number}", line)


def _prompt(path: Path, place: str, line: str) -> Prompt:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        meant = line.lstrip().startswith(("{", "["))
        problem = "is not JSON" if meant else "is plain text, and this level counts token ids"
        raise InputError(path, place, problem, REMEDY) from None
    table = entry if isinstance(entry, dict) else {"token_ids": entry}
    written = _ids(path, place, table.get("continuation", []))
    # A line may hold what the target wrote alone, which is enough to count its tokens.
    given = _ids(path, place, table.get("token_ids", [] if written else None))
    return Prompt(given, written)


def _ids(path: Path, place: str, ids: object) -> tuple[int, ...]:
    if not isinstance(ids, list) or not all(type(i) is int for i in ids):
        raise InputError(path, place, "holds no list of token ids", REMEDY)
    return tuple(ids)
