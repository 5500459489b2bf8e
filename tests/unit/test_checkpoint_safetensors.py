"""Headers before data: what safetensors files announce and what is read of them."""

from __future__ import annotations

import json
import struct
import time
import tracemalloc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version
from safetensors.numpy import save, save_file

from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.checkpoint.safetensors_source import (
    MAX_HEADER,
    SafetensorsSource,
    open_safetensors,
)
from pytest_eagle_contract.errors import InputError

from .corrupt import framed, tensors, write

CODES = {"bfloat16": "BF16", "float16": "F16", "float32": "F32", "int64": "I64", "bool": "BOOL"}

newest = pytest.mark.skipif(
    Version(safetensors.__version__) < Version("0.8"),
    reason="older releases refuse files with these types",
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "model.safetensors"
    path.write_bytes(save(tensors()))
    return path


def opened(path: Path, content: bytes) -> SafetensorsSource:
    path.write_bytes(content)
    return open_safetensors((path,))


def refusal(path: Path, content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        opened(path, content)
    return str(caught.value)


def test_describes_every_tensor(path: Path) -> None:
    infos = {i.name: i for i in open_safetensors((path,)).infos()}
    expected = tensors()
    assert infos.keys() == expected.keys()
    for name, tensor in expected.items():
        code = CODES.get(str(tensor.dtype), "F8_E4M3")
        assert infos[name] == TensorInfo(name, code, tensor.shape, path)


def values() -> dict[str, np.ndarray[Any, Any]]:
    """Return the stored tensors as they are read: bfloat16 as the float32 of the same value."""
    return {
        name: tensor.astype(np.float32) if tensor.dtype == ml_dtypes.bfloat16 else tensor
        for name, tensor in tensors().items()
    }


def test_reads_back_what_was_stored(path: Path) -> None:
    source = open_safetensors((path,))
    for name, tensor in values().items():
        read = source.read(name)
        assert read.dtype == tensor.dtype
        assert read.tobytes() == tensor.tobytes()


bounds = st.one_of(st.none(), st.integers(-12, 40))


@given(st.sampled_from(sorted(tensors())), bounds, bounds)
def test_rows_follow_python_slices(
    path: Path, name: str, start: int | None, stop: int | None
) -> None:
    read = open_safetensors((path,)).read(name, start, stop)
    expected = values()[name][start:stop]
    assert read.shape == expected.shape
    assert read.tobytes() == expected.tobytes()


@given(st.data(), st.sampled_from(sorted(tensors())))
def test_flat_values_follow_the_rows(path: Path, data: st.DataObject, name: str) -> None:
    whole = values()[name].reshape(-1)
    start = data.draw(st.integers(0, whole.size))
    stop = data.draw(st.integers(start, whole.size))
    read = open_safetensors((path,)).read_flat(name, start, stop)
    assert read.dtype == whole.dtype
    assert read.tobytes() == whole[start:stop].tobytes()


def test_scalars_and_empty_tensors_read(tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    save_file({"scalar": np.array(3.0), "none": np.zeros((0, 4)), "flat": np.zeros((3, 0))}, path)
    source = open_safetensors((path,))
    assert source.read("scalar") == 3.0
    assert source.read("scalar", 0, 1) == 3.0
    assert source.read("none", 0, 2).shape == (0, 4)
    assert source.read("flat", 1).shape == (2, 0)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("F8_E5M2", "float8_e5m2"),
        pytest.param("F8_E8M0", "float8_e8m0fnu", marks=newest),
        pytest.param("F8_E4M3FNUZ", "float8_e4m3fnuz", marks=newest),
        pytest.param("F8_E5M2FNUZ", "float8_e5m2fnuz", marks=newest),
    ],
)
def test_eight_bit_floats_read(tmp_path: Path, code: str, name: str) -> None:
    header = {"w": {"dtype": code, "shape": [2, 2], "data_offsets": [0, 4]}}
    source = opened(tmp_path / "w", framed(json.dumps(header).encode(), bytes(range(60, 64))))
    dtype = getattr(ml_dtypes, name)
    assert (
        source.read("w").tolist()
        == np.arange(60, 64, dtype="u1").view(dtype).reshape(2, 2).tolist()
    )


@newest
def test_packed_floats_are_described_but_not_read(tmp_path: Path) -> None:
    header = {"w": {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}}
    source = opened(tmp_path / "w", framed(json.dumps(header).encode(), b"12"))
    assert [i.dtype for i in source.infos()] == ["F4"]
    with pytest.raises(InputError, match="has dtype F4"):
        source.read("w")


def test_more_dimensions_than_an_array_has(tmp_path: Path) -> None:
    header = {"w": {"dtype": "F32", "shape": [1] * 80 + [2], "data_offsets": [0, 8]}}
    source = opened(tmp_path / "w", framed(json.dumps(header).encode(), bytes(8)))
    with pytest.raises(InputError, match="w: has 81 dimensions"):
        source.read("w")
    assert source.read_flat("w", 0, 2).shape == (2,)


def test_four_gigabytes_cost_nothing(tmp_path: Path) -> None:
    rows, width = 2**20, 2**11
    header = {"w": {"dtype": "BF16", "shape": [rows, width], "data_offsets": [0, 2 * rows * width]}}
    path = tmp_path / "model.safetensors"
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(framed(text))
        file.truncate(8 + len(text) + 2 * rows * width)
    tracemalloc.start()
    started = time.perf_counter()
    read = open_safetensors((path,)).read("w", rows - 3, rows - 1)
    took, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.shape == (2, width)
    assert took < 1
    assert peak < 2**20


def test_header_lengths_are_judged_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    assert "claims 9223372036854775807 bytes" in refusal(path, struct.pack("<Q", 2**63 - 1) + b"{}")
    assert "is cut off" in refusal(path, b"1234567")
    with path.open("wb") as file:
        file.write(struct.pack("<Q", MAX_HEADER + 1))
        file.truncate(MAX_HEADER + 100)
    with pytest.raises(InputError, match="the limit is"):
        open_safetensors((path,))


def test_git_lfs_pointer_is_recognised(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123\n"
    assert "git lfs pull" in refusal(tmp_path / "model.safetensors", pointer)


def test_name_stored_twice_is_refused(tmp_path: Path) -> None:
    entry = b'{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
    content = framed(b'{"w":%b,"w":%b}' % (entry, entry), bytes(4))
    assert "w stands twice" in refusal(tmp_path / "model.safetensors", content)


def test_shards_join_and_disagreements_show(tmp_path: Path) -> None:
    one, two = tmp_path / "1.safetensors", tmp_path / "2.safetensors"
    save_file({"a": np.zeros(2)}, one)
    save_file({"b": np.ones(2)}, two)
    source = open_safetensors((one, two), {"a": one.name, "b": two.name})
    assert {i.name: i.file for i in source.infos()} == {"a": one, "b": two}
    assert source.read("b").sum() == 2
    with pytest.raises(InputError, match=r"2\.safetensors: a: is in the index but not"):
        open_safetensors((one, two), {"a": two.name})
    with pytest.raises(InputError, match=r"c: is in the index but not"):
        open_safetensors((one, two), {"c": two.name})
    save_file({"a": np.zeros(2)}, two)
    with pytest.raises(InputError, match=r"a: is also in 1\.safetensors"):
        open_safetensors((one, two))


def test_file_that_shrank_is_an_input_error(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "model.safetensors"
    source = open_safetensors((path,))
    path.write_bytes(path.read_bytes()[:-1])
    last = max(source.stored.values(), key=lambda s: s.end)
    with pytest.raises(InputError, match="is truncated"):
        source.read(last.info.name)
    path.unlink()
    with pytest.raises(InputError, match="is missing"):
        source.read("fc.weight")


def test_every_bfloat16_reads_as_the_same_float32(tmp_path: Path) -> None:
    bits = np.arange(2**16, dtype="<u2")
    header = {"w": {"dtype": "BF16", "shape": [2**16], "data_offsets": [0, 2**17]}}
    source = opened(tmp_path / "w", framed(json.dumps(header).encode(), bits.tobytes()))
    expected = bits.view(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(source.read("w"), expected, equal_nan=True)
