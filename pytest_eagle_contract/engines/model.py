"""What an engine profile declares, and how its facts are chosen for one version.

A profile is data: facts by version, runner and target family, each with its source. A later entry
overrides only the fields it names. `resolve` turns the chosen facts and a checkpoint into what the
engine will use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pytest_eagle_contract.boundaries import REFERENCE, DefaultBoundaries, Rule

Effect = Literal["honoured", "ignored", "error"]
Base = Literal["table", "top level"]


@dataclass(frozen=True, slots=True)
class Switch:
    """Say where an engine reads a boolean of the draft, and what it does with it.

    `places` are config places in the order read. `ignored` means that the engine computes as if
    the switch were `default`; `error` that a checkpoint which needs it does not load.
    """

    effect: Effect
    places: tuple[str, ...] = ()
    default: bool = False


@dataclass(frozen=True, slots=True)
class Semantics:
    """Hold every fact about one engine at one version, runner and target family."""

    # Layer ids. Places in the order read; none means that the file is not asked.
    aux_keys: tuple[str, ...] = ()
    aux_nested_shadows_top: bool = False
    aux_argument: str = ""
    aux_rule: Rule = "boundary"
    aux_output_keys: tuple[str, ...] = ()  # places that count layer outputs whatever the rule is
    aux_default: DefaultBoundaries = REFERENCE
    aux_order: Literal["ascending", "listed", "must ascend"] = "ascending"
    aux_duplicates: Literal["collapse", "kept"] = "collapse"
    aux_lowest: int = 0
    aux_highest: int = 0  # relative to L: 0 captures the final state, -1 stops one block earlier
    aux_below: Literal["dropped", "error"] = "dropped"  # what happens to b < aux_lowest
    aux_above: Literal["dropped", "error"] = "dropped"  # what happens to b > L + aux_highest
    aux_final_late: bool = False  # b = L + 1 captures the final state, b = L nothing
    aux_nothing: str = ""  # why no state of this target is captured, where that is so
    aux_min_layers: int = 1
    aux_count_keys: tuple[str, ...] = ()  # places of a count, or of an id list whose length counts
    aux_count_fixed: int = 3
    aux_off_key: str = ""  # where use_aux_hidden_state is read

    # Token map.
    map_absent: Literal["identity", "zeros", "error"] = "identity"
    map_stored: Literal["used", "lost"] = "used"  # lost: loaded and then forgotten
    map_equal_vocab: Literal["used", "ignored", "error"] = "used"
    map_outside: Literal["silent", "error", "device error"] = "silent"
    map_duplicates: Literal["harmless", "error"] = "harmless"
    map_length: Literal["unchecked", "error"] = "unchecked"
    map_note: str = ""  # what becomes of a target outside the vocabulary, in words

    # Tensors. `rename` are ordered substring rules to canonical names.
    rename: tuple[tuple[str, str], ...] = (("midlayer.", "layers.0."),)
    strip: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ("t2d",)
    unknown: Literal["dropped", "error"] = "dropped"
    unknown_dropped: tuple[str, ...] = ()  # endings that are dropped where others are an error
    missing: Literal["silent", "error"] = "silent"
    bias_switches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # "o_proj.bias" to the config keys, any of which creates it; a bias that is not listed here
    # follows its switch

    # Ownership.
    embedding: Literal["target's", "kept", "kept if different", "kept if present"] = "kept"
    embedding_width_exception: bool = False
    lm_head: Literal["own", "target's if draft vocab is null", "target's if absent"] = "own"
    draft_vocab_absent: Literal["vocab_size", "error"] = "vocab_size"
    draft_vocab_null: Literal["as absent", "vocab_size"] = "as absent"
    tie: Literal["ignored", "head from embedding", "lm_head skipped", "error"] = "ignored"

    # Structure.
    architectures: frozenset[str] = frozenset()  # empty: any name is accepted
    speculators_format: bool = False
    max_layers: int = 0  # 0: any number
    later_layer_norm: Literal["hidden_norm", "input_layernorm", ""] = ""
    qk_norm: bool = False  # attention normalises queries and keys by q_norm and k_norm
    head_dim: Literal["read", "hidden_size / heads"] = "read"
    target_hidden_size: Effect = "honoured"
    target_architectures: frozenset[str] = frozenset()  # empty: not restricted, or not known
    weights: frozenset[str] = frozenset({"safetensors", "sharded safetensors", "torch bin"})

    switches: Mapping[str, Switch] = field(default_factory=dict)

    # Positions.
    rope_tables: tuple[str, ...] = ("rope_scaling", "rope_parameters")  # the first written is used
    rope_base: tuple[Base, ...] = ("table", "top level")  # where the base is read, in order
    rope_base_scaled: bool = True  # False: under a scaling the base is 10,000 whatever is written
    rope_type_absent: Literal["default", "error"] = "default"
    rope_original_absent: Literal["max_position_embeddings", "error"] = "max_position_embeddings"
    rope_types: frozenset[str] = frozenset()  # empty: any
    rope_other_type: Literal["ignored", "error"] = "error"
    rope_theta: Effect = "honoured"
    context_shorter: Literal[
        "error", "raised to the target's", "as is", "silent clamp", "stops drafting"
    ] = "as is"
    context_option: str = ""  # the server's option that limits the context
    context_remedy: str = ""  # how to start all the same where a shorter context is refused
    sliding_window: Effect = "honoured"  # error: layer_types stops the engine, whatever it lists


FIELDS = frozenset(Semantics.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Facts:
    """Set some fields of Semantics for a range of versions, a runner or some targets.

    `targets` holds the target's `architectures` strings and `drafts` the draft's; empty applies to
    all of them. `wrapped` is the model type inside a speculators-format draft, or `any` for all
    such drafts. `source` names the file and symbol read, or says `measured`.
    """

    sets: Mapping[str, Any]
    source: str
    versions: str = ""
    runner: str = ""
    targets: frozenset[str] = frozenset()
    drafts: frozenset[str] = frozenset()
    wrapped: str = ""

    def __post_init__(self) -> None:
        unknown = set(self.sets) - FIELDS
        if unknown:
            raise TypeError(f"no such facts: {', '.join(sorted(unknown))}")

    def holds(
        self, version: Version, runner: str, draft: str | None, wrapped: str | None = None
    ) -> bool:
        """Tell whether these facts apply to a version, runner and draft, whatever the target."""
        mine = not self.drafts or draft in self.drafts
        form = not self.wrapped or (wrapped is not None and self.wrapped in ("any", wrapped))
        if not (mine and form and self.runner in ("", runner)):
            return False
        return _range(self.versions).contains(version, prereleases=True)


@dataclass(frozen=True, slots=True, eq=False)
class EngineProfile:
    """Declare one engine: which versions are known and what they do. Compared by identity."""

    name: str
    title: str
    versions: str
    latest: str
    facts: tuple[Facts, ...]
    distributions: tuple[str, ...] = ()
    runners: tuple[tuple[str, str], ...] = ()  # (runner, versions it exists in), default last
    aliases: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Engine:
    """Name one engine to judge: profile, version and runner."""

    profile: EngineProfile
    version: str
    runner: str = ""

    @property
    def label(self) -> str:
        """Return the name used in reports: `vllm 0.32.0 v1`."""
        return " ".join(part for part in (self.profile.name, self.version, self.runner) if part)


@dataclass(frozen=True, slots=True)
class Reading:
    """Pair semantics with the target families they were chosen for.

    `sources` maps fields to where they were read; each switch has one of its own, `switches.NAME`.
    """

    targets: str
    semantics: Semantics
    sources: Mapping[str, str]


@lru_cache(maxsize=256)
def readings(
    engine: Engine, architecture: str | None, draft: str | None, wrapped: str | None = None
) -> tuple[Reading, ...]:
    """Return the engine's semantics for the architectures of a target and a draft.

    `wrapped` is the model type inside a draft in the speculators format, None for other drafts.
    One reading when the architecture is known; otherwise one for the common case and one for each
    family that differs, because the target decides.
    """
    version = Version(engine.version)
    held = [f for f in engine.profile.facts if f.holds(version, engine.runner, draft, wrapped)]
    if architecture is not None:
        mine = [f for f in held if not f.targets or architecture in f.targets]
        return (_choose(architecture, mine),)
    common = [f for f in held if not f.targets]
    families = {f.targets: None for f in held if f.targets}
    return (
        _choose("most targets", common),
        *(
            _choose(_family(targets), [f for f in held if not f.targets or f.targets == targets])
            for targets in families
        ),
    )


def _choose(targets: str, facts: list[Facts]) -> Reading:
    chosen: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for entry in facts:
        switches = chosen.get("switches", {})
        chosen.update(entry.sets)
        chosen["switches"] = {**switches, **entry.sets.get("switches", {})}
        sources.update(dict.fromkeys(entry.sets, entry.source))
        named = (f"switches.{name}" for name in entry.sets.get("switches", {}))
        sources.update(dict.fromkeys(named, entry.source))
    return Reading(targets, Semantics(**chosen), sources)


@cache
def _range(versions: str) -> SpecifierSet:
    return SpecifierSet(versions)


def _family(targets: frozenset[str]) -> str:
    names = sorted(targets)
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
