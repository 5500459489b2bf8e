"""Look for values that no trained weight has, in a bounded sample or everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.checkpoint.dtypes import stored_type
from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.checkpoint.names import MAPS
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.pair import Draft

SAMPLE = 64 * 1024
"""Values read of each tensor by default: of a draft's 16 tensors, about 2 MB."""

CHUNK = 1024 * 1024
PLACES = 4


def faults(draft: Draft, full: bool) -> tuple[list[str], int]:
    """Return what is wrong with the values, and how many were read.

    The sample takes runs of values spread over a tensor, so a broken stretch can be missed; `full`
    reads everything in chunks. Zeros are a fault only where every value read is zero, and there
    are several: a single zero may be meant, as a zero point, and a bias begins at zero. Packed
    types are left out.
    """
    problems, read = [], 0
    for name, info in draft.tensors.items():
        if name in MAPS or not _holds_floats(info):
            continue
        fault, count = _fault(draft, info, full)
        read += count
        if fault:
            problems.append(f"{info.name} {fault}")
    return problems, read


def _holds_floats(info: TensorInfo) -> bool:
    """Tell whether the values are floats of a type that can be read here."""
    if not info.dtype.startswith(("F", "BF")):
        return False
    try:
        stored_type(info.dtype, info.file, info.name)
    except InputError:
        return False
    return True


def _fault(draft: Draft, info: TensorInfo, full: bool) -> tuple[str, int]:
    zeros, read = True, 0
    for start, stop in _runs(math.prod(info.shape), full):
        values = draft.checkpoint.read_flat(info.name, start, stop)
        read += values.size
        place = _first_infinite(values)
        if place is not None:
            return f"holds NaN or infinity{_row(info, start + place)}", read
        zeros = zeros and not values.any()
    meant = read < 2 or info.name.endswith(".bias")
    return (f"is all zero in the {read:,} values read" if zeros and not meant else ""), read


def _row(info: TensorInfo, place: int) -> str:
    return f" in row {place // math.prod(info.shape[1:])}" if info.shape else ""


def _first_infinite(values: NDArray[np.generic]) -> int | None:
    # A signalling NaN warns of itself.
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(values)
    return None if finite.all() else int(finite.argmin())


def _runs(count: int, full: bool) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a flattened tensor to read, inside wide rows too."""
    if full:
        for start in range(0, count, CHUNK):
            yield start, min(start + CHUNK, count)
    elif count <= SAMPLE:
        yield 0, count
    else:
        length = SAMPLE // PLACES
        for place in range(PLACES):
            start = place * (count - length) // (PLACES - 1)
            yield start, start + length
