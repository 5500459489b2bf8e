"""The sizes and modes that a draft's config states, each with the place it was read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_eagle_contract.checkpoint.config import Config, Located

NESTED = "transformer_layer_config"
"""Where the speculators format keeps the draft layer's own config."""

EAGLE = "eagle_config"

At = Callable[[str], tuple[str, ...]]
"""Give the places where a key may stand in one config."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Hold what the config says about shapes; None where it says nothing.

    `vocab_size` is the target's, `draft_vocab_size` the draft head's own. `head_dim` is the
    stated one or hidden_size / num_attention_heads, the rule that transformers uses.
    """

    hidden_size: Located[int] | None
    intermediate_size: Located[int] | None
    layers: Located[int] | None
    heads: Located[int] | None
    key_value_heads: Located[int] | None
    head_dim: Located[int] | None
    vocab_size: Located[int] | None
    draft_vocab_size: Located[int] | None
    target_hidden_size: Located[int] | None
    max_position_embeddings: Located[int] | None
    sliding_window: Located[int] | None
    tie_word_embeddings: Located[bool] | None
    rope: Rope

    @property
    def target_width(self) -> int | None:
        """Return the width of one captured target state as the config states it."""
        located = self.target_hidden_size or self.hidden_size
        return located.value if located else None

    @property
    def draft_rows(self) -> int | None:
        """Return how many rows the draft's head should have."""
        located = self.draft_vocab_size or self.vocab_size
        return located.value if located else None


@dataclass(frozen=True, slots=True)
class Rope:
    """Hold rotary settings: base, type and the scaling parameters as written."""

    theta: Located[float] | None
    kind: Located[str] | None
    parameters: Mapping[str, object]
    where: str


def places(key: str) -> tuple[str, ...]:
    """Return where a draft's own key may stand: top level, then the speculators nesting."""
    return (key, f"{NESTED}.{key}")


def read_geometry(config: Config) -> Geometry:
    """Read the sizes of a draft or target config.

    A multimodal target keeps them under `text_config`; a speculators draft under
    `transformer_layer_config`. Wrong types raise InputError.
    """
    inner = next((n for n in ("text_config", NESTED) if _owns_sizes(config, n)), None)

    def at(key: str) -> tuple[str, ...]:
        return (key,) if inner is None else (key, f"{inner}.{key}")

    hidden, heads = config.integer(*at("hidden_size")), config.integer(*at("num_attention_heads"))
    return Geometry(
        hidden_size=hidden,
        intermediate_size=config.integer(*at("intermediate_size")),
        layers=config.integer(*at("num_hidden_layers")),
        heads=heads,
        key_value_heads=config.integer(*at("num_key_value_heads")) or heads,
        head_dim=config.integer(*at("head_dim")) or _divided(hidden, heads),
        vocab_size=config.integer(*at("vocab_size")),
        draft_vocab_size=config.integer(*at("draft_vocab_size")),
        target_hidden_size=config.integer(*at("target_hidden_size")),
        max_position_embeddings=config.integer(*at("max_position_embeddings")),
        sliding_window=_window(config, at),
        tie_word_embeddings=config.flag(*at("tie_word_embeddings")),
        rope=read_rope(config, at),
    )


def read_rope(config: Config, at: At) -> Rope:
    """Read rotary settings, as `rope_parameters` or as theta beside `rope_scaling`."""
    table = config.table(*at("rope_parameters")) or config.table(*at("rope_scaling"))
    where = table.where if table else ""
    inner = [f"{where}.rope_theta"] if where else []
    kinds = [f"{where}.rope_type", f"{where}.type"] if where else []
    return Rope(
        theta=config.number(*inner, *at("rope_theta")),
        kind=config.text(*kinds),
        parameters=table.value if table else {},
        where=where,
    )


def _owns_sizes(config: Config, nested: str) -> bool:
    return config.table(nested) is not None and config.integer("hidden_size") is None


def _divided(hidden: Located[int] | None, heads: Located[int] | None) -> Located[int] | None:
    if hidden is None or heads is None or heads.value <= 0:
        return None
    return Located(hidden.value // heads.value, f"{hidden.where} / {heads.where}")


def _window(config: Config, at: At) -> Located[int] | None:
    """Return the window only where a layer uses it: configs carry an unused one."""
    kinds = config.texts(*at("layer_types"))
    if kinds is not None:
        used = "sliding_attention" in kinds.value
    else:
        flag = config.flag(*at("use_sliding_window"))
        used = flag is None or flag.value
    return config.integer(*at("sliding_window")) if used else None
