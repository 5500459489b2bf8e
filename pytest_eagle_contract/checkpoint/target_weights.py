"""A target's weights, of which only the shard that holds the tensor asked for is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_eagle_contract.checkpoint.locate import SHARDED, SINGLE, read_index
from pytest_eagle_contract.checkpoint.model import TensorInfo, TensorSource
from pytest_eagle_contract.checkpoint.safetensors_source import open_safetensors

MAX_INDEX = 64 * 1024 * 1024
"""About three times the index of a target with 384 quantised experts in each of 61 layers."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetWeights:
    """Hold where a target's safetensors files lie; they are opened when a tensor is sought.

    `names` are the files in `root`. Compared by identity, as checkpoints are.
    """

    root: Path
    names: tuple[str, ...]

    def find(self, wanted: Sequence[str]) -> tuple[TensorInfo, TensorSource] | None:
        """Return the first of the tensors that is stored, with what reads it; None without one.

        A shard that is missing or broken raises InputError, others are not looked at.
        """
        shards, index = self._shards(), None
        if SINGLE not in self.names and SHARDED in self.names:
            listed = read_index(self.root / SHARDED, MAX_INDEX)
            index = {name: listed[name] for name in wanted if name in listed}
            shards = tuple(dict.fromkeys(index.values()))
        source = open_safetensors(tuple(self.root / shard for shard in shards), index)
        infos = {info.name: info for info in source.infos()}
        found = next((infos[name] for name in wanted if name in infos), None)
        return None if found is None else (found, source)

    def _shards(self) -> tuple[str, ...]:
        if SINGLE in self.names:
            return (SINGLE,)
        return tuple(name for name in self.names if name.endswith(".safetensors"))
