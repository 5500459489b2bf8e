"""Opening a checkpoint end to end, its digest, the target's config and the hub."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.checkpoint.hub import is_uri, resolve_uri
from pytest_eagle_contract.checkpoint.reader import manifest_digest, open_target
from pytest_eagle_contract.errors import InputError

from .corrupt import CONFIG, json_bytes, tensors, write

HEAVY = ("numpy", "torch", "transformers", "safetensors", "huggingface_hub")


def in_python(code: str, **environment: str) -> str:
    """Run code in a fresh interpreter and return what it printed."""
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return finished.stdout.strip()


def test_opens_reads_and_describes(tmp_path: Path) -> None:
    write(tmp_path)
    checkpoint = open_checkpoint(str(tmp_path))
    assert checkpoint.path == checkpoint.root == tmp_path
    assert checkpoint.layout == "safetensors"
    assert checkpoint.config.data == CONFIG
    assert checkpoint.tensors.keys() == tensors().keys()
    assert checkpoint.read("d2t", 2, 4).tolist() == [4, 5]
    with pytest.raises(InputError, match="absent: is not stored here"):
        checkpoint.read("absent")


def test_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "draft")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_checkpoint("~/draft").path == tmp_path / "draft"


def test_digest_changes_with_config_shapes_and_maps_only(tmp_path: Path) -> None:
    def digest(config: bytes | None = None, changed: dict[str, np.ndarray] | None = None) -> str:
        write(tmp_path, save(tensors() | (changed or {})), config)
        return manifest_digest(open_checkpoint(tmp_path))

    first = digest()
    assert first == digest()
    assert first == digest(changed={"norm.weight": tensors()["norm.weight"] + 1})
    assert first != digest(json_bytes(CONFIG | {"norm_output": True}))
    assert first != digest(changed={"norm.weight": tensors()["norm.weight"][:4]})
    assert first != digest(changed={"d2t": tensors()["d2t"] + 1})
    assert first != digest(changed={"t2d": ~tensors()["t2d"]})


def test_target_is_a_directory_or_its_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(json_bytes(CONFIG))
    assert open_target(tmp_path).data == CONFIG
    assert open_target(tmp_path / "config.json").data == CONFIG
    with pytest.raises(InputError, match="is missing"):
        open_target(tmp_path / "nowhere")


def test_import_is_cheap() -> None:
    code = (
        "import sys, pytest_eagle_contract.checkpoint;"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    assert in_python(code) == "[]"


@pytest.mark.parametrize("uri", ["hf://org/name", "hf:/org/name", "hf://a-b/c.d_e@refs/pr/1"])
def test_hub_addresses_are_recognised(uri: str) -> None:
    assert is_uri(uri)
    assert is_uri(Path(uri))
    assert not is_uri("./hf/org")


@pytest.mark.parametrize("uri", ["hf://", "hf://name", "hf://a/b/c", "hf://a/b@", "hf://a/b\n"])
def test_malformed_hub_address_is_refused(uri: str) -> None:
    with pytest.raises(InputError, match="is no hub address"):
        resolve_uri(uri)


def test_without_huggingface_hub_the_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"pip install 'pytest-eagle-contract\[hub\]'"):
        open_checkpoint("hf://org/name")


def test_offline_hub_uses_the_local_cache(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    commit = "0" * 40
    repo = tmp_path / "hub" / "models--org--name"
    write(repo / "snapshots" / commit)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(commit)
    code = """
from pathlib import Path
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.checkpoint.reader import open_target
print(len(open_checkpoint("hf://org/name").tensors))
print(len(open_checkpoint(Path("hf://org/name@main")).tensors))
print(open_target("hf://org/name").path.name)
try:
    open_checkpoint("hf://org/absent")
except ValueError as error:
    print(type(error).__name__, str(error).isprintable(), "cannot be fetched" in str(error))
"""
    out = in_python(code, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    assert out.splitlines() == ["6", "6", "config.json", "InputError True True"]
