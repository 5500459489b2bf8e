"""What one engine will use of one checkpoint, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_eagle_contract.boundaries import Boundaries
from pytest_eagle_contract.engines.model import Effect, Semantics


@dataclass(frozen=True, slots=True)
class Captured:
    """Say which target states the engine hands to the draft.

    `boundaries` None means that the rule needs a target which was not given. `lost` are
    boundaries that were asked for and are silently not captured; `error` is the engine's refusal.
    `argument` names the server argument that would replace what is captured by default.
    """

    where: str
    boundaries: Boundaries | None
    lost: tuple[int, ...] = ()
    error: str = ""
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Width:
    """Say for how many states the engine builds fc, and what decided it."""

    states: int
    where: str


@dataclass(frozen=True, slots=True)
class MapUse:
    """Say how the engine maps draft ids: from the stored d2t or by what it does without one.

    `unsized` is a refusal for want of draft_vocab_size, whatever is stored.
    """

    kind: Literal["stored", "identity", "zeros", "none", "error", "unsized"]
    detail: str


@dataclass(frozen=True, slots=True)
class SwitchUse:
    """Say which value of a switch the engine computes with, and why.

    `since` is the first later version that honours a switch which this one does not.
    """

    value: bool
    effect: Effect
    where: str
    since: str = ""


@dataclass(frozen=True, slots=True)
class TensorUse:
    """Say what becomes of the checkpoint's tensors in the engine.

    `loaded` maps canonical to stored names. `unknown` are stored names without a place in the
    engine's model, `missing` canonical names that nothing fills.
    """

    loaded: Mapping[str, str]
    unknown: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Hold what an engine, for one reading of the target, will use."""

    label: str
    targets: str
    semantics: Semantics
    sources: Mapping[str, str]
    captured: Captured
    width: Width
    token_map: MapUse
    switches: Mapping[str, SwitchUse]
    tensors: TensorUse
