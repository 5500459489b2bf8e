"""Canonical tensor names of an EAGLE-3 draft, and which tensors a config calls for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_eagle_contract.checkpoint.config import Config, Located
from pytest_eagle_contract.checkpoint.geometry import Geometry, places

PREFIXES = ("module.", "draft_model.", "model.")
WRAPPERS = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")
"""What torch's wrappers leave in names, at any depth."""

LAYER = re.compile(r"^layers\.(\d+)\.")
MAPS = ("d2t", "t2d")
LATENT_KEYS = (
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "v_head_dim",
)
AUX_NORMS = {"aux_norm_low": "fc_norm.0", "aux_norm_mid": "fc_norm.1", "aux_norm_high": "fc_norm.2"}


def canonical(name: str) -> str:
    """Return the name without prefix or wrapper, and with the first layer called `layers.0`.

    `midlayer.hidden_norm.weight` and `model.layers.0.hidden_norm.weight` are one tensor.
    """
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "")
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    if name.startswith("midlayer."):
        name = "layers.0." + name.removeprefix("midlayer.")
    head = name.split(".", 1)[0]
    return name.replace(head, AUX_NORMS[head], 1) if head in AUX_NORMS else name


def stored_layers(names: Mapping[str, object]) -> int:
    """Count the draft layers that canonical names hold."""
    found = {int(m[1]) for n in names if (m := LAYER.match(n))}
    return len(found)


def expected_shapes(
    geometry: Geometry, layers: int, aux_states: int | None
) -> dict[str, tuple[int | None, ...]]:
    """Return the tensors every Llama-shaped draft of this geometry ships, with their shapes.

    A dimension is None where the config does not state it. `aux_states` None leaves fc out.
    """
    hidden = _value(geometry.hidden_size)
    inner = _value(geometry.intermediate_size)
    query = _times(_value(geometry.heads), _value(geometry.head_dim))
    shared = _times(_value(geometry.key_value_heads), _value(geometry.head_dim))
    shapes: dict[str, tuple[int | None, ...]] = {}
    if aux_states is not None:
        shapes["fc.weight"] = (hidden, _times(aux_states, geometry.target_width))
    for layer in range(layers):
        at = f"layers.{layer}."
        width = _times(2, hidden) if layer == 0 else hidden
        shapes |= {
            at + "self_attn.q_proj.weight": (query, width),
            at + "self_attn.k_proj.weight": (shared, width),
            at + "self_attn.v_proj.weight": (shared, width),
            at + "self_attn.o_proj.weight": (hidden, query),
            at + "mlp.gate_proj.weight": (inner, hidden),
            at + "mlp.up_proj.weight": (inner, hidden),
            at + "mlp.down_proj.weight": (hidden, inner),
            at + "post_attention_layernorm.weight": (hidden,),
            at + "input_layernorm.weight": (hidden,),
        }
        if layer == 0:
            shapes[at + "hidden_norm.weight"] = (hidden,)
    return shapes | {"norm.weight": (hidden,), "lm_head.weight": (geometry.draft_rows, hidden)}


def latent_shapes(config: Config, geometry: Geometry) -> dict[str, tuple[int | None, ...]]:
    """Return the attention tensors of a draft with latent attention (DeepSeek's), with shapes."""
    hidden, heads = _value(geometry.hidden_size), _value(geometry.heads)
    sizes = {key: _value(config.integer(*places(key))) for key in LATENT_KEYS}
    query, key_value = sizes["q_lora_rank"], sizes["kv_lora_rank"]
    plain, turned, value = (
        sizes["qk_nope_head_dim"],
        sizes["qk_rope_head_dim"],
        sizes["v_head_dim"],
    )
    at, width = "layers.0.self_attn.", _times(2, hidden)
    shapes: dict[str, tuple[int | None, ...]] = {
        at + "kv_a_proj_with_mqa.weight": (_plus(key_value, turned), width),
        at + "kv_a_layernorm.weight": (key_value,),
        at + "kv_b_proj.weight": (_times(heads, _plus(plain, value)), key_value),
        at + "o_proj.weight": (hidden, _times(heads, value)),
    }
    if query is None:
        return shapes | {at + "q_proj.weight": (_times(heads, _plus(plain, turned)), width)}
    return shapes | {
        at + "q_a_proj.weight": (query, width),
        at + "q_a_layernorm.weight": (query,),
        at + "q_b_proj.weight": (_times(heads, _plus(plain, turned)), query),
    }


def optional_shapes(
    geometry: Geometry, layers: int, aux_states: int | None
) -> dict[str, tuple[int | None, ...]]:
    """Return the tensors that only some drafts ship, with their shapes."""
    hidden, width = _value(geometry.hidden_size), geometry.target_width
    states = aux_states or 0
    query = _times(_value(geometry.heads), _value(geometry.head_dim))
    shared = _times(_value(geometry.key_value_heads), _value(geometry.head_dim))
    shapes: dict[str, tuple[int | None, ...]] = {
        "embed_tokens.weight": (_value(geometry.vocab_size), hidden),
        "input_norm.weight": (_times(states, width),),
        "fc.bias": (hidden,),
        "d2t": (geometry.draft_rows,),
        "t2d": (_value(geometry.vocab_size),),
    }
    shapes |= {f"fc_norm.{i}.weight": (width,) for i in range(states)}
    for layer in range(layers):
        at = f"layers.{layer}.self_attn."
        if layer > 0:
            shapes[f"layers.{layer}.hidden_norm.weight"] = (hidden,)
        shapes |= {
            at + "q_proj.bias": (query,),
            at + "k_proj.bias": (shared,),
            at + "v_proj.bias": (shared,),
            at + "o_proj.bias": (hidden,),
            at + "q_norm.weight": (_value(geometry.head_dim),),
            at + "k_norm.weight": (_value(geometry.head_dim),),
        }
        at, inner = f"layers.{layer}.mlp.", _value(geometry.intermediate_size)
        shapes |= {
            at + "gate_proj.bias": (inner,),
            at + "up_proj.bias": (inner,),
            at + "down_proj.bias": (hidden,),
        }
    return shapes


def _value(located: Located[int] | None) -> int | None:
    return None if located is None else located.value


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _times(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one * other
