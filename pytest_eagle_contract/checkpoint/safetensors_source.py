"""Read safetensors files: every header is checked first, bytes are read only when asked for."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pytest_eagle_contract.checkpoint import files
from pytest_eagle_contract.checkpoint.dtypes import decoded, stored_type
from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_HEADER = 8 * 1024 * 1024
"""A draft's header has a few kilobytes; one of this size takes seconds to parse."""

MAX_DIMENSION = 2**63 - 1
PREFIX = 8
"""The header's length comes first, in eight bytes."""

LFS = b"version https://git-lfs"
AGAIN = "download or export the file again"


@dataclass(frozen=True, slots=True)
class Stored:
    """Pair a tensor's description with the place of its first byte in the file."""

    info: TensorInfo
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class SafetensorsSource:
    """Read tensors from one or several safetensors files."""

    stored: Mapping[str, Stored]

    def infos(self) -> Iterator[TensorInfo]:
        """Yield every tensor's description, from headers alone."""
        return (stored.info for stored in self.stored.values())

    def read(
        self, name: str, start: int | None = None, stop: int | None = None
    ) -> NDArray[np.generic]:
        """Return rows `start:stop` of the first dimension, the whole tensor without bounds.

        Bounds follow Python's slices. A file that shrank since its header was read, or a tensor
        too large for memory, raises InputError.
        """
        stored = self.stored[name]
        begin, end, shape = _rows(stored, start, stop)
        values = self._bytes(stored.info, begin, end)
        try:
            return values.reshape(shape)
        # A header may announce more dimensions than an array can have.
        except ValueError as error:
            problem = f"has {len(shape)} dimensions"
            raise InputError(stored.info.file, name, problem, "store it flat") from error

    def read_flat(self, name: str, start: int, stop: int) -> NDArray[np.generic]:
        """Return values `start:stop` of the flattened tensor, read from their own place."""
        stored = self.stored[name]
        size = stored_type(stored.info.dtype, stored.info.file, name).itemsize
        return self._bytes(stored.info, stored.begin + start * size, stored.begin + stop * size)

    def _bytes(self, info: TensorInfo, begin: int, end: int) -> NDArray[np.generic]:
        """Return the values that lie between two places of the file."""
        import numpy as np

        try:
            with files.open_regular(info.file) as file:
                file.seek(begin)
                data = np.fromfile(file, dtype=np.uint8, count=end - begin)
            if data.size != end - begin:
                raise InputError(info.file, info.name, "is truncated", AGAIN)
            return decoded(data, info.dtype, info.file, info.name)
        except MemoryError as error:
            raise InputError(
                info.file, info.name, f"needs {end - begin} bytes", "run where more memory is free"
            ) from error
        except OSError as error:
            raise files.unreadable(info.file, error) from error


def open_safetensors(
    paths: tuple[Path, ...], index: Mapping[str, str] | None = None
) -> SafetensorsSource:
    """Read the headers of `paths`; `index` maps tensors to file names where an index lists them.

    A file that safetensors refuses, a tensor stored twice or one that the index seeks in vain
    raises InputError.
    """
    stored: dict[str, Stored] = {}
    for path in paths:
        for item in _read_header(path):
            name = item.info.name
            if name in stored:
                other = stored[name].info.file.name
                raise InputError(path, name, f"is also in {other}", "keep one of the two")
            stored[name] = item
    check_index(index, {name: item.info.file for name, item in stored.items()}, paths)
    return SafetensorsSource(stored)


def check_index(
    index: Mapping[str, str] | None, places: Mapping[str, Path], paths: tuple[Path, ...]
) -> None:
    """Raise InputError where an index names a tensor that its shard does not hold."""
    for name, shard in (index or {}).items():
        if name not in places or places[name].name != shard:
            where = paths[0].with_name(shard)
            raise InputError(where, name, "is in the index but not in this shard", AGAIN)


def _rows(stored: Stored, start: int | None, stop: int | None) -> tuple[int, int, tuple[int, ...]]:
    """Turn row bounds into byte bounds and the shape of what lies between."""
    shape = stored.info.shape
    if not shape or (start is None and stop is None):
        return stored.begin, stored.end, shape
    first, last, _ = slice(start, stop).indices(shape[0])
    last = max(first, last)
    row = (stored.end - stored.begin) // shape[0] if shape[0] else 0
    return stored.begin + first * row, stored.begin + last * row, (last - first, *shape[1:])


def _read_header(path: Path) -> list[Stored]:
    with files.open_regular(path) as file:
        try:
            header = _header_bytes(path, file)
        except OSError as error:
            raise files.unreadable(path, error) from error
    _validate(path)
    return [
        _stored(path, name, entry, PREFIX + len(header))
        for name, entry in _entries(path, header).items()
        if name != "__metadata__"
    ]


def _header_bytes(path: Path, file: BinaryIO) -> bytes:
    """Return the header once its stated length is known to be sane."""
    size = files.size_of(file)
    start = file.read(len(LFS))
    if start == LFS:
        raise InputError(path, "", "is a Git LFS pointer, not the weights", "run `git lfs pull`")
    if len(start) < PREFIX:
        raise InputError(path, "header", f"is cut off: the file has {size} bytes", AGAIN)
    (length,) = struct.unpack("<Q", start[:PREFIX])
    if length > size - PREFIX:
        problem = f"claims {length} bytes but the file has {size}"
        raise InputError(path, "header", problem, AGAIN)
    if length > MAX_HEADER:
        problem = f"is {length} bytes long, the limit is {MAX_HEADER}"
        raise InputError(path, "header", problem, "store fewer tensors or less metadata in it")
    file.seek(PREFIX)
    return file.read(length)


def _validate(path: Path) -> None:
    """Let the library that the engines load with judge types, shapes and offsets."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise InputError(path, "", "needs safetensors", "pip install safetensors") from error
    try:
        with safe_open(path, framework="numpy"):
            pass
    except (SafetensorError, OSError, ValueError, OverflowError, MemoryError) as error:
        raise InputError(path, "header", f"is refused by safetensors ({error})", AGAIN) from error


def _entries(path: Path, header: bytes) -> dict[str, object]:
    """Parse the header; a repeated name is an error, for safetensors hides all but one."""
    try:
        parsed: dict[str, object] = json.loads(header.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise InputError(path, "header", f"cannot be used ({error})", AGAIN) from error
    return parsed


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{repeated} stands twice")
    return table


def _stored(path: Path, name: str, entry: object, origin: int) -> Stored:
    match entry:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(begin), int(end)]}:
            sizes = tuple(v for v in shape if isinstance(v, int) and v <= MAX_DIMENSION)
            if len(sizes) == len(shape):
                info = TensorInfo(name, dtype, sizes, path)
                return Stored(info, origin + begin, origin + end)
    raise InputError(path, name, "has a malformed header entry", AGAIN)
