"""How a draft is wired: everything that trainer and engine may disagree about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_eagle_contract.token_map import TokenMap


@dataclass(frozen=True, slots=True)
class Wiring:
    """State one way to run a draft.

    `boundaries` are in the order in which fc takes them; () feeds the target's final state past fc.
    `token_map` gives target ids. `later_norm` is the norm before attention in layers after the
    first, `embedding` whose table is used. `without` are biases that are stored and not loaded.
    """

    boundaries: tuple[int, ...]
    token_map: TokenMap
    norm_before_residual: bool = False
    norm_before_fc: bool = False
    fc_norm: bool = False
    norm_output: bool = False
    later_norm: Literal["input_layernorm", "hidden_norm"] = "input_layernorm"
    embedding: Literal["draft's", "target's"] = "target's"
    without: frozenset[str] = frozenset()
