"""Fetch checkpoints named by `hf://org/name[@revision]` through huggingface_hub."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from pathlib import Path

from pytest_eagle_contract.checkpoint.locate import (
    NESTED,
    SHARD,
    SHARDED,
    SINGLE,
    TORCH,
    TORCH_SHARDED,
    layout_of,
)
from pytest_eagle_contract.errors import InputError

# Path("hf://a/b") folds the two slashes into one, and settings hand us paths.
URI = re.compile(r"hf:/{1,2}(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
CONFIG = "config.json"
BESIDE = ("d2t.npy", "t2d.npy", "eagle_meta.pt")
"""Small files in a checkpoint's directory: maps, and one by whose name its trainer is known."""

UNLISTED = ("*.json", "*.safetensors", "pytorch_model*.bin", *BESIDE)
"""What to ask for where the hub does not say what a repository holds."""


def is_uri(path: str | Path) -> bool:
    """Tell whether `path` names a repository on the hub."""
    return str(path).startswith("hf:/")


def resolve_uri(uri: str, *, weights: bool = True) -> Path:
    """Return the local snapshot of `hf://org/name[@revision]`, downloading what is not cached.

    Only config.json is fetched with `weights` false, else configs, maps and the one set of weights
    that is read. `HF_HUB_OFFLINE` and the local cache are huggingface_hub's own business. A
    malformed URI, a missing package or repository and every network failure raise InputError.
    """
    match = URI.fullmatch(uri)
    if match is None:
        raise InputError(uri, "", "is no hub address", "write hf://org/name or hf://org/name@rev")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise InputError(
            uri, "", "needs huggingface_hub", "pip install 'pytest-eagle-contract[hub]'"
        ) from error
    patterns = _patterns(match["repo"], match["revision"]) if weights else [CONFIG]
    try:
        folder = snapshot_download(
            match["repo"], revision=match["revision"], allow_patterns=patterns
        )
    # The package raises its own errors, its HTTP client's and the system's, with no common base.
    except Exception as error:
        problem = f"cannot be fetched ({type(error).__name__}: {_first_line(error)})"
        raise InputError(
            uri, "", problem, "check name, revision, access token and network, or give a local copy"
        ) from error
    return Path(folder)


def needed(names: Iterable[str]) -> list[str]:
    """Return the files of a repository that judge a draft, of its weights only those that load.

    Optimizer states, other formats of the same weights and the checkpoints of single epochs stay.
    """
    listed = list(names)
    inside = {
        b: [n.rpartition("/")[2] for n in listed if n.rpartition("/")[0] == b] for b in NESTED
    }
    below = next((b for b, found in inside.items() if layout_of(found) is not None), None)
    weights = [] if below is None else _weights(inside[below])
    return [
        *(n for n in listed if n.endswith(".json") and n.rpartition("/")[0] in inside),
        *(n for n in listed if n in BESIDE),
        *(f"{below}/{name}" if below else name for name in weights),
    ]


def _weights(names: list[str]) -> list[str]:
    layout = layout_of(names)
    if layout in (SINGLE, TORCH):
        return [layout]
    if layout == TORCH_SHARDED:
        return [n for n in names if n.startswith("pytorch_model") and n.endswith(".bin")]
    stored = [n for n in names if n.endswith(".safetensors")]
    return [n for n in stored if layout == SHARDED and SHARD.fullmatch(n)] or stored


def _patterns(repo: str, revision: str | None) -> list[str]:
    from huggingface_hub import list_repo_files

    try:
        names = list_repo_files(repo, revision=revision)
    # Whatever is wrong, the download says it; offline it takes what is cached.
    except Exception:
        return list(UNLISTED)
    return [glob.escape(name) for name in needed(names)]


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else "no details"
