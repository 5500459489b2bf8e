"""What a draft's config and tensors fix about its computation, beside the wiring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_eagle_contract.checkpoint.geometry import places
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.pair import Draft

DEFAULT_EPS = 1e-6
DEFAULT_THETA = 10_000.0
ACTIVATIONS = frozenset({"silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu"})


@dataclass(frozen=True, slots=True)
class Rotary:
    """Hold rotary settings as transformers names them; `parameters` without base and type."""

    theta: float
    kind: str
    parameters: Mapping[str, object]
    positions: int
    head_dim: int


@dataclass(frozen=True, slots=True)
class Shape:
    """Hold the sizes of a draft: H hidden, Ht target_hidden, D draft ids, V target ids.

    `aux_states` is how many target states fc takes, 0 without fc. `window` limits attention to the
    last so many positions, None for all.
    """

    hidden: int
    target_hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    layers: int
    aux_states: int
    draft_ids: int
    vocab: int
    eps: float
    activation: str
    window: int | None
    rotary: Rotary


def read_shape(draft: Draft, target_width: int | None = None) -> Shape:
    """Return a draft's shape.

    A latent-attention or quantised draft, a missing size and an unknown activation raise
    InputError.
    """
    where, sizes, config = draft.checkpoint.path, draft.geometry, draft.config
    if draft.latent_attention:
        raise InputError(where, "", "uses latent attention", "run it in an engine: not built here")
    if draft.packed:
        packed = draft.packed[0]
        problem = f"is {packed.dtype}, a packed weight"
        raise InputError(where, packed.name, problem, "give the draft before quantisation")
    wanted = {
        "hidden_size": sizes.hidden_size,
        "num_attention_heads": sizes.heads,
        "num_key_value_heads": sizes.key_value_heads,
        "head_dim": sizes.head_dim,
        "vocab_size": sizes.vocab_size,
    }
    found = {}
    for key, located in wanted.items():
        if located is None or located.value < 1:
            raise InputError(config.path, key, "is not written", "write the draft's sizes")
        found[key] = located.value
    width = target_width or sizes.target_width or found["hidden_size"]
    states = draft.aux_states(width)
    if states is None:
        problem = f"is {list(draft.tensors['fc.weight'].shape)}, no multiple of {width} columns"
        raise InputError(where, "fc.weight", problem, "give the target it was trained on")
    return Shape(
        hidden=found["hidden_size"],
        target_hidden=width,
        heads=found["num_attention_heads"],
        kv_heads=found["num_key_value_heads"],
        head_dim=found["head_dim"],
        layers=draft.layers,
        aux_states=states,
        draft_ids=draft.head_rows or found["vocab_size"],
        vocab=found["vocab_size"],
        eps=_number(draft, "rms_norm_eps", DEFAULT_EPS),
        activation=_activation(draft),
        window=sizes.sliding_window.value if sizes.sliding_window else None,
        rotary=_rotary(draft, found["head_dim"]),
    )


def _number(draft: Draft, key: str, default: float) -> float:
    located = draft.config.number(*places(key))
    return default if located is None else located.value


def _activation(draft: Draft) -> str:
    located = draft.config.text(*places("hidden_act"))
    name = "silu" if located is None else located.value
    if name not in ACTIVATIONS:
        listed = ", ".join(sorted(ACTIVATIONS))
        raise InputError(draft.config.path, "hidden_act", f"is {name!r}", f"one of {listed} is run")
    return name


def _rotary(draft: Draft, head_dim: int) -> Rotary:
    rope, sizes = draft.geometry.rope, draft.geometry
    own = {"rope_theta", "rope_type", "type"}
    partial = _number(draft, "partial_rotary_factor", 1.0)
    parameters = {k: v for k, v in rope.parameters.items() if k not in own}
    if partial != 1.0:
        parameters.setdefault("partial_rotary_factor", partial)
    positions = sizes.max_position_embeddings
    return Rotary(
        theta=rope.theta.value if rope.theta else DEFAULT_THETA,
        kind=rope.kind.value if rope.kind else "default",
        parameters=parameters,
        positions=positions.value if positions else 2048,
        head_dim=head_dim,
    )
