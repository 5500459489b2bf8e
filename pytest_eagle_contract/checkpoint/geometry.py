"""The sizes and modes that a draft's config states, each with the place it was read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_eagle_contract.checkpoint.config import Config, Located

NESTED = "transformer_layer_config"
"""Where the speculators format keeps the draft layer's own config."""

EAGLE = "eagle_config"

VERIFIER = "speculators_config.verifier"
"""Where the speculators format names its target."""

TEXT = ("thinker_config.text_config", "llm_config", "language_config", "text_config")
"""Where a multimodal target keeps its language model, in the order in which SGLang looks."""

TABLES = ("rope_parameters", "rope_scaling")

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

    A multimodal target keeps those of its language model in a table of their own; a speculators
    draft under `transformer_layer_config`. Wrong types raise InputError.
    """
    at = _places_of_sizes(config)
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
        tie_word_embeddings=config.flag("tie_word_embeddings", *at("tie_word_embeddings")),
        rope=read_rope(config, at),
    )


def text_places(config: Config, key: str) -> tuple[str, ...]:
    """Return where a key of a target's language model may stand.

    Above all tables first where the width stands there, else in the language model's own first.
    """
    table = language_table(config)
    if table is None:
        return (key,)
    inner = f"{table}.{key}"
    return (key, inner) if config.integer("hidden_size") is not None else (inner, key)


def language_table(config: Config) -> str | None:
    """Return where a multimodal config keeps its language model, None where it has no such part."""
    return next((name for name in TEXT if config.has(f"{name}.hidden_size")), None) or next(
        (name for name in TEXT if isinstance(config.raw(name), dict)), None
    )


def _places_of_sizes(config: Config) -> At:
    if language_table(config) is not None:
        return lambda key: text_places(config, key)
    if config.integer("hidden_size") is None and config.table(NESTED) is not None:
        return places
    return lambda key: (key,)


def read_rope(config: Config, at: At) -> Rope:
    """Read rotary settings, from the table that scales where two are written."""
    tables = [table for key in TABLES if (table := filled(config, *at(key))) is not None]
    table = next((t for t in tables if _kind(config, t) is not None), tables[0] if tables else None)
    inner = [f"{t.where}.rope_theta" for t in tables]
    return Rope(
        theta=config.number(*inner, *at("rope_theta")),
        kind=_kind(config, table) if table else None,
        parameters=table.value if table else {},
        where=table.where if table else "",
    )


def filled(config: Config, *keys: str) -> Located[Mapping[str, object]] | None:
    """Return the first written table that holds anything."""
    found = (config.table(key) for key in keys)
    return next((table for table in found if table is not None and table.value), None)


def _kind(config: Config, table: Located[Mapping[str, object]]) -> Located[str] | None:
    return config.text(f"{table.where}.rope_type", f"{table.where}.type")


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
