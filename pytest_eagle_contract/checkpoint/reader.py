"""Open a draft checkpoint or a target's config, wherever it lies."""

from __future__ import annotations

import hashlib
import json
import math
import os
from functools import lru_cache
from pathlib import Path

from pytest_eagle_contract.checkpoint import files, hub
from pytest_eagle_contract.checkpoint.config import Config, read_config
from pytest_eagle_contract.checkpoint.locate import locate
from pytest_eagle_contract.checkpoint.model import Checkpoint, TensorSource
from pytest_eagle_contract.checkpoint.names import MAPS, canonical
from pytest_eagle_contract.checkpoint.safetensors_source import open_safetensors
from pytest_eagle_contract.checkpoint.target_weights import TargetWeights
from pytest_eagle_contract.checkpoint.torch_source import open_torch
from pytest_eagle_contract.errors import InputError

MAX_HASHED = 8 * 1024 * 1024


def open_checkpoint(path: str | Path) -> Checkpoint:
    """Open the draft checkpoint in a directory or at `hf://org/name[@revision]`.

    Reads config and tensor headers only. Whatever is missing, broken or hostile raises InputError.
    """
    found = locate(local_directory(path))
    config = read_config(found.config)
    source: TensorSource
    if found.layout.endswith("torch bin"):
        source = open_torch(found.weights, found.index)
    else:
        source = open_safetensors(found.weights, found.index)
    tensors = {info.name: info for info in source.infos()}
    return Checkpoint(found.path, found.root, found.layout, config, tensors, found.files, source)


def open_target(path: str | Path) -> Config:
    """Read a target's config from its directory, its config.json or the hub, never its weights."""
    local = local_directory(path, weights=False)
    return read_config(local / "config.json" if files.kind(local) == "directory" else local)


def target_weights(path: str | Path, config: Config) -> TargetWeights | None:
    """Return a target's safetensors weights where they lie beside its config, None without any.

    A config alone is a legal target, and so is an index without its shards, as the hub gives it.
    """
    if not hub.is_uri(path) and files.kind(local_directory(path)) != "directory":
        return None
    root = config.path.parent
    names = files.children(root)
    stored = any(name.endswith(".safetensors") for name in names)
    return TargetWeights(root, names) if stored else None


@lru_cache(maxsize=16)
def manifest_digest(checkpoint: Checkpoint) -> str:
    """Return a SHA-256 of what the static checks depend on, without reading whole weights.

    It covers the config's bytes, each tensor's name, dtype and shape, and the values of token
    maps of at most 8 MB.
    """
    digest = hashlib.sha256(files.read_bounded(checkpoint.config.path))
    for name in sorted(checkpoint.tensors):
        info = checkpoint.tensors[name]
        digest.update(json.dumps([name, info.dtype, info.shape]).encode())
        # No dtype is wider than 8 bytes, so this bound needs no table of sizes.
        entries = math.prod(info.shape)
        if canonical(name) in MAPS and 8 * entries <= MAX_HASHED:
            digest.update(checkpoint.read_flat(name, 0, entries).tobytes())
    return digest.hexdigest()


def local_directory(path: str | Path, *, weights: bool = True) -> Path:
    """Return the local path of a directory or of `hf://org/name[@revision]`."""
    if hub.is_uri(path):
        return hub.resolve_uri(str(path), weights=weights)
    try:
        # Options reach us as `--draft=~/run`, which no shell expands.
        return Path(os.path.expanduser(path))
    except (ValueError, RuntimeError) as error:
        raise InputError(str(path), "", f"is no path ({error})", "give a directory") from error
