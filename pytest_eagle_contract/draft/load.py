"""Bring a draft's tensors into PyTorch."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor

from pytest_eagle_contract.pair import Draft


def load_weights(
    draft: Draft, device: torch.device, dtype: torch.dtype, leave: Collection[str] = ()
) -> dict[str, Tensor]:
    """Return a draft's weights by canonical name, on one device in one dtype."""
    return {
        name: torch.from_numpy(draft.checkpoint.read(info.name)).to(device=device, dtype=dtype)
        for name, info in draft.tensors.items()
        if name not in leave
    }
