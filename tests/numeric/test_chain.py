"""All positions at once give what an engine's loop gives one position at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from pytest_eagle_contract.draft import attention
from pytest_eagle_contract.draft.model import ReferenceDraft

from .drafts import SHAPE, draft

STEPS, TOKENS = 4, 23


def inputs(reference: ReferenceDraft, seed: int) -> tuple[Tensor, Tensor]:
    shape = reference.shape
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(shape.vocab, (TOKENS,), generator=generator)
    width = shape.aux_states * shape.target_hidden if reference.wiring.boundaries else shape.hidden
    return tokens, torch.randn(TOKENS, width, generator=generator)


def looped(reference: ReferenceDraft, tokens: Tensor, states: Tensor, row: int) -> list[Tensor]:
    """Return the outputs of one row's chain, each step a plain pass over a growing sequence.

    Written without the chain's own attention: the sequence is the target's positions up to `row`,
    then the draft's own steps, under one ordinary causal mask.
    """
    fed = reference._first_hidden(states[: row + 1])
    read = list(tokens[1 : row + 2])
    outputs = []
    for step in range(STEPS):
        hidden = plain(reference, torch.stack(read), fed)
        normed = reference._norm(hidden[-1], "norm.weight")
        outputs.append(normed)
        carried = normed if reference.wiring.norm_output else hidden[-1]
        fed = torch.cat((fed, carried[None]))
        read.append(tokens[min(row + 2 + step, len(tokens) - 1)])
    return outputs


def plain(reference: ReferenceDraft, read: Tensor, fed: Tensor) -> Tensor:
    """Run the layers over one sequence with textbook attention."""
    shape, weights, wiring = reference.shape, reference.weights, reference.wiring
    length = len(read)
    at = torch.arange(length)
    hidden = fed
    for index in range(shape.layers):
        name = f"layers.{index}."
        if index == 0:
            normed = reference._norm(hidden, name + "hidden_norm.weight")
            residual = normed if wiring.norm_before_residual else hidden
            embedded = reference._norm(reference.embedding[read], name + "input_layernorm.weight")
            taken = torch.cat((embedded, normed), dim=-1)
        else:
            residual = hidden
            taken = reference._norm(hidden, f"{name}{wiring.later_norm}.weight")
        heads = []
        for kind, count in (("q", shape.heads), ("k", shape.kv_heads), ("v", shape.kv_heads)):
            made = taken @ weights[f"{name}self_attn.{kind}_proj.weight"].T
            made = made.reshape(length, count, shape.head_dim)
            heads.append(made if kind == "v" else reference.rotary.turn(made, at))
        query, key, value = heads
        key, value = (t.repeat_interleave(shape.heads // shape.kv_heads, 1) for t in (key, value))
        scores = torch.einsum("qhd,khd->hqk", query, key) / shape.head_dim**0.5
        hide = at[None] > at[:, None]
        if shape.window is not None:
            hide = hide | (at[None] <= at[:, None] - shape.window)
        mixed = scores.masked_fill(hide, float("-inf")).softmax(-1)
        out = torch.einsum("hqk,khd->qhd", mixed, value).reshape(length, -1)
        hidden = residual + out @ weights[f"{name}self_attn.o_proj.weight"].T
        normed = reference._norm(hidden, name + "post_attention_layernorm.weight")
        gate = torch.nn.functional.silu(normed @ weights[f"{name}mlp.gate_proj.weight"].T)
        up = normed @ weights[f"{name}mlp.up_proj.weight"].T
        hidden = hidden + (gate * up) @ weights[f"{name}mlp.down_proj.weight"].T
    return hidden


CASES = {
    "reference": {},
    "norm before residual": {"norm_before_residual": True},
    "norm before fc": {"norm_before_fc": True},
    "fc norm": {"fc_norm": True},
    "both norms before fc": {"fc_norm": True, "norm_before_fc": True},
    "norm output": {"norm_output": True},
    "everything": {
        "norm_before_residual": True,
        "norm_before_fc": True,
        "fc_norm": True,
        "norm_output": True,
    },
}


@pytest.mark.parametrize("window", [None, 7], ids=["full", "window"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("switches", CASES.values(), ids=CASES)
def test_outputs_are_the_loops(switches: dict[str, bool], layers: int, window: int | None) -> None:
    reference = draft(replace(SHAPE, layers=layers, window=window), **switches)
    tokens, states = inputs(reference, seed=layers)
    found = list(reference.outputs(tokens, states, STEPS))
    for row in (0, 1, 9, TOKENS - 2):
        for step, expected in enumerate(looped(reference, tokens, states, row)):
            torch.testing.assert_close(found[step][row], expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("window", [None, 7], ids=["full", "window"])
def test_rows_left_out_change_none_of_the_others(window: int | None) -> None:
    reference = draft(replace(SHAPE, layers=2, window=window))
    tokens, states = inputs(reference, seed=4)
    everything = list(reference.outputs(tokens, states, STEPS))
    late = list(reference.outputs(tokens, states, STEPS, start=11))
    for whole, part in zip(everything, late, strict=True):
        torch.testing.assert_close(part, whole[11:], rtol=0, atol=2e-5)


@pytest.mark.parametrize("scores", [1, 200, 10_000])
def test_blocks_of_rows_give_the_same(scores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = draft(replace(SHAPE, layers=2))
    tokens, states = inputs(reference, seed=5)
    whole = reference.chain(tokens, states, STEPS)
    monkeypatch.setattr(attention, "MAX_SCORES", scores)
    assert torch.equal(reference.chain(tokens, states, STEPS), whole)


def test_without_aux_states_the_final_state_is_fed_past_fc() -> None:
    reference = draft(replace(SHAPE, target_hidden=32), boundaries=())
    tokens, states = inputs(reference, seed=6)
    found = list(reference.outputs(tokens, states, STEPS))
    for step, expected in enumerate(looped(reference, tokens, states, 9)):
        torch.testing.assert_close(found[step][9], expected, rtol=0, atol=2e-5)


def test_drafts_are_target_ids() -> None:
    reference = draft()
    tokens, states = inputs(reference, seed=7)
    ids = reference.chain(tokens, states, STEPS)
    assert ids.shape == (STEPS, TOKENS - 1)
    assert set(ids.flatten().tolist()) <= set(reference.wiring.token_map.targets.tolist())
