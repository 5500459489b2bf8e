"""The token ids of a prompts file: text as it is served, already tokenised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pytest_eagle_contract.checkpoint.files import read_bounded
from pytest_eagle_contract.errors import InputError

MAX_BYTES = 64 * 1024 * 1024
REMEDY = (
    "tokenise the text with the target's tokenizer and write one list of ids a line, as [1, 2] or "
    '{"token_ids": [1, 2]}, with "continuation" for what the target wrote'
)


def token_ids(path: Path) -> Iterator[int]:
    """Yield the ids of each line: the target's continuation, else the prompt itself.

    Text is refused with one line: the static level has no tokenizer.
    """
    lines = read_bounded(path, MAX_BYTES).decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield from _ids(path, f"line {number}", line)


def _ids(path: Path, place: str, line: str) -> list[int]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        meant = line.lstrip().startswith(("{", "["))
        problem = "is not JSON" if meant else "is plain text, and this level counts token ids"
        raise InputError(path, place, problem, REMEDY) from None
    ids = entry.get("continuation", entry.get("token_ids")) if isinstance(entry, dict) else entry
    if not isinstance(ids, list) or not all(type(i) is int for i in ids):
        raise InputError(path, place, "holds no list of token ids", REMEDY)
    return ids
