"""Random drafts to run: a shape, weights that hide nothing, and a map that is no prefix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pytest_eagle_contract.checkpoint.geometry import Geometry
from pytest_eagle_contract.checkpoint.names import expected_shapes, optional_shapes
from pytest_eagle_contract.draft.model import ReferenceDraft
from pytest_eagle_contract.draft.shape import Rotary, Shape
from pytest_eagle_contract.draft.wiring import Wiring
from pytest_eagle_contract.token_map import TokenMap

SHAPE = Shape(
    hidden=32,
    target_hidden=24,
    heads=4,
    kv_heads=2,
    head_dim=16,
    layers=1,
    aux_states=3,
    draft_ids=40,
    vocab=96,
    eps=1e-5,
    activation="silu",
    window=None,
    rotary=Rotary(theta=10_000.0, kind="default", parameters={}, positions=512, head_dim=16),
)
INNER = 48


def token_map(shape: Shape, seed: int = 5) -> TokenMap:
    ids = np.random.default_rng(seed).permutation(shape.vocab)[: shape.draft_ids]
    return TokenMap(ids, shape.vocab)


def weights(shape: Shape, seed: int = 0) -> dict[str, Tensor]:
    """Return random weights of every tensor that a draft of this shape may have."""
    generator = torch.Generator().manual_seed(seed)
    geometry = _geometry(shape)
    named = {
        **expected_shapes(geometry, shape.layers, shape.aux_states),
        **optional_shapes(geometry, shape.layers, shape.aux_states),
    }
    found = {}
    for name, sizes in named.items():
        if name in ("d2t", "t2d", "embed_tokens.weight") or name.endswith(".bias"):
            continue
        values = torch.randn([s or 0 for s in sizes], generator=generator)
        norm = len(sizes) == 1
        found[name] = 1 + 0.3 * values if norm else values / (sizes[-1] or 1) ** 0.5
    return {n: t for n, t in found.items() if "q_norm" not in n and "k_norm" not in n}


def draft(shape: Shape = SHAPE, seed: int = 0, **switches: object) -> ReferenceDraft:
    """Return a random draft of a shape under some switches."""
    boundaries = tuple(range(1, shape.aux_states + 1))
    wiring = replace(Wiring(boundaries, token_map(shape)), **switches)  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(seed + 1)
    embedding = torch.randn(shape.vocab, shape.hidden, generator=generator)
    return ReferenceDraft(shape, wiring, weights(shape, seed), embedding)


def _geometry(shape: Shape) -> Geometry:
    from pathlib import Path

    from pytest_eagle_contract.checkpoint.config import Config
    from pytest_eagle_contract.checkpoint.geometry import read_geometry

    data = {
        "hidden_size": shape.hidden,
        "target_hidden_size": shape.target_hidden,
        "intermediate_size": INNER,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "vocab_size": shape.vocab,
        "draft_vocab_size": shape.draft_ids,
    }
    return read_geometry(Config(Path("config.json"), data))
