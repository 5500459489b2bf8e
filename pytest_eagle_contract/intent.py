"""What a draft was trained to be, every field with the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from pytest_eagle_contract.boundaries import Boundaries
from pytest_eagle_contract.token_map import Classification, TokenMap

T = TypeVar("T")


class Evidence(StrEnum):
    """Say how a statement about the training is known."""

    DECLARED = "declared"
    DEFAULT = "default"
    MEASURED = "measured"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Stated(Generic[T]):
    """Pair a value with its evidence and the words a reader can check it by."""

    value: T | None
    evidence: Evidence
    reason: str

    @property
    def certain(self) -> bool:
        """Tell whether a difference from this value is a failure rather than a doubt."""
        return self.evidence in (Evidence.DECLARED, Evidence.MEASURED)


@dataclass(frozen=True, slots=True)
class Intent:
    """Hold what the trainer meant.

    `trainer_named` says that the user named the trainer, so that naming it decides nothing more.
    `boundaries` are in the order in which fc takes them. `readings` are the candidates where the
    file leaves the meaning of its ids open, and `contradiction` is set where it says two things.
    """

    trainer: Stated[str]
    trainer_named: bool
    boundaries: Stated[Boundaries]
    readings: Mapping[str, Boundaries]
    contradiction: str
    order: Stated[str]
    token_map: Stated[TokenMap]
    classification: Classification | None
    map_order: str
    switches: Mapping[str, Stated[bool]]
    owns_embedding: Stated[bool]
    rope_theta: Stated[float]
