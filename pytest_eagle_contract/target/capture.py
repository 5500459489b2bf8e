"""Run a target over tokens and keep the hidden states between its blocks."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pytest_eagle_contract.errors import InputError

BLOCKS = ("layers", "language_model.layers", "h")
"""Where the decoder blocks stand below transformers' base model."""


@dataclass(frozen=True, slots=True)
class Captured:
    """Hold what one pass over N tokens gave.

    `states` maps boundaries to [N, Ht]: 0 is the embedding's output, k the output of k blocks.
    `final` [N, Ht] is the state after the final norm, which the head takes.
    """

    states: dict[int, Tensor]
    final: Tensor


class TargetModel:
    """Run a causal language model of transformers, and see between its blocks."""

    def __init__(self, model: Any) -> None:
        self.model, self.base = model, model.base_model
        blocks = next((found for path in BLOCKS if (found := _at(self.base, path))), None)
        if blocks is None:
            problem = f"has its blocks at none of {', '.join(BLOCKS)}"
            raise InputError(type(model).__name__, "", problem, "use a target that is known here")
        self.blocks = blocks
        self.head = model.get_output_embeddings()
        self.embedding: Tensor = model.get_input_embeddings().weight
        # Newer releases of transformers renamed it, and warn of the older name.
        named = "cache" in inspect.signature(self.base.forward).parameters
        self._cache_name = "cache" if named else "past_key_values"

    @property
    def layers(self) -> int:
        """Return the number of blocks, L."""
        return len(self.blocks)

    @property
    def ends(self) -> tuple[int, ...]:
        """Return the token ids that end the target's text."""
        found = self.model.generation_config.eos_token_id
        return tuple(found) if isinstance(found, list) else () if found is None else (found,)

    def capture(
        self, tokens: Tensor, boundaries: Sequence[int] = (), cache: Any = None
    ) -> Captured:
        """Run over `tokens` int64 [N], after those in `cache`, and return states at `boundaries`.

        States are copied as they pass, so that a block which changes its input in place changes
        none of them. A boundary outside 0..L raises InputError.
        """
        outside = [b for b in boundaries if not 0 <= b <= self.layers]
        if outside:
            problem = f"boundary {outside[0]} is outside 0..{self.layers}"
            raise InputError("target", "", problem, "count from 0, the embedding, to L")
        states: dict[int, Tensor] = {}
        with torch.inference_mode(), self._watched(set(boundaries), states):
            kept = {self._cache_name: cache} if cache is not None else {}
            out = self.base(input_ids=tokens[None], use_cache=cache is not None, **kept)
        return Captured(states, out.last_hidden_state[0])

    def best(self, final: Tensor, rows: int = 1024) -> Tensor:
        """Return the greedy next tokens [N] after final states [N, Ht]; logits in chunks."""
        with torch.inference_mode():
            return torch.cat([self.head(part).argmax(-1) for part in final.split(rows)])

    def extend(self, tokens: Tensor, count: int, stop: Sequence[int] = ()) -> Tensor:
        """Return `tokens` int64 [N] with up to `count` greedy tokens more.

        The first id of `stop` among them is kept and ends them.
        """
        from transformers import DynamicCache

        cache, read, found = DynamicCache(config=self.model.config), tokens, [tokens]
        for _ in range(count):
            read = self.best(self.capture(read, cache=cache).final[-1:])
            found.append(read)
            if int(read) in stop:
                break
        return torch.cat(found)

    @contextmanager
    def _watched(self, wanted: set[int], states: dict[int, Tensor]) -> Iterator[None]:
        hooks = [
            self.blocks[b].register_forward_pre_hook(_before(b, states), with_kwargs=True)
            for b in wanted
            if b < self.layers
        ]
        if self.layers in wanted:
            hooks.append(self.blocks[-1].register_forward_hook(_after(self.layers, states)))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def _before(boundary: int, states: dict[int, Tensor]) -> Any:
    def keep(block: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        states[boundary] = (args[0] if args else kwargs["hidden_states"])[0].clone()

    return keep


def _after(boundary: int, states: dict[int, Tensor]) -> Any:
    def keep(block: Any, args: tuple[Any, ...], output: Any) -> None:
        states[boundary] = (output if isinstance(output, Tensor) else output[0])[0].clone()

    return keep


def _at(model: Any, path: str) -> Any:
    for name in path.split("."):
        model = getattr(model, name, None)
    return model
