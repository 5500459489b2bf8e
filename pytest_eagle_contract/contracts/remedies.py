"""Compute what a user can write or choose, from the draft and the facts of the judged engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytest_eagle_contract.checkpoint.names import PREFIXES, WRAPPERS
from pytest_eagle_contract.engines.model import Semantics
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.pair import Draft

COMMON = "LlamaForCausalLMEagle3"
"""The name that most engines register."""


def switch_fix(reading: Resolution, name: str, wanted: bool) -> str:
    """Say where the engine reads a switch, from which version on, or that none is known to."""
    fact, use = reading.semantics.switches.get(name), reading.switches.get(name)
    if fact is None or use is None:
        return ""
    if fact.effect == "honoured" and fact.places:
        place = use.where if use.where in fact.places else fact.places[0]
        return f"write {entry(place, word(wanted))}"
    if use.since:
        engine = reading.label.split()[0]
        return f"use {engine} {use.since} or later, the first known to honour {name}"
    return f"choose another engine, or train with {name} {word(use.value)}: this one has no other"


def entry(place: str, value: object) -> str:
    """Write one entry of config.json, at top level or under the table that holds it."""
    table, dot, key = place.rpartition(".")
    return f'"{key}": {value}' + (f" under {table}" if dot else " at top level")


def word(value: bool) -> str:
    """Write a boolean as JSON does."""
    return "true" if value else "false"


def count_fix(facts: Semantics, states: int) -> str:
    """Say how to make an engine build fc for as many states as are stored."""
    if not facts.aux_count_keys:
        return f"use a version that reads the count: this one takes {facts.aux_count_fixed} states"
    key = facts.aux_count_keys[0]
    if key.endswith("_layer_ids"):
        return f"list {states} ids under {key}"
    return f"write {entry(key, states)}"


def class_fix(draft: Draft, accepted: Collection[str]) -> str:
    """Name the class of an engine that fits the draft's tensors."""
    if not accepted:
        return ""
    latent = draft.latent_attention
    normed = "layers.0.self_attn.q_norm.weight" in draft.tensors
    fitting = [name for name in sorted(accepted) if ("deepseek" in name.lower()) == latent]
    if not fitting:
        return "choose another engine: this one has no class for latent attention"
    best = max(fitting, key=lambda n: (("Qwen3For" in n) == normed, n == COMMON))
    return f'write "architectures": ["{best}"]'


def rename_fix(names: Iterable[str], facts: Semantics) -> str:
    """Say how stored names become those that an engine knows."""
    listed = list(names)
    prefix = next((p for n in listed for p in PREFIXES if n.startswith(p)), "")
    if prefix:
        return f"remove the prefix {prefix} from the names"
    wrapper = next((w for n in listed for w in WRAPPERS if w in n), "")
    if wrapper:
        return f"remove {wrapper} from the names"
    if any(n.startswith("layers.0.") for n in listed) and "layers." in facts.refused:
        return "rename layers.0.* to midlayer.*"
    if listed and all(".q_norm." in n or ".k_norm." in n for n in listed):
        return "choose an engine or a class that norms queries and keys, or train without the norms"
    return ""


def layout_fix(facts: Semantics) -> str:
    """Name a file layout that an engine reads."""
    if "safetensors" in facts.weights:
        return "save all weights in one model.safetensors"
    return f"save the weights as {' or '.join(sorted(facts.weights))}"
