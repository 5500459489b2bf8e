"""Turn an engine's facts and a checkpoint into what the engine will use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from pytest_eagle_contract.boundaries import Boundaries, DefaultBoundaries, Rule, at, convert
from pytest_eagle_contract.checkpoint.config import Config, Located
from pytest_eagle_contract.checkpoint.geometry import NESTED
from pytest_eagle_contract.checkpoint.names import MAPS, expected_shapes, optional_shapes
from pytest_eagle_contract.checkpoint.switches import controlling_switch
from pytest_eagle_contract.engines.model import Engine, Reading, Semantics, Switch, readings
from pytest_eagle_contract.engines.resolution import (
    Captured,
    MapUse,
    Resolution,
    SwitchUse,
    TensorUse,
    Width,
)
from pytest_eagle_contract.engines.since import honoured_since
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.pair import Draft, Target

CREATED_ALWAYS = ("embed_tokens.weight", "d2t")


@lru_cache(maxsize=256)
def resolve(draft: Draft, target: Target | None, engine: Engine) -> tuple[Resolution, ...]:
    """Return what `engine` uses; several readings where an unknown target decides."""
    layers = target.layers if target else None
    architecture = target.architecture if target else None
    draft_class = (draft.architecture, wrapped_type(draft.config))
    chosen = readings(engine, architecture, *draft_class)
    since = honoured_since(engine, architecture, *draft_class)
    return tuple(_resolve(draft, layers, engine.label, reading, since) for reading in chosen)


def wrapped_type(config: Config) -> str | None:
    """Return the model type that a speculators-format draft wraps, None for other drafts.

    Such a config names no class of its own; the wrapped type chooses the engine's.
    """
    if not config.has("speculators_model_type"):
        return None
    kind = config.raw(f"{NESTED}.model_type")
    return kind if isinstance(kind, str) else "llama"


def _resolve(
    draft: Draft, layers: int | None, label: str, reading: Reading, since: Mapping[str, str]
) -> Resolution:
    facts = reading.semantics
    width = _width(draft.config, facts)
    switches = {
        name: _switch(draft.config, s, since.get(name, "")) for name, s in facts.switches.items()
    }
    return Resolution(
        label=label,
        targets=reading.targets,
        semantics=facts,
        sources=reading.sources,
        captured=captured_with(draft.config, facts, layers),
        width=width,
        token_map=_token_map(draft, facts),
        switches=switches,
        tensors=_tensors(draft, facts, width, switches),
    )


def captured_with(config: Config, facts: Semantics, layers: int | None) -> Captured:
    """Return the states an engine captures when the draft's config is `config`."""
    off = config.flag(facts.aux_off_key) if facts.aux_off_key else None
    if off is not None and not off.value:
        return Captured(off.where, ())
    if facts.aux_nothing:
        return Captured("", None, error=facts.aux_nothing)
    if layers is not None and layers < facts.aux_min_layers:
        least = f"refuses targets of fewer than {facts.aux_min_layers} layers"
        return Captured("", None, error=f"{least}, this one has {layers}")
    try:
        ids = _ids(config, facts)
    except InputError as refused:
        return Captured("", None, error=str(refused))
    if ids is None:
        where = f"the default of {facts.aux_argument or 'the engine'}"
        default = _bounded(where, at(facts.aux_default, layers), facts, layers)
        return replace(default, argument=facts.aux_argument)
    rule: Rule = "output" if ids.where in facts.aux_output_keys else facts.aux_rule
    return _bounded(ids.where, convert(ids.value, rule, layers), facts, layers)


def _ids(config: Config, facts: Semantics) -> Located[tuple[int, ...]] | None:
    for key in facts.aux_keys:
        nested = facts.aux_nested_shadows_top and "." not in key and config.table("eagle_config")
        found = None if nested else config.integers(key)
        if found is not None and found.value:
            return found
    return None


def _bounded(
    where: str, boundaries: Boundaries | None, facts: Semantics, layers: int | None
) -> Captured:
    if boundaries is None or isinstance(boundaries, DefaultBoundaries):
        return Captured(where, boundaries)
    if facts.aux_order == "must ascend" and list(boundaries) != sorted(set(boundaries)):
        return Captured(where, None, error=f"refuses ids that do not ascend: {where}")
    if facts.aux_duplicates == "collapse":
        boundaries = tuple(dict.fromkeys(boundaries))
    if facts.aux_order == "ascending":
        boundaries = tuple(sorted(boundaries))
    highest = None if layers is None else layers + facts.aux_highest
    below = [b for b in boundaries if b < facts.aux_lowest]
    late = layers + 1 if facts.aux_final_late and layers is not None else None
    above = [b for b in boundaries if highest is not None and b > highest and b != late]
    fatal = (below if facts.aux_below == "error" else []) + (
        above if facts.aux_above == "error" else []
    )
    lost = (*below, *above)
    if fatal:
        of = "" if layers is None else f" of {layers} layers"
        error = f"fails on boundaries {_listed(fatal)}{of}"
        return Captured(where, None, lost, error)
    kept = (b for b in boundaries if b not in lost)
    return Captured(where, tuple(layers if b == late and layers else b for b in kept), lost)


def _width(config: Config, facts: Semantics) -> Width:
    for key in facts.aux_count_keys:
        value = config.raw(key)
        if isinstance(value, list):
            return Width(len(value), f"length of {key}")
        count = config.integer(key)
        if count is not None:
            return Width(count.value, count.where)
    return Width(facts.aux_count_fixed, "fixed in the engine")


def _token_map(draft: Draft, facts: Semantics) -> MapUse:
    sizes, stored = draft.geometry, draft.stored_map
    written_null = draft.config.has("draft_vocab_size") and facts.draft_vocab_null == "vocab_size"
    refused = facts.draft_vocab_absent == "error" and not written_null
    if sizes.draft_vocab_size is None and refused:
        return MapUse("unsized", "draft_vocab_size is not written, which this engine needs")
    equal = _reduced(draft) is False
    if stored is None:
        return _without_map(facts, equal)
    if facts.map_stored == "lost":
        return MapUse("none", "forgets d2t after loading it: draft ids are taken as target ids")
    if equal and facts.map_equal_vocab == "ignored":
        return MapUse("none", "draft and target vocabulary are equal, so d2t is not read")
    if equal and facts.map_equal_vocab == "error":
        detail = "draft and target vocabulary are equal, so d2t is an unknown tensor and is refused"
        return MapUse("error", detail)
    return MapUse("stored", f"target = draft + {stored.where}[draft]")


def _without_map(facts: Semantics, equal: bool) -> MapUse:
    # A map of zeros is gathered whether or not the vocabularies are equal.
    if equal and facts.map_absent != "zeros":
        return MapUse("none", "draft and target vocabulary are equal")
    details = {
        "identity": "no d2t: draft ids are taken as target ids, silently",
        "zeros": "no d2t: every draft id becomes target id 0, silently",
        "error": "no d2t: refuses to load",
    }
    return MapUse(facts.map_absent, details[facts.map_absent])


def _reduced(draft: Draft) -> bool | None:
    sizes = draft.geometry
    if sizes.vocab_size is None or sizes.draft_rows is None:
        return None
    return sizes.draft_rows != sizes.vocab_size.value


def _switch(config: Config, switch: Switch, since: str) -> SwitchUse:
    if switch.effect != "honoured":
        why = "ignored" if switch.effect == "ignored" else "not supported"
        return SwitchUse(switch.default, switch.effect, f"{why} by this engine", since)
    for place in switch.places:
        value = config.flag(place)
        if value is not None:
            return SwitchUse(value.value, "honoured", value.where)
    return SwitchUse(switch.default, "honoured", "the engine's default")


def _tensors(
    draft: Draft, facts: Semantics, width: Width, switches: Mapping[str, SwitchUse]
) -> TensorUse:
    depth = draft.geometry.layers.value if draft.geometry.layers else draft.layers
    depth = min(depth, 64)  # a config may claim any depth; the depth contract says so
    built = _built(draft, facts, depth, width, switches)
    loaded: dict[str, str] = {}
    unknown: list[str] = []
    for name in draft.checkpoint.tensors:
        if any(part in name for part in facts.skipped):
            continue
        renamed = engine_name(name, facts)
        if renamed in built and not any(name.startswith(r) for r in facts.refused):
            loaded[renamed] = name
        else:
            unknown.append(name)
    return TensorUse(loaded, tuple(unknown), tuple(_missing(built, loaded, draft, facts)))


def engine_name(name: str, facts: Semantics) -> str:
    """Return the canonical name under which the engine's loader files a stored tensor."""
    for old, new in facts.rename:
        name = name.replace(old, new)
    for prefix in facts.strip:
        name = name.removeprefix(prefix)
    return name


def _built(
    draft: Draft, facts: Semantics, depth: int, width: Width, switches: Mapping[str, SwitchUse]
) -> dict[str, tuple[int | None, ...]]:
    """Return the parameters of the engine's draft model."""
    states = width.states if _uses_aux(switches) else None
    optional = optional_shapes(draft.geometry, depth, width.states)
    kept = {
        name: shape
        for name, shape in optional.items()
        if name in CREATED_ALWAYS
        or name.endswith("hidden_norm.weight")
        or (facts.qk_norm and name.endswith(("q_norm.weight", "k_norm.weight")))
        or _on(name, draft.config, facts, switches)
    }
    if draft.latent_attention:
        stored = {n: tuple(i.shape) for n, i in draft.tensors.items() if n not in optional}
        return stored | kept
    return expected_shapes(draft.geometry, depth, states) | kept


def _uses_aux(switches: Mapping[str, SwitchUse]) -> bool:
    aux = switches.get("use_aux_hidden_state")
    return aux is None or aux.value


def _on(name: str, config: Config, facts: Semantics, switches: Mapping[str, SwitchUse]) -> bool:
    keys = facts.bias_switches.get(".".join(name.split(".")[-2:]))
    if keys is not None:
        flags = [config.flag(key) for key in keys]
        return any(flag is not None and flag.value for flag in flags)
    switch = controlling_switch(name)
    return switch is not None and switch in switches and switches[switch].value


def _missing(
    built: Iterable[str], loaded: Mapping[str, str], draft: Draft, facts: Semantics
) -> Iterable[str]:
    for name in built:
        shared = name == "embed_tokens.weight" and facts.embedding != "kept"
        shared |= name == "lm_head.weight" and facts.lm_head == "target's if absent"
        shared |= name == "lm_head.weight" and (
            facts.lm_head == "target's if draft vocab is null"
            and draft.geometry.draft_vocab_size is None
        )
        optional = name in MAPS or name.endswith(".bias") or _later_hidden_norm(name)
        if name not in loaded and not shared and not optional:
            yield name


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _later_hidden_norm(name: str) -> bool:
    return name.endswith("hidden_norm.weight") and not name.startswith("layers.0.")
