"""What the target says about a prompt: its continuation, and its states along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pytest_eagle_contract.prompts import Prompt
from pytest_eagle_contract.target.capture import TargetModel


@dataclass(frozen=True, slots=True)
class Observed:
    """Hold one prompt with the target's continuation, and the states of all its positions.

    `tokens` int64 [N] are the prompt, the continuation and as many tokens more as one step looks
    ahead. `start` is the last prompt position, `count` the length of the continuation. `states`
    maps boundaries to [N, Ht]; `final` is the state after the final norm. `unlike` counts
    continuation tokens that are not the target's greedy choice, for which no prediction is exact.
    """

    tokens: Tensor
    start: int
    count: int
    states: dict[int, Tensor]
    final: Tensor
    unlike: int


def observe(
    target: TargetModel,
    prompt: Prompt,
    boundaries: Sequence[int],
    *,
    steps: int,
    new_tokens: int,
    stop: Sequence[int] = (),
) -> Observed:
    """Run the target over a prompt.

    Without a continuation it writes one of `new_tokens`, ended by any id of `stop`.
    """
    device = target.embedding.device
    tokens = torch.tensor([*prompt.token_ids, *prompt.continuation], device=device)
    begin = len(prompt.token_ids)
    if prompt.continuation:
        count = len(prompt.continuation)
    else:
        tokens = target.extend(tokens, new_tokens, stop)
        count = len(tokens) - begin
    tokens = target.extend(tokens, steps)
    captured = target.capture(tokens, boundaries)
    best = target.best(captured.final[begin - 1 : begin - 1 + count])
    unlike = int((best != tokens[begin : begin + count]).sum())
    return Observed(tokens, begin - 1, count, captured.states, captured.final, unlike)
