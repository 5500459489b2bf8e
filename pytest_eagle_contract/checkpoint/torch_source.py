"""Read PyTorch files without running what they may carry; torch is imported only when needed."""

from __future__ import annotations

import importlib
import math
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_eagle_contract.checkpoint import files
from pytest_eagle_contract.checkpoint.dtypes import TORCH, decoded
from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.checkpoint.safetensors_source import check_index
from pytest_eagle_contract.errors import InputError, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LEGACY = 2 * 1024**3
MAX_SIDE_FILE = 512 * 1024**2
UNSAFE = re.compile(r"GLOBAL (\S{1,80})")
AGAIN = "save it again as safetensors"


@dataclass(frozen=True, slots=True)
class TorchSource:
    """Read tensors from state dicts that torch mapped into memory.

    `held` are torch tensors, checked to lie within their storage.
    """

    tensors: Mapping[str, TensorInfo]
    held: Mapping[str, Any]

    def infos(self) -> Iterator[TensorInfo]:
        """Yield every tensor's description."""
        return iter(self.tensors.values())

    def read(
        self, name: str, start: int | None = None, stop: int | None = None
    ) -> NDArray[np.generic]:
        """Return rows `start:stop` of the first dimension, the whole tensor without bounds."""
        info, tensor = self.tensors[name], self.held[name]
        rows = tensor if tensor.dim() == 0 else tensor[slice(start, stop)]
        return _to_numpy(rows, info)

    def read_flat(self, name: str, start: int, stop: int) -> NDArray[np.generic]:
        """Return values `start:stop` of the flattened tensor."""
        info, tensor = self.tensors[name], self.held[name]
        width = max(math.prod(info.shape[1:]), 1)
        first = start // width
        # Only the rows around the values: a tensor that lies turned is copied to be flattened.
        rows = tensor[first : -(-stop // width)] if info.shape else tensor
        begin = start - first * width
        return _to_numpy(rows.reshape(-1)[begin : begin + stop - start], info)


def open_torch(paths: tuple[Path, ...], index: Mapping[str, str] | None = None) -> TorchSource:
    """Map the state dicts of `paths`; `index` maps tensors to file names where an index lists them.

    InputError without torch, for a file that torch refuses or that carries code, for an entry
    that is no dense tensor, and for a tensor stored twice or sought in vain.
    """
    tensors: dict[str, TensorInfo] = {}
    held: dict[str, Any] = {}
    for path in paths:
        state = _load(path, MAX_LEGACY)
        if not isinstance(state, Mapping):
            raise InputError(path, "", f"holds a {type(state).__name__}", "save a state dict")
        for name, tensor in state.items():
            info = _describe(path, str(name), tensor)
            if info.name in tensors:
                other = tensors[info.name].file.name
                raise InputError(path, info.name, f"is also in {other}", "keep one of the two")
            tensors[info.name], held[info.name] = info, tensor
    check_index(index, {name: info.file for name, info in tensors.items()}, paths)
    return TorchSource(tensors, held)


def load_pickle(path: Path, limit: int = MAX_SIDE_FILE) -> object:
    """Return a small `.pt` file's content with every tensor as a numpy array.

    Dicts, lists and tuples are kept. InputError without torch, above `limit` bytes, and for
    whatever torch's weights-only loader refuses.
    """
    with files.open_regular(path) as file:
        size = files.size_of(file)
    if size > limit:
        raise InputError(path, "", f"is {size} bytes, the limit is {limit}", AGAIN)
    try:
        return _plain(path, "", _load(path, limit), {})
    except RecursionError as error:
        raise InputError(path, "", "is nested too deeply", AGAIN) from error


def _load(path: Path, legacy_limit: int) -> object:
    torch = _torch(path)
    with files.open_regular(path) as file:
        size = files.size_of(file)
        zipped = zipfile.is_zipfile(file)
    if zipped:
        _check_stored_size(path, size)
    elif size > legacy_limit:
        problem = f"is an old-format torch file of {size} bytes, the limit is {legacy_limit}"
        raise InputError(path, "", problem, AGAIN)
    try:
        # It warns about pickle protocols, which `-W error` would turn into a refusal.
        with warnings.catch_warnings(action="ignore"):
            return torch.load(path, map_location="cpu", mmap=zipped, weights_only=True)
    # The loader runs on whatever the file says: any error it lets out means a bad file.
    except Exception as error:
        raise InputError(path, "", f"is refused by torch ({_reason(error)})", AGAIN) from error


def _torch(path: Path) -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise InputError(
            path,
            "",
            "is a PyTorch file and torch is not installed",
            "pip install 'pytest-eagle-contract[torch]' or convert the file to safetensors",
        ) from error


def _check_stored_size(path: Path, size: int) -> None:
    """Refuse an archive that unpacks to more than its own size: torch never compresses."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(path, "", f"is a broken archive ({error})", AGAIN) from error
    if unpacked > size:
        raise InputError(path, "", f"unpacks from {size} to {unpacked} bytes", AGAIN)


def _reason(error: Exception) -> str:
    # torch's message runs over many lines of advice, some of it on how to run the code.
    text = one_line(str(error), 2000)
    if carried := UNSAFE.search(text):
        return f"it carries code or objects other than tensors: {carried[1]}"
    if text.startswith("Weights only load failed"):
        return "it carries more than its weights-only loader accepts"
    return one_line(f"{type(error).__name__}: {text}", 120)


def _describe(path: Path, name: str, tensor: Any) -> TensorInfo:
    """Describe a tensor whose values all lie in its own storage; anything else is an InputError."""
    torch = _torch(path)
    if not isinstance(tensor, torch.Tensor):
        raise InputError(path, name, f"is a {type(tensor).__name__}", "save a plain state dict")
    code = TORCH.get(str(tensor.dtype).removeprefix("torch."))
    if code is None or tensor.layout != torch.strided or tensor.is_meta:
        raise InputError(
            path, name, f"has type {tensor.dtype}, {tensor.layout}", "save it as a dense tensor"
        )
    # A stride of 0 lets a few bytes pose as terabytes.
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise InputError(path, name, "is larger than its storage", "save it contiguous")
    return TensorInfo(name, code, tuple(tensor.shape), path)


def _to_numpy(tensor: Any, info: TensorInfo) -> NDArray[np.generic]:
    torch = _torch(info.file)
    plain = tensor.detach().resolve_conj().resolve_neg()
    # `contiguous` would keep the odd stride of a single value, which no view of bytes takes.
    copied = plain.clone(memory_format=torch.contiguous_format)
    flat = copied.reshape(-1).view(torch.uint8).numpy()
    return decoded(flat, info.dtype, info.file, info.name).reshape(tuple(plain.shape))


def _plain(path: Path, place: str, value: object, done: dict[int, object]) -> object:
    """Convert once per object: pickles may share one list a billion times."""
    if id(value) in done:
        return done[id(value)]
    plain: object
    if isinstance(value, Mapping):
        plain = {k: _plain(path, f"{place}.{k}", v, done) for k, v in value.items()}
    elif isinstance(value, list | tuple):
        items = [_plain(path, place, v, done) for v in value]
        plain = items if isinstance(value, list) else tuple(items)
    elif value is None or isinstance(value, bool | int | float | str | bytes):
        plain = value
    else:
        plain = _to_numpy(value, _describe(path, place.lstrip("."), value))
    done[id(value)] = plain
    return plain
