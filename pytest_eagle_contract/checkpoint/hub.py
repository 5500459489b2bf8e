"""Fetch checkpoints named by `hf://org/name[@revision]` through huggingface_hub."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_eagle_contract.errors import InputError

# Path("hf://a/b") folds the two slashes into one, and settings hand us paths.
URI = re.compile(r"hf:/{1,2}(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
CONFIGS = ["*.json"]
WEIGHTS = [*CONFIGS, "*.safetensors", "*.bin", "*.npy", "*.pt"]


def is_uri(path: str | Path) -> bool:
    """Tell whether `path` names a repository on the hub."""
    return str(path).startswith("hf:/")


def resolve_uri(uri: str, *, weights: bool = True) -> Path:
    """Return the local snapshot of `hf://org/name[@revision]`, downloading what is not cached.

    Only configs are fetched with `weights` false. `HF_HUB_OFFLINE` and the local cache are
    huggingface_hub's own business. A malformed URI, a missing package or repository and every
    network failure raise InputError.
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
    try:
        folder = snapshot_download(
            match["repo"],
            revision=match["revision"],
            allow_patterns=WEIGHTS if weights else CONFIGS,
        )
    # The package raises its own errors, its HTTP client's and the system's, with no common base.
    except Exception as error:
        problem = f"cannot be fetched ({type(error).__name__}: {_first_line(error)})"
        raise InputError(
            uri, "", problem, "check name, revision, access token and network, or give a local copy"
        ) from error
    return Path(folder)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else "no details"
