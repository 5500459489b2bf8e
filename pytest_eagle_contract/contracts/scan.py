"""Look for values that no trained weight has, in a bounded sample or everywhere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.checkpoint.names import MAPS
from pytest_eagle_contract.pair import Draft

SAMPLE = 64 * 1024
"""Values read of each tensor by default: of a draft's 16 tensors, about 2 MB."""

CHUNK = 4 * 1024 * 1024
PLACES = 4


def faults(draft: Draft, full: bool) -> tuple[list[str], int]:
    """Return what is wrong with the values, and how many were read.

    The sample takes runs of rows spread over a tensor, so a broken stretch can be missed; `full`
    reads everything in chunks. Zeros are a fault only where every value read is zero.
    """
    problems, read = [], 0
    for name, info in draft.tensors.items():
        if (
            name in MAPS
            or not info.dtype.startswith(("F", "BF"))
            or not info.rows
            or 0 in info.shape
        ):
            continue
        fault, count = _fault(draft, info, full)
        read += count
        if fault:
            problems.append(f"{info.name} {fault}")
    return problems, read


def _fault(draft: Draft, info: TensorInfo, full: bool) -> tuple[str, int]:
    zeros, read = True, 0
    for start, stop in _runs(info, full):
        values = draft.checkpoint.read(info.name, start, stop)
        read += values.size
        row = _first_infinite(values)
        if row is not None:
            return f"holds NaN or infinity in row {start + row}", read
        zeros = zeros and not values.any()
    return (f"is all zero in the {read:,} values read" if zeros else ""), read


def _first_infinite(values: NDArray[np.generic]) -> int | None:
    finite = np.isfinite(values.astype(np.float32))
    if finite.all():
        return None
    return int(np.flatnonzero(~finite.reshape(values.shape[0], -1).all(axis=1))[0])


def _runs(info: TensorInfo, full: bool) -> list[tuple[int, int]]:
    """Return the row ranges to read."""
    rows = info.rows
    width = math.prod(info.shape[1:])
    if full:
        step = max(1, CHUNK // max(width, 1))
        return [(start, min(start + step, rows)) for start in range(0, rows, step)]
    # A single row may be wider than the sample; it is then the least that can be read.
    length = max(1, SAMPLE // PLACES // max(width, 1))
    if length * PLACES >= rows:
        return [(0, rows)]
    last = rows - length
    starts = (place * last // (PLACES - 1) for place in range(PLACES))
    return [(start, start + length) for start in starts]
