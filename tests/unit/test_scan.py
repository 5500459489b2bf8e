"""What counts as a broken value, and how little is read to look for one."""

from __future__ import annotations

import json
import math
import tracemalloc
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors
from packaging.version import Version

from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.contracts.scan import SAMPLE, faults
from pytest_eagle_contract.pair import Draft, read_draft

from .corrupt import framed

BITS = {
    "F4": 4,
    "F6_E2M3": 6,
    "F8_E8M0": 8,
    "F8_E4M3": 8,
    "BF16": 16,
    "F16": 16,
    "F32": 32,
    "F64": 64,
}
Tensors = dict[str, tuple[str, list[int], bytes]]

newest = pytest.mark.skipif(
    Version(safetensors.__version__) < Version("0.8"),
    reason="older releases refuse files with these types",
)


def draft(directory: Path, tensors: Tensors) -> Draft:
    """Write tensors by code, shape and first bytes, the rest as a hole."""
    header, end = {}, 0
    for name, (code, shape, _) in tensors.items():
        begin, end = end, end + BITS[code] * math.prod(shape) // 8
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [begin, end]}
    start = framed(json.dumps(header).encode())
    with (directory / "model.safetensors").open("wb") as file:
        file.write(start)
        for name, (_, _, data) in tensors.items():
            file.seek(len(start) + header[name]["data_offsets"][0])
            file.write(data)
        file.truncate(len(start) + end)
    (directory / "config.json").write_text("{}")
    return read_draft(open_checkpoint(directory))


def scanned(directory: Path, tensors: Tensors) -> tuple[list[str], int]:
    return faults(draft(directory, tensors), full=False)


def with_peak(draft: Draft, *, full: bool) -> tuple[tuple[list[str], int], int]:
    tracemalloc.start()
    found = faults(draft, full)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, peak


def test_a_row_of_any_width_costs_no_more_than_the_sample(tmp_path: Path) -> None:
    tensors: Tensors = {"w": ("BF16", [1, 2**27], np.ones(9, ml_dtypes.bfloat16).tobytes())}
    found, peak = with_peak(draft(tmp_path, tensors), full=False)
    assert found == ([], SAMPLE)
    assert peak < 1_000_000


def test_everything_is_read_in_pieces_of_a_row(tmp_path: Path) -> None:
    values = np.ones(2**24, ml_dtypes.bfloat16)
    values[-1] = np.nan
    wide = draft(tmp_path, {"w": ("BF16", [2, 2**23], values.tobytes())})
    found, peak = with_peak(wide, full=True)
    assert found == (["w holds NaN or infinity in row 1"], 2**24)
    assert peak < 16_000_000


@pytest.mark.parametrize(
    ("value", "problems"),
    [(1.0, []), (0.0, []), (math.nan, ["w holds NaN or infinity"])],
)
def test_a_scalar_is_read(tmp_path: Path, value: float, problems: list[str]) -> None:
    tensors: Tensors = {"w": ("F32", [], np.float32(value).tobytes())}
    assert scanned(tmp_path, tensors) == (problems, 1)


def test_zeros_are_a_fault_of_many_values(tmp_path: Path) -> None:
    problems, _ = scanned(tmp_path, {"w": ("F16", [3, 4], b""), "none": ("F32", [0, 4], b"")})
    assert problems == ["w is all zero in the 12 values read"]


def test_large_doubles_are_finite(tmp_path: Path) -> None:
    tensors: Tensors = {"w": ("F64", [2], np.array([1e300, -1e300]).tobytes())}
    assert scanned(tmp_path, tensors) == ([], 2)


def test_signalling_nan_warns_of_nothing(tmp_path: Path) -> None:
    problems, _ = scanned(tmp_path, {"w": ("BF16", [2], b"\x81\x7f\x81\xff")})
    assert problems == ["w holds NaN or infinity in row 0"]


@newest
def test_packed_types_are_left_out(tmp_path: Path) -> None:
    tensors: Tensors = {
        "w": ("F4", [2, 4], b"\xff" * 4),
        "v": ("F6_E2M3", [4, 4], b"\xff" * 12),
        "norm": ("F32", [2], np.ones(2, np.float32).tobytes()),
    }
    assert scanned(tmp_path, tensors) == ([], 2)


@newest
@pytest.mark.parametrize(
    ("stored", "problems"),
    [
        (bytes(range(255)), []),
        (bytes(255), []),  # 2**-127, the smallest scale: no zero exists
        (b"\x7f" * 254 + b"\xff", ["s holds NaN or infinity in row 254"]),
    ],
)
def test_block_scales(tmp_path: Path, stored: bytes, problems: list[str]) -> None:
    assert scanned(tmp_path, {"s": ("F8_E8M0", [255], stored)})[0] == problems


def test_a_type_that_this_ml_dtypes_lacks_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(ml_dtypes, "float8_e4m3fn")
    assert scanned(tmp_path, {"w": ("F8_E4M3", [2, 2], b"")}) == ([], 0)
