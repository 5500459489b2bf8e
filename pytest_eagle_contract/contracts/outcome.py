"""What a contract's check says about one subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_eagle_contract.contracts.needs import Need
from pytest_eagle_contract.errors import one_line

Status = Literal["passed", "failed", "unverified"]
SEVERITY: dict[Status, int] = {"passed": 0, "unverified": 1, "failed": 2}
MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold a verdict with what was measured and what was expected.

    `fix` is the concrete remedy, where the contract's general one is not enough. `notes` are
    oddities that do not fail. An unverified contract is open for want of `needs`, any of which
    decides it, or because the contracts `blocked_by` name the fault. `loud` says that the engine
    itself stops, instead of drafting badly. `data` are numbers for the JSON report. Texts are
    folded to one printable line each.
    """

    status: Status
    measured: str
    expected: str = ""
    fix: str = ""
    notes: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    blocked_by: tuple[str, ...] = ()
    loud: bool = False
    data: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        # Names and values from files end up here, whatever characters they hold.
        for field in ("measured", "expected", "fix"):
            object.__setattr__(self, field, one_line(getattr(self, field), MAX_TEXT))
        object.__setattr__(self, "notes", tuple(one_line(n, MAX_TEXT) for n in self.notes))

    @property
    def undecided(self) -> bool:
        """Tell whether what the draft means is not known, so that no verdict can be a pass."""
        return self.status == "unverified" and any(need.meaning for need in self.needs)


def passed(measured: str, *notes: str) -> Outcome:
    """Return a pass with what was seen and any notes."""
    return Outcome("passed", measured, notes=tuple(n for n in notes if n))


def failed(measured: str, expected: str, fix: str = "", notes: Sequence[str] = ()) -> Outcome:
    """Return a failure."""
    return Outcome("failed", measured, expected, fix, tuple(notes))


def refused(measured: str, expected: str, fix: str = "") -> Outcome:
    """Return a failure that the engine itself reports, by refusing to load or to run."""
    return Outcome("failed", measured, expected, fix, loud=True)


def unverified(measured: str, *needs: Need, expected: str = "", fix: str = "") -> Outcome:
    """Return that the evidence does not decide, and what would."""
    return Outcome("unverified", measured, expected, fix, needs=needs)


def blocked(by: str | tuple[str, ...], measured: str, *, loud: bool = False) -> Outcome:
    """Return that other contracts name the fault, and what follows from it here."""
    named = (by,) if isinstance(by, str) else by
    return Outcome("unverified", measured, blocked_by=named, loud=loud)


def verdict(problems: Sequence[str], expected: str, measured: str, fix: str = "") -> Outcome:
    """Return a failure that lists `problems`, or a pass with `measured` when there are none."""
    return failed("; ".join(problems), expected, fix) if problems else passed(measured)
