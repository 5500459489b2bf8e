"""The forward pass of an EAGLE-3 draft, every switch of it as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from pytest_eagle_contract.draft.attention import Keys, attend
from pytest_eagle_contract.draft.rotary import RotaryTable
from pytest_eagle_contract.draft.shape import Shape
from pytest_eagle_contract.draft.wiring import Wiring

MAX_LOGITS = 2**25
"""Logits held at once: 64 MB in bfloat16."""

ACTIVATIONS = {
    "silu": functional.silu,
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "gelu_pytorch_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


class ReferenceDraft:
    """Run a draft as the EAGLE-3 reference defines it, under a wiring.

    `weights` are its tensors by canonical name on one device in one dtype; `embedding` is the table
    of the target's vocabulary [V, H] that the wiring asks for.
    """

    def __init__(
        self, shape: Shape, wiring: Wiring, weights: Mapping[str, Tensor], embedding: Tensor
    ) -> None:
        self.shape, self.wiring, self.weights, self.embedding = shape, wiring, weights, embedding
        self.rotary = RotaryTable(shape.rotary, embedding.device)
        self.targets = torch.from_numpy(wiring.token_map.targets.copy()).to(embedding.device)

    def chain(self, tokens: Tensor, states: Tensor, steps: int, start: int = 0) -> Tensor:
        """Return the target ids [steps, R] that rows start, start + 1, … draft, tokens forced.

        Row p drafts token p + 2 from token p + 1 and state p; step j then reads the true token
        p + 1 + j. A draft that counts only where all before it were right needs no other tokens
        than the true ones. For shapes see `outputs`.
        """
        with torch.inference_mode():
            outputs = self.outputs(tokens, states, steps, start)
            return torch.stack([self.targets[self.best(out)] for out in outputs])

    def outputs(
        self, tokens: Tensor, states: Tensor, steps: int, start: int = 0
    ) -> Iterator[Tensor]:
        """Yield for each step what the head takes, [R, H] with R = N - 1 - start.

        `tokens` is int64 [N]; `states` [N, A·Ht] the target states of the same positions, blocks in
        the wiring's order, or [N, H] without fc. Reads beyond the last token repeat it.
        """
        rows = tokens.numel() - 1
        layers = [Keys() for _ in range(self.shape.layers)]
        hidden = self._first_hidden(states[:rows])
        for step in range(steps):
            begin = start if step else 0
            at = torch.arange(begin, rows, device=tokens.device)
            read = tokens[(at + 1 + step).clamp(max=rows)]
            hidden = self._layers(read, hidden, at + step, layers, begin)
            if not step:
                hidden = hidden[start:]
            normed = self._norm(hidden, "norm.weight")
            yield normed
            if self.wiring.norm_output:
                hidden = normed

    def best(self, outputs: Tensor) -> Tensor:
        """Return the draft ids [R] of the highest logits, rows in chunks."""
        head = self.weights["lm_head.weight"]
        step = max(1, MAX_LOGITS // head.shape[0])
        return torch.cat([functional.linear(part, head).argmax(-1) for part in outputs.split(step)])

    def _first_hidden(self, states: Tensor) -> Tensor:
        wiring, weights = self.wiring, self.weights
        if not wiring.boundaries:
            return states
        if wiring.norm_before_fc:
            states = self._norm(states, "input_norm.weight")
        if wiring.fc_norm:
            blocks = states.split(self.shape.target_hidden, dim=-1)
            states = torch.cat(
                [self._norm(b, f"fc_norm.{i}.weight") for i, b in enumerate(blocks)], dim=-1
            )
        return functional.linear(states, weights["fc.weight"], weights.get("fc.bias"))

    def _layers(
        self, read: Tensor, hidden: Tensor, positions: Tensor, layers: list[Keys], start: int
    ) -> Tensor:
        for index, keys in enumerate(layers):
            at = f"layers.{index}."
            if index == 0:
                embedded = functional.embedding(read, self.embedding).to(hidden.dtype)
                normed = self._norm(hidden, at + "hidden_norm.weight")
                residual = normed if self.wiring.norm_before_residual else hidden
                taken = torch.cat(
                    (self._norm(embedded, at + "input_layernorm.weight"), normed), dim=-1
                )
            else:
                residual = hidden
                taken = self._norm(hidden, f"{at}{self.wiring.later_norm}.weight")
            hidden = residual + self._attention(at + "self_attn.", taken, positions, keys, start)
            normed = self._norm(hidden, at + "post_attention_layernorm.weight")
            hidden = hidden + self._mlp(at + "mlp.", normed)
        return hidden

    def _attention(
        self, at: str, taken: Tensor, positions: Tensor, keys: Keys, start: int
    ) -> Tensor:
        shape = self.shape
        query = self._linear(at + "q_proj", taken).unflatten(-1, (shape.heads, shape.head_dim))
        key = self._linear(at + "k_proj", taken).unflatten(-1, (shape.kv_heads, shape.head_dim))
        value = self._linear(at + "v_proj", taken).unflatten(-1, (shape.kv_heads, shape.head_dim))
        if at + "q_norm.weight" in self.weights:
            query, key = (
                self._norm(query, at + "q_norm.weight"),
                self._norm(key, at + "k_norm.weight"),
            )
        query, key = self.rotary.turn(query, positions), self.rotary.turn(key, positions)
        if keys.first is None:
            keys.first = (key, value)
        else:
            keys.chain.append((key, value))
        mixed = attend(query, keys, start, shape.window)
        return self._linear(at + "o_proj", mixed.flatten(-2))

    def _mlp(self, at: str, normed: Tensor) -> Tensor:
        gate = ACTIVATIONS[self.shape.activation](self._linear(at + "gate_proj", normed))
        return self._linear(at + "down_proj", gate * self._linear(at + "up_proj", normed))

    def _linear(self, name: str, taken: Tensor) -> Tensor:
        return functional.linear(
            taken, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias")
        )

    def _norm(self, taken: Tensor, name: str) -> Tensor:
        """Norm as engines do: in float32, then scaled in the weights' own type."""
        wide = taken.float()
        scaled = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.shape.eps)
        return scaled.to(taken.dtype) * self.weights[name]
