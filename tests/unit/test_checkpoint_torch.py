"""State dicts and side files of PyTorch, read without running anything in them."""

from __future__ import annotations

import pickle
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.checkpoint.torch_source import load_pickle, open_torch
from pytest_eagle_contract.errors import InputError

from .corrupt import Hostile, archive, json_bytes, write


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def state(torch: Any) -> dict[str, Any]:
    return {
        "fc.weight": torch.arange(6, dtype=torch.bfloat16).reshape(2, 3),
        "norm.weight": torch.ones(4, dtype=torch.float16),
        "d2t": torch.tensor([1, 1, 4]),
        "t2d": torch.tensor([False, True]),
        "turned": torch.arange(6.0).reshape(2, 3).t(),
        "scalar": torch.tensor(2.0),
    }


def replace_weights(directory: Path, name: str = "pytorch_model.bin") -> Path:
    write(directory)
    (directory / "model.safetensors").unlink()
    return directory / name


def test_without_torch_the_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    replace_weights(tmp_path).write_bytes(archive(b"."))
    with pytest.raises(InputError, match=r"pip install 'pytest-eagle-contract\[torch\]'"):
        open_checkpoint(tmp_path)
    with pytest.raises(InputError, match="or convert the file to safetensors"):
        load_pickle(tmp_path / "pytorch_model.bin")


@pytest.mark.parametrize("zipped", [True, False])
def test_state_dict_reads_like_safetensors(tmp_path: Path, torch: Any, zipped: bool) -> None:
    path = replace_weights(tmp_path)
    torch.save(state(torch), path, _use_new_zipfile_serialization=zipped)
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.layout == "torch bin"
    shapes = {n: (i.dtype, i.shape) for n, i in checkpoint.tensors.items()}
    assert shapes == {
        "fc.weight": ("BF16", (2, 3)),
        "norm.weight": ("F16", (4,)),
        "d2t": ("I64", (3,)),
        "t2d": ("BOOL", (2,)),
        "turned": ("F32", (3, 2)),
        "scalar": ("F32", ()),
    }
    assert checkpoint.read("fc.weight").dtype == np.float32
    assert checkpoint.read("fc.weight", 1).tolist() == [[3, 4, 5]]
    assert checkpoint.read("turned", 0, 2).tolist() == [[0, 3], [1, 4]]
    assert checkpoint.read("t2d").dtype == np.bool_
    assert checkpoint.read("scalar", 0, 1) == 2


def test_shards_follow_their_index(tmp_path: Path, torch: Any) -> None:
    index = replace_weights(tmp_path, "pytorch_model.bin.index.json")
    torch.save({"a": torch.zeros(1)}, tmp_path / "pytorch_model-00001-of-00002.bin")
    torch.save({"b": torch.zeros(2)}, tmp_path / "pytorch_model-00002-of-00002.bin")
    names = {n: f"pytorch_model-0000{i}-of-00002.bin" for i, n in enumerate("ab", 1)}
    index.write_bytes(json_bytes({"weight_map": names}))
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.layout == "sharded torch bin"
    assert checkpoint.tensors["b"].file.name == names["b"]
    index.write_bytes(json_bytes({"weight_map": names | {"c": names["a"]}}))
    with pytest.raises(InputError, match="c: is in the index but not in this shard"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("protocol", [2, 5])
@pytest.mark.parametrize("zipped", [True, False])
def test_pickled_code_never_runs(tmp_path: Path, torch: Any, zipped: bool, protocol: int) -> None:
    code = pickle.dumps({"a": Hostile(f"touch '{tmp_path}/pwned'")}, protocol)
    path = tmp_path / "x.pt"
    path.write_bytes(archive(code) if zipped else code)
    for read in (load_pickle, lambda p: open_torch((p,))):
        with pytest.raises(InputError, match="is refused by torch") as caught:
            read(path)
        assert str(caught.value).isprintable()
        assert "Re-running" not in str(caught.value)
    assert not (tmp_path / "pwned").exists()


def test_code_is_named(tmp_path: Path, torch: Any) -> None:
    (tmp_path / "x.pt").write_bytes(archive(pickle.dumps(Hostile("true"), 2)))
    with pytest.raises(
        InputError, match=r"carries code or objects other than tensors: \w+\.system"
    ):
        load_pickle(tmp_path / "x.pt")


def test_compressed_archive_is_refused_before_unpacking(tmp_path: Path, torch: Any) -> None:
    bomb = archive(b"\x80\x02}.", bytes(10**7), zipfile.ZIP_DEFLATED)
    (tmp_path / "x.pt").write_bytes(bomb)
    with pytest.raises(InputError, match="unpacks from"):
        load_pickle(tmp_path / "x.pt")


def test_stride_zero_cannot_pose_as_terabytes(tmp_path: Path, torch: Any) -> None:
    torch.save({"w": torch.zeros(1).expand(10**6, 10**6)}, tmp_path / "x.pt")
    with pytest.raises(InputError, match="w: is larger than its storage"):
        open_torch((tmp_path / "x.pt",))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([1, 2], "holds a list"),
        ({"epoch": 3}, "epoch: is a int"),
        ({"model": {"fc.weight": 1}}, "model: is a dict"),
    ],
)
def test_other_content_is_no_state_dict(
    tmp_path: Path, torch: Any, content: object, problem: str
) -> None:
    torch.save(content, tmp_path / "x.pt")
    with pytest.raises(InputError, match=problem):
        open_torch((tmp_path / "x.pt",))


def test_sparse_tensor_is_refused(tmp_path: Path, torch: Any) -> None:
    with warnings.catch_warnings(action="ignore"):
        torch.save({"w": torch.eye(2).to_sparse()}, tmp_path / "x.pt")
    with pytest.raises(InputError, match="w: has type"):
        open_torch((tmp_path / "x.pt",))


def test_side_file_becomes_numpy(tmp_path: Path, torch: Any) -> None:
    content = {"d2t": torch.tensor([0, 2]), "n": 7, "nested": [{"k": (torch.ones(1), None)}]}
    torch.save(content, tmp_path / "x.pt")
    loaded = load_pickle(tmp_path / "x.pt")
    assert isinstance(loaded, dict)
    assert loaded["d2t"].tolist() == [0, 2]
    assert loaded["n"] == 7
    assert loaded["nested"][0]["k"][0].tolist() == [1]
    torch.save(torch.arange(3), tmp_path / "x.pt")
    bare = load_pickle(tmp_path / "x.pt")
    assert isinstance(bare, np.ndarray)
    assert bare.tolist() == [0, 1, 2]


def test_shared_and_endless_content_stays_bounded(tmp_path: Path, torch: Any) -> None:
    shared: list[object] = [1]
    for _ in range(60):
        shared = [shared, shared]
    torch.save(shared, tmp_path / "x.pt")
    assert load_pickle(tmp_path / "x.pt")
    endless: list[object] = []
    endless.append(endless)
    torch.save(endless, tmp_path / "x.pt")
    with pytest.raises(InputError, match="nested too deeply"):
        load_pickle(tmp_path / "x.pt")


def test_side_file_above_its_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(bytes(100))
    with pytest.raises(InputError, match="the limit is 99"):
        load_pickle(tmp_path / "x.pt", limit=99)


@pytest.mark.parametrize("name", ["fc.weight", "turned", "scalar", "norm.weight"])
def test_flat_values_follow_the_rows(tmp_path: Path, torch: Any, name: str) -> None:
    torch.save(state(torch), replace_weights(tmp_path))
    checkpoint = open_checkpoint(tmp_path)
    whole = checkpoint.read(name).reshape(-1)
    for start in range(whole.size):
        for stop in range(start, whole.size + 1):
            read = checkpoint.read_flat(name, start, stop)
            assert read.tolist() == whole[start:stop].tolist()
