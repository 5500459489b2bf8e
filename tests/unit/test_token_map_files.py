"""Every stored form of a token map is read, and hostile files are refused in one line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.checkpoint.model import Checkpoint, TensorInfo
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.token_map import (
    MAX_ENTRIES,
    Form,
    as_integers,
    classify,
    files,
    stored_beside,
    stored_in_checkpoint,
    stored_in_file,
)

Array = NDArray[np.generic]


class Source:
    """Hold tensors in memory and refuse to read those that are only announced."""

    def __init__(self, tensors: dict[str, Array]) -> None:
        self.tensors = tensors

    def infos(self) -> Iterator[TensorInfo]:
        return iter(())

    def read(self, name: str, start: int | None = None, stop: int | None = None) -> Array:
        return self.tensors[name][start:stop]

    def read_flat(self, name: str, start: int, stop: int) -> Array:
        return self.tensors[name].reshape(-1)[start:stop]


def checkpoint(tensors: dict[str, Array], **announced: tuple[int, ...]) -> Checkpoint:
    file = Path("draft/model.safetensors")
    infos = {
        n: TensorInfo(n, "BOOL" if t.dtype == bool else "I64", t.shape, file)
        for n, t in tensors.items()
    } | {n: TensorInfo(n, "I64", shape, file) for n, shape in announced.items()}
    return Checkpoint(
        file.parent, file.parent, "safetensors", Config(file, {}), infos, (), Source(tensors)
    )


D2T, T2D = np.array([1, 1, 3]), np.isin(np.arange(8), [1, 2, 5])


@pytest.mark.parametrize(
    "name", ["d2t", "model.d2t", "draft_model.d2t", "draft_id_to_target_id", "a.b.d2t"]
)
def test_checkpoint_map_under_any_prefix(name: str) -> None:
    prefix = name.rpartition("d2t")[0] if name.endswith("d2t") else ""
    found = stored_in_checkpoint(checkpoint({name: D2T, f"{prefix}t2d": T2D, "d2t_scale": D2T}))
    assert found is not None
    assert (found.kind, found.dtype, found.where) == ("d2t", "I64", f"model.safetensors: {name}")
    assert found.values.tolist() == D2T.tolist()
    assert found.mask is not None
    assert found.mask_where == f"model.safetensors: {prefix}t2d"


def test_checkpoint_without_map() -> None:
    assert stored_in_checkpoint(checkpoint({"t2d": T2D})) is None


def test_checkpoint_with_two_maps() -> None:
    assert stored_in_checkpoint(checkpoint({"d2t": D2T, "model.d2t": D2T})) is not None
    with pytest.raises(InputError, match=r"d2t, model\.d2t: hold different values"):
        stored_in_checkpoint(checkpoint({"d2t": D2T, "model.d2t": D2T + 1}))


@pytest.mark.parametrize("shape", [(10**9,), (1, 10**9), (2**11, 2**12)])
def test_checkpoint_map_of_an_impossible_size(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=f"announces {math.prod(shape):,} entries") as caught:
        stored_in_checkpoint(checkpoint({}, d2t=shape))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ((3, 1), "d2t has shape [3, 1], not one dimension"),
        ((), "d2t has shape [], not one dimension"),
        ((0,), "d2t is empty"),
        ((2, 0), "d2t has shape [2, 0]"),
        ((1,) * 30, "d2t has shape [1, 1, 1, 1, …], not one dimension"),
    ],
)
def test_checkpoint_map_of_a_wrong_shape_says_so(shape: tuple[int, ...], says: str) -> None:
    found = stored_in_checkpoint(checkpoint({"d2t": np.ones(shape, np.int64), "t2d": T2D}))
    assert found is not None
    assert found.problem.startswith(f"model.safetensors: {says}")
    assert found.values.shape == (math.prod(shape),)
    read = classify(found, 8)
    assert (read.form, read.token_map, read.evidence) == (Form.NEITHER, None, found.problem)


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        (np.arange(8), "holds numbers other than 0 and 1"),
        (np.full(8, np.nan), "holds numbers other than 0 and 1"),
        (np.full(8, 1j), "holds numbers other than 0 and 1"),
        (T2D[None], "has shape [1, 8], not one dimension"),
        (np.zeros(0, bool), "is empty"),
    ],
)
def test_checkpoint_mask_that_is_none_says_so(mask: Array, says: str) -> None:
    found = stored_in_checkpoint(checkpoint({"d2t": D2T, "t2d": mask}))
    assert found is not None
    assert found.mask is None
    assert found.mask_problem == f"model.safetensors: t2d {says}"
    assert classify(found, 8).form is Form.OFFSETS


def test_complex_numbers_are_no_integers() -> None:
    assert as_integers(D2T.astype(complex)) is None


def test_a_side_file_that_nobody_named_says_its_problem(tmp_path: Path) -> None:
    np.save(tmp_path / "d2t.npy", D2T[None])
    found = stored_beside(tmp_path / "d2t.npy")
    assert "d2t.npy: has shape [1, 3], not one dimension" in found.problem
    np.save(tmp_path / "d2t.npy", D2T)
    assert stored_beside(tmp_path / "d2t.npy").problem == ""


def test_npy_with_its_sibling(tmp_path: Path) -> None:
    np.save(tmp_path / "d2t.npy", D2T.astype(">i8"))
    assert stored_in_file(tmp_path / "d2t.npy").mask is None
    np.save(tmp_path / "t2d.npy", T2D)
    for path in (tmp_path, tmp_path / "d2t.npy"):
        found = stored_in_file(path)
        assert (found.kind, found.dtype, found.where) == ("d2t", "I64", "d2t.npy")
        assert found.values.tolist() == D2T.tolist()
        assert found.mask_where == "t2d.npy"
        assert classify(found).form is Form.OFFSETS


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"PK\x03\x04",
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}", b"\0" * 8),
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000,)}"),
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}", b"\0" * 8),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", b"\0" * 24),
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2)}", b"\0" * 32),
        npy("[" * 400),
    ],
)
def test_bad_npy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "d2t.npy"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        stored_in_file(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "kind", "form"),
    [
        ({"d2t": [1, 1, 3], "t2d": T2D.tolist()}, "d2t", Form.OFFSETS),
        ({"selected_token_ids": [5, 0, 3], "target_vocab_size": 8}, "selected_token_ids", None),
        ([5, 0, 3], "token map", None),
    ],
)
def test_json(tmp_path: Path, content: object, kind: str, form: Form | None) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps(content))
    found = stored_in_file(path)
    assert (found.kind, found.dtype) == (kind, "I64")
    assert classify(found, 8).form is (form or Form.ABSOLUTE)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"d2t": D2T, "t2d": T2D}, "d2t"),
        ({"draft_id_to_target_id": D2T}, "d2t"),
        ({"selected_token_ids": D2T, "target_vocab_size": np.array(8)}, "selected_token_ids"),
        (D2T, "bare tensor"),
        ([1, 1, 3], "token map"),
        ([np.array(1), np.array(1), np.array(3)], "token map"),
    ],
)
def test_pickled_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: object, kind: str
) -> None:
    monkeypatch.setattr(files, "load_pickle", lambda path: content)
    (tmp_path / "cache.pt").touch()
    found = stored_in_file(tmp_path)
    assert (found.kind, found.values.tolist()) == (kind, [1, 1, 3])
    assert found.target_vocab_size == (8 if kind == "selected_token_ids" else None)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("d2t.pt", "d2t"), ("speculative_token_map.pt", "token map"), ("hot.pth", "token map")],
)
def test_a_bare_tensor_is_named_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    monkeypatch.setattr(files, "load_pickle", lambda path: D2T)
    (tmp_path / name).touch()
    assert stored_in_file(tmp_path / name).kind == kind


REFUSED: dict[str, object] = {
    "mask only": {"t2d": T2D},
    "empty": {},
    "none": None,
    "text": "d2t",
    "no value": {"d2t": None},
    "nested lists": {"d2t": [[1], [2]]},
    "texts": {"d2t": ["1"]},
    "too wide": {"d2t": [2**70]},
    "no entries": {"d2t": []},
    "two dimensions": {"d2t": D2T.reshape(1, 3)},
    "complex": {"d2t": D2T.astype(complex)},
    "mask of ids": {"d2t": D2T, "t2d": D2T},
    "size zero": {"selected_token_ids": D2T, "target_vocab_size": 0},
    "size true": {"selected_token_ids": D2T, "target_vocab_size": True},
    "size fraction": {"selected_token_ids": D2T, "target_vocab_size": 4.5},
    "one list a thousand times": [[0] * 1000] * 1000,
    "too many": np.zeros(MAX_ENTRIES + 1, dtype=np.int8),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(files, "load_pickle", lambda path: REFUSED[name])
    (tmp_path / "map.pt").touch()
    with pytest.raises(InputError) as caught:
        stored_in_file(tmp_path / "map.pt")
    assert "\n" not in str(caught.value)


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "map.safetensors"
    save_file({"model.d2t": D2T, "model.t2d": T2D}, path)
    found = stored_in_file(path)
    assert (found.kind, found.where) == ("d2t", "map.safetensors: model.d2t")
    save_file({"t2d": T2D}, path)
    with pytest.raises(InputError, match="holds no d2t"):
        stored_in_file(path)
    for tensors in ({"d2t": D2T[None]}, {"d2t": D2T, "t2d": T2D[None]}):
        save_file(tensors, path)
        with pytest.raises(InputError, match=r"map\.safetensors: .2. has shape \[1, .\], not one"):
            stored_in_file(path)


def test_paths_that_name_no_map(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing"):
        stored_in_file(tmp_path / "gone.pt")
    with pytest.raises(InputError, match="holds no map"):
        stored_in_file(tmp_path)
    for name in ("a.pt", "b.pt", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"holds a\.pt, b\.pt"):
        stored_in_file(tmp_path)
    with pytest.raises(InputError, match="unknown ending"):
        stored_in_file(tmp_path / "notes.txt")
    (tmp_path / "map.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="not JSON"):
        stored_in_file(tmp_path / "map.json")
