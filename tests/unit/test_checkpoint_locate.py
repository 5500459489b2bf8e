"""Where a checkpoint's files may lie, and what a user reads when they do not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from safetensors.numpy import save

from pytest_eagle_contract.checkpoint.locate import locate
from pytest_eagle_contract.errors import InputError

from .corrupt import CONFIG, json_bytes, tensors, write


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        locate(path)
    return str(caught.value)


def test_finds_weights_beside_the_config(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    found = locate(tmp_path)
    assert found.root == tmp_path
    assert found.layout == "safetensors"
    assert found.config == tmp_path / "config.json"
    assert found.weights == (tmp_path / "model.safetensors",)
    assert found.files == ("config.json", "model.safetensors", "tokenizer.json")


@pytest.mark.parametrize("below", ["model/consolidated", "model", "consolidated"])
def test_finds_weights_that_automodel_nests(tmp_path: Path, below: str) -> None:
    write(tmp_path / below)
    (tmp_path / "eagle_meta.pt").write_bytes(b"")
    found = locate(tmp_path)
    assert found.path == tmp_path
    assert found.root == tmp_path / below
    assert found.config == tmp_path / below / "config.json"
    assert "eagle_meta.pt" in found.files


def test_config_may_stand_above_nested_weights(tmp_path: Path) -> None:
    write(tmp_path / "model/consolidated")
    (tmp_path / "model/consolidated/config.json").rename(tmp_path / "config.json")
    assert locate(tmp_path).config == tmp_path / "config.json"


def test_config_beside_the_weights_wins(tmp_path: Path) -> None:
    write(tmp_path / "model/consolidated")
    (tmp_path / "config.json").write_text("{}")
    assert locate(tmp_path).config.parent == tmp_path / "model/consolidated"


def test_other_names_load_as_engines_do(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "eagle3.safetensors")
    assert locate(tmp_path).weights == (tmp_path / "eagle3.safetensors",)


def test_index_without_weights_names_the_missing_shard(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    index = {"weight_map": {"fc.weight": "model-00001-of-00001.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_bytes(json_bytes(index))
    assert "model-00001-of-00001.safetensors: is missing" in refusal(tmp_path)


def test_missing_shard_shows_without_an_index(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(json_bytes(CONFIG))
    (tmp_path / "model-00001-of-00002.safetensors").write_bytes(save(tensors()))
    assert "shard 2: is missing" in refusal(tmp_path)


@pytest.mark.parametrize(
    "shard", ["../model.safetensors", "/x/model.safetensors", "..", "", "a\\b"]
)
def test_index_never_leads_out_of_the_checkpoint(tmp_path: Path, shard: str) -> None:
    write(tmp_path)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "config.json").write_bytes(json_bytes(CONFIG))
    index = {"weight_map": {"fc.weight": shard}}
    (inside / "model.safetensors.index.json").write_bytes(json_bytes(index))
    assert "is no file name" in refusal(inside)


def test_torch_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    assert locate(tmp_path).layout == "torch bin"
    write(tmp_path)
    assert locate(tmp_path).layout == "safetensors"


def test_training_run_lists_its_epochs_in_order(tmp_path: Path) -> None:
    for epoch in (10, 0, 2):
        write(tmp_path / str(epoch))
    (tmp_path / "checkpoint_best").symlink_to("2")
    shutil.copytree(tmp_path / "0", tmp_path / "logs" / "deeper")
    message = refusal(tmp_path)
    assert "4 checkpoint(s): 0, 2, 10, checkpoint_best; give one of them" in message


def test_long_candidate_list_is_cut(tmp_path: Path) -> None:
    for epoch in range(30):
        write(tmp_path / str(epoch))
    assert "30 checkpoint(s): 0, 1, 2, 3, 4, 5, 6, 7, …" in refusal(tmp_path)


@pytest.mark.parametrize(
    "name", ["training_state.pt", "training_state_rank0.pt", "mp_rank_00_model_states.pt"]
)
def test_training_state_must_be_exported_first(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    message = refusal(tmp_path)
    assert name in message
    assert "export it first" in message


def test_missing_config_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "config.json").unlink()
    assert "config.json: is missing" in refusal(tmp_path)


def test_file_missing_path_and_empty_directory_differ(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "empty").mkdir()
    assert "give the directory that holds it" in refusal(tmp_path / "model.safetensors")
    assert "does not exist" in refusal(tmp_path / "nowhere")
    assert "does not exist" in refusal(tmp_path / "config.json" / "below")
    assert "found: nothing" in refusal(tmp_path / "empty")
    assert "cannot be read" in refusal(tmp_path / ("x" * 5000))
    assert "cannot be read" in refusal(tmp_path / "a\0b")
