"""What a contract's check says about one subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["passed", "failed", "unverified"]
SEVERITY: dict[Status, int] = {"passed": 0, "unverified": 1, "failed": 2}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold a verdict with what was measured and what was expected.

    `fix` is the concrete remedy, where the contract's general one is not enough. `notes` are
    oddities that do not fail. `needs` names the option or capability that would decide an
    unverified contract. `loud` marks a failure that stops the engine instead of spoiling drafts.
    """

    status: Status
    measured: str
    expected: str = ""
    fix: str = ""
    notes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    loud: bool = False


def passed(measured: str, *notes: str) -> Outcome:
    """Return a pass with what was seen and any notes."""
    return Outcome("passed", measured, notes=tuple(n for n in notes if n))


def failed(measured: str, expected: str, fix: str = "", notes: Sequence[str] = ()) -> Outcome:
    """Return a failure."""
    return Outcome("failed", measured, expected, fix, tuple(notes))


def refused(measured: str, expected: str, fix: str = "") -> Outcome:
    """Return a failure that the engine itself reports, by refusing to load or to run."""
    return Outcome("failed", measured, expected, fix, loud=True)


def unverified(measured: str, *needs: str, expected: str = "", fix: str = "") -> Outcome:
    """Return that the evidence does not decide, and what would."""
    return Outcome("unverified", measured, expected, fix, needs=needs)


def verdict(problems: Sequence[str], expected: str, measured: str, fix: str = "") -> Outcome:
    """Return a failure that lists `problems`, or a pass with `measured` when there are none."""
    return failed("; ".join(problems), expected, fix) if problems else passed(measured)
