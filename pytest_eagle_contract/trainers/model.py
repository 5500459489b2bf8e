"""What a trainer profile declares. A profile is data: it holds no logic of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_eagle_contract.boundaries import REFERENCE, DefaultBoundaries

SURE = 30


@dataclass(frozen=True, slots=True)
class Signature:
    """List what a checkpoint shows when a trainer wrote it; all of it must be there.

    `strength` ranks signatures of several trainers that hold at once: the highest wins, and equal
    ones leave the trainer unknown. Below SURE, others may well write the same. `entries`
    are a JSON file beside the weights, a key at its top level and the value there.
    """

    strength: int
    says: str
    architectures: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    absent_keys: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    absent_tensors: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    entries: tuple[tuple[str, str, str], ...] = ()


PLAIN_EAGLE3 = Signature(
    10,
    "a midlayer under LlamaForCausalLMEagle3, as several trainers write it",
    architectures=frozenset({"LlamaForCausalLMEagle3"}),
    prefixes=("midlayer.",),
)
"""What SpecForge, verl-SpeCo and a re-saved EAGLE head share; each lists it, so none is guessed."""


@dataclass(frozen=True, slots=True)
class TrainerProfile:
    """Declare one trainer: how its exports are recognised and what their fields mean.

    `ids_mean` is what a layer id names that is written in one of `ids_places`. `switch_defaults`
    are the values trained with when a key is absent, `trained_as` those trained with whatever a key
    says. `rope_theta` is the rotary base it trains with whatever the config says, None where it
    honours the config. `sources` name the file and symbol each statement was read from.
    """

    name: str
    title: str
    signatures: tuple[Signature, ...]
    ids_mean: Literal["boundary", "output"]
    ids_places: tuple[str, ...]
    default: DefaultBoundaries = REFERENCE
    order: Literal["ascending", "listed"] = "ascending"
    switch_defaults: Mapping[str, bool] = field(default_factory=dict)
    trained_as: Mapping[str, bool] = field(default_factory=dict)
    map_order: str = "ascending"
    embedding: Literal["trained or kept", "target's", "left out"] = "target's"
    rope_theta: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
