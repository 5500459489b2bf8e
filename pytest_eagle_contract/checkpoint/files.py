"""Open files that may be missing, hostile or no files at all, in bounded time and memory."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import BinaryIO

from pytest_eagle_contract.errors import InputError

MAX_JSON = 16 * 1024 * 1024


def kind(path: Path) -> str:
    """Return `file`, `directory`, `missing` or what else stands at `path`, links followed.

    A path that the system refuses to look at (a loop, no permission, an impossible name) raises
    InputError.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "dangling link" if os.path.islink(path) else "missing"
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "named pipe" if stat.S_ISFIFO(mode) else "device or socket"


def require_file(path: Path) -> None:
    """Raise InputError unless a regular file stands at `path`, links followed."""
    found = kind(path)
    if found == "missing":
        raise InputError(path, "", "is missing", "check the path, or copy the file again")
    if found != "file":
        raise InputError(path, "", f"is a {found}, not a file", "put the real file there")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; anything else raises InputError and never blocks."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    require_file(path)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    # A rename may have come in between, so the open file itself is asked again.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(path, "", "is not a regular file", "put the real file there")
    return os.fdopen(descriptor, "rb")


def size_of(file: BinaryIO) -> int:
    """Return the length of an open file in bytes."""
    return os.fstat(file.fileno()).st_size


def read_bounded(path: Path, limit: int = MAX_JSON) -> bytes:
    """Return a regular file's bytes; more than `limit` of them raise InputError."""
    with open_regular(path) as file:
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise unreadable(path, error) from error
    if len(data) > limit:
        raise InputError(
            path, "", f"is larger than {limit} bytes", "check that it is the right file"
        )
    return data


def read_json(path: Path) -> dict[str, object]:
    """Return the object that a JSON file holds; anything else raises InputError.

    A repeated key keeps its last value and NaN is a number, as in Python's own reader, which the
    engines use.
    """
    return parse_json(path, read_bounded(path))


def parse_json(path: Path, data: bytes) -> dict[str, object]:
    """Return the object that JSON bytes read from `path` hold; anything else raises InputError."""
    remedy = "write the file again as UTF-8 JSON"
    try:
        value: object = json.loads(data.decode("utf-8"))
    except RecursionError as error:
        raise InputError(path, "", "is nested too deeply", remedy) from error
    except ValueError as error:
        raise InputError(path, "", f"is not JSON ({error})", remedy) from error
    if not isinstance(value, dict):
        found = type(value).__name__
        raise InputError(path, "", f"is no JSON object but {found}", "write { at the top level")
    return value


def children(path: Path) -> tuple[str, ...]:
    """Return the names found directly in a directory, sorted; InputError if it cannot be listed."""
    try:
        return tuple(sorted(os.listdir(path)))
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> InputError:
    """Turn what the system said about `path` into an InputError."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(path, "", f"cannot be read ({reason})", "check the path and its permissions")
