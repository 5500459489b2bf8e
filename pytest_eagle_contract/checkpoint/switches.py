"""Booleans of a draft, the tensors they call for and the places where they are written."""

from __future__ import annotations

import re

from pytest_eagle_contract.checkpoint.geometry import EAGLE, places

SWITCHES = (
    "norm_before_residual",
    "norm_before_fc",
    "fc_norm",
    "norm_output",
    "use_aux_hidden_state",
)
"""What changes the computation whether or not a tensor shows it."""

TENSOR_OF = {
    "norm_before_fc": "input_norm.weight",
    "fc_norm": "fc_norm.0.weight",
    "attention_bias": "layers.0.self_attn.q_proj.bias",
    "mlp_bias": "layers.0.mlp.gate_proj.bias",
    "bias": "fc.bias",
}
"""The canonical name of a tensor that is there where a switch was on while training."""

BIASES = frozenset({"attention_bias", "mlp_bias", "bias"})
CALLED_FOR_BY = (
    (re.compile(r"input_norm\."), "norm_before_fc"),
    (re.compile(r"fc_norm\."), "fc_norm"),
    (re.compile(r"layers\.\d+\.self_attn\.\w+\.bias"), "attention_bias"),
    (re.compile(r"layers\.\d+\.mlp\.\w+\.bias"), "mlp_bias"),
    (re.compile(r"fc\.bias"), "bias"),
)


def controlling_switch(name: str) -> str | None:
    """Return the switch that calls for a tensor of this canonical name, None where none does."""
    return next((switch for pattern, switch in CALLED_FOR_BY if pattern.match(name)), None)


def switch_places(name: str) -> tuple[str, ...]:
    """Return every place where a switch of the draft may be written."""
    return (*places(name), f"{EAGLE}.{name}")
