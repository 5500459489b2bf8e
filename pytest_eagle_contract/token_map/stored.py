"""A map as a file stores it, before anyone decides what its numbers mean."""

from __future__ import annotations

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

MAP_NAMES = ("d2t", "draft_id_to_target_id")
MASK_NAMES = ("t2d",)


@dataclass(frozen=True, slots=True, eq=False)
class StoredMap:
    """Hold the numbers of a map as stored, and the mask beside them.

    `values` is [D] in the stored dtype, whose safetensors code is `dtype`. `kind` is the name that
    the file gives them: `d2t`, `selected_token_ids`, `token map`, or `bare tensor` where it gives
    none. `mask` is t2d, bool [V]. `target_vocab_size` is V where the file states it.
    """

    values: NDArray[np.generic]
    dtype: str
    kind: str
    where: str
    mask: NDArray[np.bool_] | None = None
    mask_where: str = ""
    target_vocab_size: int | None = None

    def __len__(self) -> int:
        return int(self.values.size)


def stored_in_checkpoint(checkpoint: Checkpoint) -> StoredMap | None:
    """Return the d2t of a checkpoint with its t2d, under any prefix; None where there is no d2t.

    A tensor that is not 1-D, empty or beyond MAX_ENTRIES is refused before it is read, and so are
    several tensors of one meaning that differ: InputError names them.
    """
    found = _only(checkpoint, MAP_NAMES)
    if found is None:
        return None
    info, values = found
    masked = _only(checkpoint, MASK_NAMES)
    mask_info, mask = masked if masked is not None else (None, None)
    return StoredMap(
        values=values,
        dtype=info.dtype,
        kind="d2t",
        where=f"{info.file.name}: {info.name}",
        mask=None if mask_info is None else as_mask(mask, mask_info.file, mask_info.name),
        mask_where="" if mask_info is None else f"{mask_info.file.name}: {mask_info.name}",
    )


def _only(
    checkpoint: Checkpoint, names: Iterable[str]
) -> tuple[TensorInfo, NDArray[np.generic]] | None:
    infos = [i for i in checkpoint.tensors.values() if i.name.rsplit(".", 1)[-1] in names]
    if not infos:
        return None
    for info in infos:
        check_shape(info.shape, info.file, info.name)
    first, *others = (checkpoint.read(i.name) for i in infos)
    if not all(np.array_equal(first, other) for other in others):
        listed = ", ".join(i.name for i in infos)
        raise InputError(
            checkpoint.path, listed, "hold different values for one map", "keep the right one only"
        )
    return infos[0], first


def check_shape(shape: tuple[int, ...], path: Path, field: str) -> None:
    """Refuse a shape that no map or mask has; call it on a header, before reading."""
    if len(shape) != 1:
        problem, remedy = f"has shape {list(shape)}", "a token map has one dimension"
    elif shape[0] < 1:
        problem, remedy = "is empty", "a draft vocabulary holds at least one id"
    elif shape[0] > MAX_ENTRIES:
        problem = f"announces {shape[0]:,} entries"
        remedy = f"no vocabulary is larger than {MAX_ENTRIES:,}: the file is damaged"
    else:
        return
    raise InputError(path, field, problem, remedy)


def as_mask(values: object, path: Path, field: str) -> NDArray[np.bool_]:
    """Return a stored t2d as bool [V]; other numbers than 0 and 1 raise InputError."""
    stored = np.asarray(values)
    mask = stored.astype(bool)
    if stored.dtype != bool and not np.array_equal(stored.astype(np.float64), mask):
        raise InputError(
            path, field, "holds numbers other than 0 and 1", "t2d is a mask over the target's ids"
        )
    return mask


def as_integers(values: NDArray[np.generic]) -> NDArray[np.int64] | None:
    """Return stored numbers as int64 [D], None where one is a fraction or does not fit."""
    if values.dtype.kind in "bi":
        return values.astype(np.int64)
    if values.dtype.kind == "u":
        fits = not values.size or int(values.max()) < 2**63
        return values.astype(np.int64) if fits else None
    wide = values.astype(np.float64)
    if not np.all(np.abs(wide) < 2.0**63) or np.any(wide != np.floor(wide)):
        return None
    return wide.astype(np.int64)
