"""What is fetched from the hub, with a stand-in for huggingface_hub."""

from __future__ import annotations

import shutil
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

import pytest

from pytest_eagle_contract.assess import Inputs, build_case
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.checkpoint.hub import needed, resolve_uri
from pytest_eagle_contract.errors import InputError

TRAINING = ("optimizer.pt", "scheduler.pt", "rng_state_0.pth", "training_args.bin", "README.md")
EPOCH = (
    "checkpoint-1000/model.safetensors",
    "checkpoint-1000/optimizer.pt",
    "checkpoint-1000/x.json",
)


class StandIn(ModuleType):
    """Stand in for huggingface_hub: a repository is a directory, and downloads are kept."""

    def __init__(self, repository: Path, cache: Path) -> None:
        super().__init__("huggingface_hub")
        self.repository, self.cache = repository, cache
        self.offline = False
        self.fetched: list[list[str]] = []

    def list_repo_files(self, repo: str, *, revision: str | None = None) -> list[str]:
        if self.offline:
            raise ConnectionError("offline")
        found = (p for p in self.repository.rglob("*") if p.is_file())
        return sorted(p.relative_to(self.repository).as_posix() for p in found)

    def snapshot_download(
        self, repo: str, *, revision: str | None = None, allow_patterns: list[str]
    ) -> str:
        names = self.list_repo_files(repo) if not self.offline else []
        kept = [n for n in names if any(fnmatchcase(n, p) for p in allow_patterns)]
        self.fetched.append(kept)
        for name in kept:
            (self.cache / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.repository / name, self.cache / name)
        return str(self.cache)


@pytest.fixture
def hub(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    repository = shutil.copytree(good / "specforge-hf", tmp_path / "repository")
    for name in (*TRAINING, *EPOCH, "pytorch_model.bin", "d2t.npy.bak"):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_bytes(b"")
    stand_in = StandIn(repository, tmp_path / "cache")
    monkeypatch.setitem(sys.modules, "huggingface_hub", stand_in)
    return stand_in


def test_a_draft_takes_its_configs_and_one_set_of_weights(hub: StandIn) -> None:
    assert open_checkpoint("hf://org/name").layout == "safetensors"
    (fetched,) = hub.fetched
    assert sorted(fetched) == ["config.json", "model.safetensors"]


def test_offline_takes_what_is_cached(hub: StandIn) -> None:
    shutil.copytree(hub.repository, hub.cache)
    hub.offline = True
    assert open_checkpoint("hf://org/name").layout == "safetensors"


def test_a_target_takes_its_config_once(hub: StandIn, good: Path, targets: Path) -> None:
    hub.repository = targets / "llama"
    case = build_case(open_checkpoint(good / "specforge-hf"), Inputs(target="hf://org/target"))
    assert hub.fetched == [["config.json"]]
    assert case.target is not None
    assert case.target_weights is None


def test_cached_weights_of_a_target_are_compared(hub: StandIn, good: Path, targets: Path) -> None:
    hub.repository = targets / "llama"
    shutil.copytree(hub.repository, hub.cache)
    case = build_case(open_checkpoint(good / "specforge-hf"), Inputs(target="hf://org/target"))
    assert case.target_weights is not None


def test_what_the_hub_refuses_is_one_line(hub: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object, **options: object) -> str:
        raise OSError("404\nnot found")

    monkeypatch.setattr(hub, "list_repo_files", refused)
    monkeypatch.setattr(hub, "snapshot_download", refused)
    with pytest.raises(InputError, match=r"hf://org/name: cannot be fetched \(OSError: 404\)"):
        resolve_uri("hf://org/name")


@pytest.mark.parametrize(
    ("stored", "weights"),
    [
        (["model.safetensors", "pytorch_model.bin"], ["model.safetensors"]),
        (["eagle3.safetensors", "optimizer.pt"], ["eagle3.safetensors"]),
        (["pytorch_model.bin", "training_state.pt"], ["pytorch_model.bin"]),
        (
            ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"],
            ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"],
        ),
        (
            [
                "consolidated.safetensors",
                "model-00001-of-00001.safetensors",
                "model.safetensors.index.json",
            ],
            ["model.safetensors.index.json", "model-00001-of-00001.safetensors"],
        ),
        (
            ["pytorch_model-00001-of-00001.bin", "pytorch_model.bin.index.json", "scaler.bin"],
            ["pytorch_model.bin.index.json", "pytorch_model-00001-of-00001.bin"],
        ),
        (
            ["model/consolidated/config.json", "model/consolidated/model.safetensors", "optim.bin"],
            ["model/consolidated/config.json", "model/consolidated/model.safetensors"],
        ),
        (["d2t.npy", "t2d.npy", "eagle_meta.pt"], ["d2t.npy", "t2d.npy", "eagle_meta.pt"]),
        ([], []),
    ],
)
def test_files_that_are_needed(stored: list[str], weights: list[str]) -> None:
    assert needed(["config.json", *stored, *TRAINING, *EPOCH]) == ["config.json", *weights]
