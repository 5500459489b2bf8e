"""Bring a draft's tensors into PyTorch."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pytest_eagle_contract.pair import Draft

BITS = {"bfloat16": (np.int16, torch.bfloat16)}
"""numpy types that torch does not know: read as plain bits, then seen as the torch type."""


def load_weights(
    draft: Draft, device: torch.device, dtype: torch.dtype, leave: Collection[str] = ()
) -> dict[str, Tensor]:
    """Return a draft's weights by canonical name, on one device in one dtype."""
    return {
        name: to_torch(draft.checkpoint.read(info.name)).to(device=device, dtype=dtype)
        for name, info in draft.tensors.items()
        if name not in leave
    }


def to_torch(values: NDArray[np.generic]) -> Tensor:
    """Return an array of numpy or ml_dtypes as a tensor that shares its memory where it can."""
    bits, kind = BITS.get(values.dtype.name, (None, None))
    if bits is None or kind is None:
        return torch.from_numpy(values)
    return torch.from_numpy(values.view(bits)).view(kind)
