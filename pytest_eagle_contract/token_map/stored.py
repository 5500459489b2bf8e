"""A map as a file stores it, before anyone decides what its numbers mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.errors import InputError

if TYPE_CHECKING:
    from pytest_eagle_contract.checkpoint.model import Checkpoint, TensorInfo

MAX_ENTRIES = 2**22
"""Sixteen times the largest vocabulary known (262,144): more is a corrupt or hostile header."""

MAX_SHOWN = 4
NO_MASK = "holds numbers other than 0 and 1"
MAP_NAMES = ("d2t", "draft_id_to_target_id")
MASK_NAMES = ("t2d",)


@dataclass(frozen=True, slots=True, eq=False)
class StoredMap:
    """Hold the numbers of a map as stored, and the mask beside them.

    `values` is [D] in the stored dtype, whose safetensors code is `dtype`. `kind` is the name that
    the file gives them: `d2t`, `selected_token_ids`, `token map`, or `bare tensor` where it gives
    none. `mask` is t2d, bool [V]. `target_vocab_size` is V where the file states it. `problem` says
    why the numbers are no map, whose `values` then lie flat or are left out, and `mask_problem` why
    a stored t2d gave no `mask`.
    """

    values: NDArray[np.generic]
    dtype: str
    kind: str
    where: str
    mask: NDArray[np.bool_] | None = None
    mask_where: str = ""
    target_vocab_size: int | None = None
    problem: str = ""
    mask_problem: str = ""

    def __len__(self) -> int:
        return int(self.values.size)


def stored_in_checkpoint(checkpoint: Checkpoint) -> StoredMap | None:
    """Return the d2t of a checkpoint with its t2d, under any prefix; None where there is no d2t.

    A tensor beyond MAX_ENTRIES is refused before it is read, and so are several tensors of one
    meaning that differ: InputError names them. Another fault is the map's `problem`.
    """
    found = _only(checkpoint, MAP_NAMES)
    if found is None:
        return None
    info, values = found
    where, problem = _place(info), _shape_problem(info.shape)
    masked = _only(checkpoint, MASK_NAMES)
    mask, mask_where, mask_problem = None, "", ""
    if masked is not None:
        mask_where, mask = _place(masked[0]), _mask(masked[1])
        mask_problem = _shape_problem(masked[0].shape) or ("" if mask is not None else NO_MASK)
    return StoredMap(
        values=values,
        dtype=info.dtype,
        kind="d2t",
        where=where,
        mask=None if mask_problem else mask,
        mask_where=mask_where,
        problem=f"{where} {problem}" if problem else "",
        mask_problem=f"{mask_where} {mask_problem}" if mask_problem else "",
    )


def _place(info: TensorInfo) -> str:
    return f"{info.file.name}: {info.name}"


def _only(
    checkpoint: Checkpoint, names: Iterable[str]
) -> tuple[TensorInfo, NDArray[np.generic]] | None:
    infos = [i for i in checkpoint.tensors.values() if i.name.rsplit(".", 1)[-1] in names]
    if not infos:
        return None
    for info in infos:
        _refuse_size(info.shape, info.file, info.name)
    # Flat, for a header may announce more dimensions than an array can have.
    first, *others = (checkpoint.read_flat(i.name, 0, math.prod(i.shape)) for i in infos)
    if not all(np.array_equal(first, other) for other in others):
        listed = ", ".join(i.name for i in infos)
        raise InputError(
            checkpoint.path, listed, "hold different values for one map", "keep the right one only"
        )
    return infos[0], first


def check_shape(shape: tuple[int, ...], path: Path, field: str) -> None:
    """Refuse a shape that no map or mask has; call it on a header, before reading."""
    _refuse_size(shape, path, field)
    problem = _shape_problem(shape)
    if problem:
        raise InputError(path, field, problem, "give one number for each id of a vocabulary")


def _refuse_size(shape: tuple[int, ...], path: Path, field: str) -> None:
    entries = math.prod(shape)
    if entries > MAX_ENTRIES:
        remedy = f"no vocabulary is larger than {MAX_ENTRIES:,}: the file is damaged"
        raise InputError(path, field, f"announces {entries:,} entries", remedy)


def _shape_problem(shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return "" if shape[0] else "is empty"
    more = [", …"] if len(shape) > MAX_SHOWN else []
    return f"has shape [{', '.join(map(str, shape[:MAX_SHOWN]))}{''.join(more)}], not one dimension"


def as_mask(values: object, path: Path, field: str) -> NDArray[np.bool_]:
    """Return a stored t2d as bool [V]; other numbers than 0 and 1 raise InputError."""
    mask = _mask(np.asarray(values))
    if mask is None:
        raise InputError(path, field, NO_MASK, "t2d is a mask over the target's ids")
    return mask


def _mask(stored: NDArray[np.generic]) -> NDArray[np.bool_] | None:
    if stored.dtype.kind == "c":
        return None
    # A NaN may warn of itself.
    with np.errstate(invalid="ignore"):
        mask = stored.astype(bool)
        same = stored.dtype == bool or np.array_equal(stored.astype(np.float64), mask)
    return mask if same else None


def as_integers(values: NDArray[np.generic]) -> NDArray[np.int64] | None:
    """Return stored numbers as int64 [D], None where one is no integer or does not fit."""
    if values.dtype.kind in "bi":
        return values.astype(np.int64)
    if values.dtype.kind == "u":
        fits = not values.size or int(values.max()) < 2**63
        return values.astype(np.int64) if fits else None
    if values.dtype.kind == "c":
        return None
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float64)
    if not np.all(np.abs(wide) < 2.0**63) or np.any(wide != np.floor(wide)):
        return None
    return wide.astype(np.int64)
