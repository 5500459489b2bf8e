"""What a draft checkpoint looks like once its files were found and its headers read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Describe one stored tensor without reading it.

    `dtype` is the safetensors code (`BF16`, `F32`, `I64`, `BOOL`, …) whatever the file format.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: Path

    @property
    def rows(self) -> int:
        """Return the first dimension, 0 for a tensor without one."""
        return self.shape[0] if self.shape else 0


class TensorSource(Protocol):
    """Read tensors that a header announced."""

    def infos(self) -> Iterator[TensorInfo]:
        """Yield every tensor's description, from headers alone."""

    def read(
        self, name: str, start: int | None = None, stop: int | None = None
    ) -> NDArray[np.generic]:
        """Return rows `start:stop` of the first dimension, the whole tensor without bounds."""

    def read_flat(self, name: str, start: int, stop: int) -> NDArray[np.generic]:
        """Return values `start:stop` of the flattened tensor, 0 <= start <= stop <= its size."""


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Hold a draft checkpoint: its config, its tensors' descriptions and a way to read them.

    Compared by identity: two that were opened apart may have read different files.

    `layout` names how the weights are stored (`safetensors`, `sharded safetensors`, `torch bin`,
    …) and `root` is the directory that holds the weights, which differs from `path` where a
    trainer nests them. `files` are the names found directly in `path`.
    """

    path: Path
    root: Path
    layout: str
    config: Config
    tensors: Mapping[str, TensorInfo]
    files: tuple[str, ...]
    source: TensorSource

    def read(
        self, name: str, start: int | None = None, stop: int | None = None
    ) -> NDArray[np.generic]:
        """Return a tensor, or rows `start:stop` of it, in its stored dtype, BF16 as float32.

        Bounds follow Python's slices. A name that is not stored raises InputError.
        """
        self._require(name)
        return self.source.read(name, start, stop)

    def read_flat(self, name: str, start: int, stop: int) -> NDArray[np.generic]:
        """Return values `start:stop` of a flattened tensor: a part of a row costs no whole row."""
        self._require(name)
        return self.source.read_flat(name, start, stop)

    def _require(self, name: str) -> None:
        if name not in self.tensors:
            raise InputError(self.root, name, "is not stored here", "ask for one of `tensors`")
