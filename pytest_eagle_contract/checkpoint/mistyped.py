"""Refuse a draft's config in which a known key holds a value of another type."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.checkpoint.geometry import EAGLE, NESTED, TABLES, VERIFIER, places
from pytest_eagle_contract.checkpoint.switches import BIASES, SWITCHES, switch_places

OBJECTS = (
    EAGLE,
    NESTED,
    VERIFIER.partition(".")[0],
    VERIFIER,
    *(place for key in (*TABLES, "quantization_config") for place in places(key)),
)
FLAGS = frozenset(SWITCHES) | BIASES
SCALING_NUMBERS = (
    "factor",
    "low_freq_factor",
    "high_freq_factor",
    "original_max_position_embeddings",
    "beta_fast",
    "beta_slow",
    "attention_factor",
    "attn_factor",
)
"""Parameters of a rope that are one positive number."""


def refuse_mistyped(config: Config) -> None:
    """Raise InputError for the first known key whose value has another type, read or not."""
    for place in OBJECTS:
        config.table(place)
    for name in FLAGS:
        for place in switch_places(name):
            config.flag(place)
    for place in (*places("dtype"), *places("torch_dtype"), f"{VERIFIER}.name_or_path"):
        config.text(place)
    for place in (*places("layer_types"), f"{VERIFIER}.architectures"):
        config.texts(place)
    for place in places("rope_theta"):
        config.number(place)
    for table in _ropes():
        for name in ("rope_theta", *SCALING_NUMBERS):
            config.number(f"{table}.{name}")
        for name in ("rope_type", "type"):
            config.text(f"{table}.{name}")


def _ropes() -> Iterator[str]:
    return (place for key in TABLES for place in places(key))
