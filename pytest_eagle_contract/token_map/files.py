"""Read a token map from the file that a trainer or engine keeps beside a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.checkpoint import files
from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.checkpoint.dtypes import TORCH as CODES
from pytest_eagle_contract.checkpoint.model import Checkpoint
from pytest_eagle_contract.checkpoint.safetensors_source import open_safetensors
from pytest_eagle_contract.checkpoint.torch_source import load_pickle
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.token_map.stored import (
    MAP_NAMES,
    MASK_NAMES,
    MAX_ENTRIES,
    StoredMap,
    as_mask,
    check_shape,
    stored_in_checkpoint,
)

MAX_JSON = 16 * MAX_ENTRIES
SIZE_NAMES = ("target_vocab_size", "vocab_size")
KINDS = {
    **dict.fromkeys(MAP_NAMES, "d2t"),
    "selected_token_ids": "selected_token_ids",
    "hot_token_id": "token map",
    "token_map": "token map",
}
"""Keys that hold a map, in the order they are looked for, and the kind each makes it."""

BARE_KINDS = (("d2t", "d2t"), ("token_map", "token map"), ("hot", "token map"))
"""What the file name of a bare tensor says it is."""

FORMS = "d2t with t2d, selected_token_ids, a list or 1-D tensor of ids"
REMEDY = f"give a map: {FORMS}"


def stored_in_file(path: str | Path) -> StoredMap:
    """Return the map that a side file stores.

    `.pt` and `.json` hold `{"d2t", "t2d"}` (SpecForge, AngelSlim, EAGLE), `{"selected_token_ids",
    "target_vocab_size"}` (Automodel), a bare d2t (Model-Optimizer) or a list or tensor of absolute
    ids (SGLang, FR-Spec). `.npy` holds d2t with t2d.npy beside it (speculators), `.safetensors`
    d2t and t2d under any prefix. A directory stands for the one such file in it. Everything else
    raises InputError.
    """
    found = Path(path)
    if files.kind(found) == "directory":
        found = _inside(found)
    files.require_file(found)
    reader = READERS.get(found.suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise InputError(found, "", f"has an unknown ending {found.suffix!r}", f"use {known}")
    return reader(found)


def stored_beside(path: Path) -> StoredMap:
    """Return the map of a side file that nobody named; one that cannot be used says its problem."""
    try:
        return stored_in_file(path)
    except InputError as error:
        return StoredMap(np.zeros(0, np.int64), "I64", "d2t", path.name, problem=str(error))


def _inside(directory: Path) -> Path:
    names = files.children(directory)
    if "d2t.npy" in names:
        return directory / "d2t.npy"
    # A checkpoint directory is full of .json files: none of them is taken for a map.
    maps = [n for n in names if Path(n).suffix.lower() in READERS and not n.endswith(".json")]
    if len(maps) != 1:
        problem = f"holds {', '.join(maps[:5]) or 'no map'}"
        raise InputError(directory, "", problem, "name the map file itself")
    return directory / maps[0]


def _read_npy(path: Path) -> StoredMap:
    values = _npy(path)
    beside = path.with_name(path.name.replace("d2t", "t2d"))
    mask = as_mask(_npy(beside), beside, "") if _stands(beside, path) else None
    return StoredMap(
        values=values,
        dtype=_code(values, path, ""),
        kind=_bare_kind(path),
        where=path.name,
        mask=mask,
        mask_where=beside.name if mask is not None else "",
    )


def _stands(beside: Path, path: Path) -> bool:
    return beside != path and files.kind(beside) != "missing"


def _npy(path: Path) -> NDArray[np.generic]:
    headers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    with files.open_regular(path) as file:
        # The header is Python source that numpy parses: any error it lets out means a bad file.
        try:
            shape, _, dtype = headers[np.lib.format.read_magic(file)](file)
        except Exception as error:
            problem = f"is no .npy file ({error})"
            raise InputError(path, "", problem, "save it with np.save") from error
        if dtype.kind not in "biuf":
            raise InputError(path, "", f"holds {dtype}, not numbers", "save an int64 array")
        check_shape(shape, path, "")
        try:
            values = np.fromfile(file, dtype=dtype, count=shape[0])
        except OSError as error:
            raise files.unreadable(path, error) from error
    if values.size != shape[0]:
        problem = f"announces {shape[0]:,} entries and holds {values.size:,}"
        raise InputError(path, "", problem, "copy it again")
    return values.astype(dtype.newbyteorder("="), copy=False)


def _read_pickle(path: Path) -> StoredMap:
    return _from_python(load_pickle(path), path)


def _read_json(path: Path) -> StoredMap:
    data = files.read_bounded(path, MAX_JSON)
    try:
        content: object = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(path, "", f"is not JSON ({error})", REMEDY) from error
    return _from_python(content, path)


def _read_safetensors(path: Path) -> StoredMap:
    source = open_safetensors((path,))
    tensors = {info.name: info for info in source.infos()}
    bare = Checkpoint(path, path.parent, "safetensors", Config(path, {}), tensors, (), source)
    stored = stored_in_checkpoint(bare)
    if stored is None:
        raise InputError(path, "", "holds no d2t", REMEDY)
    fault = stored.problem or stored.mask_problem
    if fault:
        raise InputError(path, "", fault.removeprefix(f"{path.name}: "), REMEDY)
    return stored


READERS: Mapping[str, Callable[[Path], StoredMap]] = {
    ".pt": _read_pickle,
    ".pth": _read_pickle,
    ".bin": _read_pickle,
    ".npy": _read_npy,
    ".json": _read_json,
    ".safetensors": _read_safetensors,
}


def _from_python(content: object, path: Path) -> StoredMap:
    if not isinstance(content, Mapping):
        values = _array(content, path, "")
        kind = "token map" if isinstance(content, list | tuple) else _bare_kind(path)
        return StoredMap(values, _code(values, path, ""), kind, path.name)
    key = next((k for k in KINDS if k in content), None)
    if key is None:
        listed = ", ".join(str(k) for k in list(content)[:5]) or "nothing"
        raise InputError(path, "", f"holds {listed}", REMEDY)
    values = _array(content[key], path, key)
    mask_key = next((k for k in MASK_NAMES if content.get(k) is not None), None)
    mask = None
    if mask_key is not None:
        mask = as_mask(_array(content[mask_key], path, mask_key), path, mask_key)
    return StoredMap(
        values=values,
        dtype=_code(values, path, key),
        kind=KINDS[key],
        where=f"{path.name}: {key}",
        mask=mask,
        mask_where=f"{path.name}: {mask_key}" if mask_key else "",
        target_vocab_size=_size(content, path),
    )


def _array(value: object, path: Path, field: str) -> NDArray[np.generic]:
    """Return a 1-D array of numbers from an array or a flat list."""
    if isinstance(value, list | tuple):
        # Counted and looked at first: a pickle may share one huge list a million times.
        check_shape((len(value),), path, field)
        if all(isinstance(v, int | float) or getattr(v, "ndim", None) == 0 for v in value):
            value = np.asarray(value)
    if not isinstance(value, np.ndarray) or value.dtype.kind == "O":
        raise InputError(path, field, f"is a {type(value).__name__} of no numbers", REMEDY)
    check_shape(value.shape, path, field)
    return value


def _code(values: NDArray[np.generic], path: Path, field: str) -> str:
    code = CODES.get(values.dtype.name)
    if code is None:
        raise InputError(path, field, f"has dtype {values.dtype}", "store int64")
    return code


def _size(content: Mapping[str, object], path: Path) -> int | None:
    key = next((k for k in SIZE_NAMES if content.get(k) is not None), None)
    if key is None:
        return None
    value = content[key]
    number = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(path, key, f"is {number!r}", "write the target's vocabulary size")
    return number


def _bare_kind(path: Path) -> str:
    name = path.name.lower()
    return next((kind for part, kind in BARE_KINDS if part in name), "bare tensor")
