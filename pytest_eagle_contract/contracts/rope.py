"""How a config scales the rotary angles, and what of it an engine uses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_eagle_contract.checkpoint.config import Config, Located
from pytest_eagle_contract.checkpoint.geometry import NESTED, TABLES, filled, places
from pytest_eagle_contract.checkpoint.mistyped import SCALING_NUMBERS
from pytest_eagle_contract.engines.model import Semantics

DEFAULT_THETA = 10_000.0
SAME = {"su": "longrope", "mrope": "default", "none": "default"}
"""Older spellings of a type. The sections of mrope turn text as a plain rope does."""

STRETCHED = frozenset({"linear", "yarn", "deepseek_yarn", "llama3"})
"""Types that leave the angles alone at a factor of 1."""

ORIGINAL = "original_max_position_embeddings"
FROM_ORIGINAL = frozenset({"yarn", "deepseek_yarn", "llama3", "longrope"})
"""Types that start from the length of the training."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "yarn": ("factor",),
    "deepseek_yarn": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
    "longrope": ("short_factor", "long_factor"),
}
"""Parameters without which a type means nothing."""

PARAMETERS = frozenset(SCALING_NUMBERS) | {
    "alpha",
    "extrapolation_factor",
    "long_factor",
    "long_mscale",
    "mixed_b",
    "mscale",
    "mscale_all_dim",
    "short_factor",
    "short_mscale",
    "truncate",
}
UNWRITTEN: Mapping[str, object] = {"beta_fast": 32, "beta_slow": 1}
"""What every reader takes where a parameter is not written."""

Table = Located[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Scaling:
    """Hold the type of a rope and the parameters that change its angles."""

    kind: str
    parameters: Mapping[str, object]

    def __str__(self) -> str:
        listed = (f"{key} {_brief(value)}" for key, value in sorted(self.parameters.items()))
        return ", ".join((self.kind, *listed))


PLAIN = Scaling("default", {})


def tables(config: Config) -> tuple[Table, ...]:
    """Return the written tables that hold rotary settings."""
    found = (filled(config, *places(key)) for key in TABLES)
    return tuple(table for table in found if table is not None)


def bases(config: Config) -> tuple[Located[float], ...]:
    """Return the base at every place where one is written."""
    names = ("rope_theta", *(f"{key}.rope_theta" for key in TABLES))
    found = (config.number(place) for name in names for place in places(name))
    return tuple(base for base in found if base is not None)


def stated_scaling(config: Config) -> Scaling:
    """Return the scaling that the tables state together; they must not contradict each other."""
    found = [scaling_of(config, table) for table in tables(config)]
    kind = next((s.kind for s in found if s.kind != PLAIN.kind), PLAIN.kind)
    merged = {key: value for s in found if s.kind == kind for key, value in s.parameters.items()}
    return Scaling(kind, merged)


def used_scaling(config: Config, facts: Semantics) -> tuple[Scaling, str]:
    """Return the scaling that an engine reads, and the table it reads it from."""
    table = _used_table(config, facts)
    if table is None:
        return PLAIN, ""
    scaling = scaling_of(config, table)
    if unknown_type(scaling, facts) and facts.rope_other_type == "ignored":
        return PLAIN, table.where
    return scaling, table.where


def unknown_type(scaling: Scaling, facts: Semantics) -> bool:
    """Tell whether an engine lacks a type of rope."""
    return bool(facts.rope_types) and scaling.kind not in facts.rope_types | {PLAIN.kind}


def layered(config: Config) -> str:
    """Return the place of a table that holds a rope for each layer type, "" where none does."""
    for table in tables(config):
        written = [value for value in table.value.values() if value is not None]
        if written and all(isinstance(value, dict) for value in written):
            return table.where
    return ""


def untyped(config: Config, facts: Semantics) -> bool:
    """Tell whether the table that an engine reads names no type."""
    table = _used_table(config, facts)
    return table is not None and not {"rope_type", "type"} & set(table.value)


def lacks_original(config: Config, scaling: Scaling) -> bool:
    """Tell whether a scaling is told no original length, in its table or above it."""
    told = ORIGINAL in scaling.parameters or config.integer(*places(ORIGINAL)) is not None
    return scaling.kind in FROM_ORIGINAL and not told


def used_base(config: Config, facts: Semantics) -> tuple[float, str]:
    """Return the base that an engine rotates with, and where it comes from."""
    written = bases(config)
    if not written:
        return DEFAULT_THETA, "no base is written"
    if facts.rope_theta != "honoured":
        return DEFAULT_THETA, f"ignores {written[0].where}"
    if not facts.rope_base_scaled and used_scaling(config, facts)[0] != PLAIN:
        return DEFAULT_THETA, f"ignores {written[0].where} beside a scaling"
    table = _used_table(config, facts)
    for place in facts.rope_base:
        if place == "top level":
            read = config.number(*places("rope_theta"))
        else:
            read = config.number(f"{table.where}.rope_theta") if table else None
        if read is not None:
            return read.value, read.where
    return DEFAULT_THETA, f"does not read {written[0].where}"


def scaling_of(config: Config, table: Table) -> Scaling:
    """Return what one table states, in the current spelling."""
    stated = config.text(f"{table.where}.rope_type", f"{table.where}.type")
    kind = SAME.get(stated.value, stated.value) if stated else PLAIN.kind
    written = {
        key: value
        for key, value in table.value.items()
        if key in PARAMETERS and value is not None and UNWRITTEN.get(key) != value
    }
    fixed = {"attention_factor", "attn_factor"} & set(written)
    unstretched = kind in STRETCHED and written.get("factor") == 1 and not fixed
    return PLAIN if kind == PLAIN.kind or unstretched else Scaling(kind, written)


def faults(config: Config) -> Iterator[str]:
    """Yield numbers that no rope can have or lack, then what the tables contradict."""
    impossible = [*_impossible(config), *_incomplete(config)]
    yield from impossible
    if not impossible:
        yield from _contradictions(config)


def _impossible(config: Config) -> Iterator[str]:
    places_of_factors = (f"{t.where}.{key}" for t in tables(config) for key in SCALING_NUMBERS)
    found = (config.number(place) for place in places_of_factors)
    for number in (*bases(config), *(n for n in found if n is not None)):
        if not (math.isfinite(number.value) and number.value > 0):
            yield f"{number.where} is {number.value:g}, not a positive number"


def _incomplete(config: Config) -> Iterator[str]:
    scaling = stated_scaling(config)
    for key in NEEDED.get(scaling.kind, ()):
        if key not in scaling.parameters:
            yield f"{scaling.kind} is asked for without a {key}"


def _contradictions(config: Config) -> Iterator[str]:
    written = bases(config)
    if len({base.value for base in written}) > 1:
        yield ", ".join(f"{base.where} is {base.value:g}" for base in written)
    for table in tables(config):
        names = [config.text(f"{table.where}.{key}") for key in ("rope_type", "type")]
        kinds = {SAME.get(name.value, name.value) for name in names if name is not None}
        if len(kinds) > 1:
            yield f"{table.where} has the types {' and '.join(sorted(kinds))}"
    typed = [t for t in tables(config) if {"rope_type", "type"} & set(t.value)]
    if len(typed) == len(TABLES):
        yield from _unlike(*((t.where, scaling_of(config, t)) for t in typed))


def _unlike(one: tuple[str, Scaling], other: tuple[str, Scaling]) -> Iterator[str]:
    (here, mine), (there, theirs) = one, other
    both = set(mine.parameters) & set(theirs.parameters)
    if mine.kind != theirs.kind or any(mine.parameters[k] != theirs.parameters[k] for k in both):
        yield f"{here} says {mine}; {there} says {theirs}"


def _used_table(config: Config, facts: Semantics) -> Table | None:
    found = (filled(config, *places(key)) for key in facts.rope_tables)
    return next((table for table in found if table is not None), None)


def fix_place(config: Config, facts: Semantics) -> str:
    """Return the place from which an engine reads a scaling."""
    nested = any(table.where.startswith(NESTED) for table in tables(config))
    return f"{NESTED}.{facts.rope_tables[0]}" if nested else facts.rope_tables[0]


def _brief(value: object) -> str:
    if isinstance(value, list):
        return f"of {len(value)} numbers"
    return f"{value:g}" if isinstance(value, float) else str(value)[:20]
