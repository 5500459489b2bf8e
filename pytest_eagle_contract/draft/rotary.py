"""Rotary position embedding, by transformers' own formulas where there is more than a base."""

from __future__ import annotations

import torch
from torch import Tensor

from pytest_eagle_contract.draft.shape import Rotary
from pytest_eagle_contract.errors import InputError

PLAIN = frozenset({"default", "none", "mrope"})
"""Types that turn by the base alone; of mrope that holds for text, whose three axes are equal."""


class RotaryTable:
    """Turn queries and keys by their positions."""

    def __init__(self, settings: Rotary, device: torch.device) -> None:
        self.inverse, self.scale = _frequencies(settings, device)

    def turn(self, heads: Tensor, positions: Tensor) -> Tensor:
        """Return `heads` [S, n, d] turned by `positions` [S], in their own dtype."""
        angles = positions.to(torch.float32)[:, None, None] * self.inverse
        cos, sin = angles.cos() * self.scale, angles.sin() * self.scale
        width = 2 * self.inverse.numel()
        turned, rest = heads[..., :width].float(), heads[..., width:]
        low, high = turned.chunk(2, dim=-1)
        mixed = torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)
        return torch.cat((mixed.to(heads.dtype), rest), dim=-1)


def _frequencies(settings: Rotary, device: torch.device) -> tuple[Tensor, float]:
    partial = settings.parameters.get("partial_rotary_factor", 1.0)
    if settings.kind in PLAIN:
        width = int(settings.head_dim * float(str(partial)))
        steps = torch.arange(0, width, 2, dtype=torch.float32, device=device)
        return settings.theta ** (-steps / width), 1.0
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    make = ROPE_INIT_FUNCTIONS.get(settings.kind)
    if make is None:
        listed = ", ".join(sorted({*PLAIN, *ROPE_INIT_FUNCTIONS}))
        raise InputError("rope", "rope_type", f"is {settings.kind!r}", f"one of {listed} is run")
    rope = {"rope_type": settings.kind, "rope_theta": settings.theta, **settings.parameters}
    config = LlamaConfig(
        head_dim=settings.head_dim,
        max_position_embeddings=settings.positions,
        rope_parameters=rope,
    )
    try:
        inverse, scale = make(config, device)
    # It reads each parameter as it comes: a missing or mistyped one is the checkpoint's fault.
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"cannot be used ({type(error).__name__}: {error})"
        raise InputError("rope", settings.kind, problem, "write its parameters") from error
    return inverse.to(device), float(scale)
