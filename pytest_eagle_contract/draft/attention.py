"""Attention of K draft steps at all positions at once.

Step j of position p attends to the first-step keys of positions up to p and to its own chain, the
keys of its steps 1 to j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

MAX_SCORES = 2**25
"""Scores held at once: 128 MB in float32."""


@dataclass(slots=True)
class Keys:
    """Hold what one layer has computed: first-step keys and values [S, kv, d], and the chain's."""

    first: tuple[Tensor, Tensor] | None = None
    chain: list[tuple[Tensor, Tensor]] = field(default_factory=list)


def attend(query: Tensor, keys: Keys, start: int, window: int | None) -> Tensor:
    """Return the attention output [R, n, d] of queries of rows start to start + R.

    Each row has the position of its row plus the length of the chain, as `window` counts it.
    """
    assert keys.first is not None
    if not keys.chain and window is None and start == 0:
        return _causal(query, *keys.first)
    rows = query.shape[0]
    step = max(1, MAX_SCORES // (query.shape[1] * keys.first[0].shape[0]))
    parts = [
        _block(query, keys, start, window, slice(at, min(at + step, rows)))
        for at in range(0, rows, step)
    ]
    return torch.cat(parts)


def _causal(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    heads_first = (t.transpose(0, 1)[None] for t in (query, key, value))
    out = functional.scaled_dot_product_attention(
        *heads_first, is_causal=True, enable_gqa=query.shape[1] != key.shape[1]
    )
    return out[0].transpose(0, 1)


def _block(query: Tensor, keys: Keys, start: int, window: int | None, rows: slice) -> Tensor:
    assert keys.first is not None
    first = start + rows.start
    end = start + rows.stop
    key, value = (t[:end] for t in keys.first)
    count, kv, width = rows.stop - rows.start, key.shape[1], key.shape[2]
    grouped = query[rows].reshape(count, kv, -1, width) * width**-0.5
    scores = torch.einsum("rkgd,skd->kgrs", grouped, key)
    at = torch.arange(first, end, device=query.device)[:, None]
    seen = torch.arange(end, device=query.device)[None]
    hidden = seen > at
    if window is not None:
        hidden = hidden | (seen <= at + len(keys.chain) - window)
    scores = scores.masked_fill(hidden, float("-inf"))
    own = _own(grouped, [k[rows] for k, _ in keys.chain])
    weights = torch.cat([scores, *own], dim=-1).softmax(dim=-1, dtype=torch.float32)
    weights = weights.to(value.dtype)
    out = torch.einsum("kgrs,skd->rkgd", weights[..., :end], value)
    for place, (_, chained) in enumerate(keys.chain):
        share = weights[..., end + place].permute(2, 0, 1)
        out = out + share[..., None] * chained[rows][:, :, None]
    return out.reshape(count, -1, width)


def _own(grouped: Tensor, chain: Sequence[Tensor]) -> list[Tensor]:
    """Return the scores [kv, g, R, 1] of each row with its own chain."""
    return [torch.einsum("rkgd,rkd->kgr", grouped, key)[..., None] for key in chain]
