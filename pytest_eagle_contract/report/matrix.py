"""Sum up what one engine does with a draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_eagle_contract.contracts.result import FILES, Result
from pytest_eagle_contract.engines.model import Engine


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold what one contract said, from a result or from a record."""

    id: str
    on_files: bool
    status: str
    loud: bool
    undecided: bool
    reaches_engines: bool
    measured: str

    @property
    def bad(self) -> bool:
        """Tell whether the engine stops, or computes something else than was trained."""
        return self.status == "failed" or self.loud


def finding(result: Result) -> Finding:
    """Return a result as a finding."""
    contract, outcome = result.contract, result.outcome
    return Finding(
        contract.id,
        result.subject == FILES,
        outcome.status,
        outcome.loud,
        outcome.undecided,
        contract.reaches_engines,
        outcome.measured,
    )


def recorded(record: Mapping[str, Any]) -> Finding:
    """Return a record as a finding; a known failure still spoils an engine's drafts."""
    return Finding(
        record["id"],
        record["on"] == FILES,
        "failed" if record["outcome"] == "known" else record["outcome"],
        record["loud"],
        record["undecided"],
        record["reaches_engines"],
        record["measured"],
    )


def engine_row(engine: Engine, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the engine's verdict with its reasons, as plain data.

    `breaks` where it refuses to load or to run, `degraded` where it computes something else than
    was trained, `unknown` where the draft's intent decides and is not known, else `serves`.
    """
    reached = [f for f in findings if f.reaches_engines or not f.on_files]
    bad = sorted((f for f in reached if f.bad), key=lambda f: (not f.loud, f.on_files))
    doubts = sorted((f for f in reached if f.undecided), key=lambda f: f.on_files)
    reasons = bad or doubts
    if bad:
        verdict = "breaks" if bad[0].loud else "degraded"
    else:
        verdict = "unknown" if doubts else "serves"
    return {
        "name": engine.profile.name,
        "version": engine.version,
        "runner": engine.runner or None,
        "verdict": verdict,
        "reasons": list(dict.fromkeys(f.id for f in reasons)),
        "first": reasons[0].measured if reasons else "",
    }
