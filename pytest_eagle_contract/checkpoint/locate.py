"""Find a checkpoint's config and weight files, or say in one line what is there instead."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pytest_eagle_contract.checkpoint import files
from pytest_eagle_contract.errors import InputError

NESTED = ("", "model/consolidated", "model", "consolidated")
"""Where the weights may lie below the given directory; NeMo Automodel nests them."""

SINGLE = "model.safetensors"
SHARDED = "model.safetensors.index.json"
TORCH = "pytorch_model.bin"
TORCH_SHARDED = "pytorch_model.bin.index.json"
LAYOUTS = {
    SINGLE: "safetensors",
    SHARDED: "sharded safetensors",
    TORCH: "torch bin",
    TORCH_SHARDED: "sharded torch bin",
}
TRAINING_STATE = re.compile(r"training_state.*\.pt|.*_model_states\.pt|optim.*\.pt")
SHARD = re.compile(r".*-(\d{5,6})-of-(\d{5,6})\.safetensors")
PLAIN_NAME = re.compile(r"(?!\.{1,2}$)[^/\\\0]+")
MAX_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Found:
    """Hold where a checkpoint's parts are.

    `index` maps each tensor to its shard's file name where the weights come with an index.
    """

    path: Path
    root: Path
    layout: str
    config: Path
    weights: tuple[Path, ...]
    index: dict[str, str] | None
    files: tuple[str, ...]


def locate(path: Path) -> Found:
    """Find config and weights of the checkpoint in directory `path`; InputError if it has none."""
    _require_directory(path)
    names = files.children(path)
    for below in NESTED:
        root = path / below
        inside = _listing(root)
        layout = layout_of(inside)
        if layout is None:
            continue
        weights, index = _weights(root, layout, inside)
        config = _config(path, root)
        return Found(path, root, LAYOUTS.get(layout, "safetensors"), config, weights, index, names)
    raise _nothing_here(path, names)


def _require_directory(path: Path) -> None:
    found = files.kind(path)
    if found == "directory":
        return
    if found == "file":
        raise InputError(
            path, "", "is a file", "give the directory that holds it and its config.json"
        )
    problem = "does not exist" if found == "missing" else f"is a {found}"
    raise InputError(path, "", problem, "give a checkpoint directory or hf://org/name")


def _listing(root: Path) -> tuple[str, ...]:
    return files.children(root) if files.kind(root) == "directory" else ()


def layout_of(names: Collection[str]) -> str | None:
    """Choose as transformers does: one safetensors file, then its shards, then torch files."""
    for name in LAYOUTS:
        if name in names:
            return name
    # Engines load every *.safetensors of a directory whatever its name.
    return "*" if any(n.endswith(".safetensors") for n in names) else None


def _weights(
    root: Path, layout: str, names: tuple[str, ...]
) -> tuple[tuple[Path, ...], dict[str, str] | None]:
    if layout in (SINGLE, TORCH):
        return (_require_file(root / layout),), None
    if layout == "*":
        found = tuple(n for n in names if n.endswith(".safetensors"))
        _require_all_shards(root, found)
        return tuple(_require_file(root / n) for n in found), None
    index = read_index(root / layout)
    return tuple(_require_file(root / n) for n in sorted(set(index.values()))), index


def _require_file(path: Path) -> Path:
    files.require_file(path)
    return path


def _require_all_shards(root: Path, names: tuple[str, ...]) -> None:
    """Notice a shard that never arrived where no index lists them."""
    matches = [m for n in names if (m := SHARD.fullmatch(n))]
    present = {int(m[1]) for m in matches}
    absent = next((i for m in matches for i in range(1, int(m[2]) + 1) if i not in present), None)
    if absent is not None:
        raise InputError(
            root, f"shard {absent}", "is missing", "copy or export the checkpoint again"
        )


def read_index(path: Path, limit: int = files.MAX_JSON) -> dict[str, str]:
    """Return the file name of each tensor's shard; an index that names none raises InputError."""
    table = files.parse_json(path, files.read_bounded(path, limit)).get("weight_map")
    remedy = "export the checkpoint again so that the index lists its shards"
    if not isinstance(table, dict) or not table:
        raise InputError(path, "weight_map", "is not an object with entries", remedy)
    for tensor, shard in table.items():
        # A name with a separator would read outside of the checkpoint.
        if not isinstance(shard, str) or not PLAIN_NAME.fullmatch(shard):
            shown = repr(shard)[:60]
            raise InputError(path, f"weight_map.{tensor}", f"{shown} is no file name", remedy)
    return table


def _config(path: Path, root: Path) -> Path:
    """Return the nearest config.json: beside the weights, else upwards as far as `path`."""
    directory = root
    while True:
        candidate = directory / "config.json"
        if files.kind(candidate) != "missing":
            return candidate
        if directory == path:
            raise InputError(
                path, "config.json", "is missing", "copy the draft's config beside its weights"
            )
        directory = directory.parent


def _nothing_here(path: Path, names: tuple[str, ...]) -> InputError:
    candidates = [n for n in names if _holds_weights(path / n)]
    if candidates:
        return InputError(
            path,
            "",
            f"holds no weights itself but {len(candidates)} checkpoint(s): {_shown(candidates)}",
            "give one of them",
        )
    states = [n for n in names if TRAINING_STATE.fullmatch(n)]
    if states:
        return InputError(
            path,
            "",
            f"holds only a training state ({_shown(states)})",
            "export it first with the trainer's own command, such as `specforge export --to hf`",
        )
    return InputError(
        path,
        "",
        f"holds no weights (found: {_shown(list(names)) or 'nothing'})",
        f"give the directory with {SINGLE}, its shards or {TORCH}",
    )


def _holds_weights(directory: Path) -> bool:
    """Tell whether a sub directory looks like a checkpoint; one that cannot be read does not."""
    try:
        listings = [_listing(directory / below) for below in NESTED]
    except InputError:
        return False
    return any(
        layout_of(names) is not None or any(TRAINING_STATE.fullmatch(n) for n in names)
        for names in listings
    )


def _shown(names: list[str]) -> str:
    # Epochs count up, so 2 comes before 10.
    ordered = sorted(names, key=lambda n: (not n.isdecimal(), int(n) if n.isdecimal() else 0, n))
    more = ["…"] if len(ordered) > MAX_SHOWN else []
    return ", ".join(ordered[:MAX_SHOWN] + more)
