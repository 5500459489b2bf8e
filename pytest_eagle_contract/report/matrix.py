"""Sum up what one engine does with a draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_eagle_contract.assess import FILES, Result
from pytest_eagle_contract.engines.model import Engine

HARMLESS_TO_ENGINES = frozenset(
    {
        "mapping.mask",
        "mapping.coverage",
        "mapping.token-map",
        "mapping.side-files",
        "checkpoint.tokenizer",
    }
)
"""Contracts on files that no engine reads; a failure says nothing about how the draft serves."""

CAPABILITIES = (
    "--eagle-target",
    "--eagle-prompts",
    "--eagle-target with weights",
    "readable target weights",
    "a run with the draft",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold what one contract said, from a result or from a record."""

    id: str
    on_files: bool
    status: str
    loud: bool
    measured: str
    needs: tuple[str, ...]


def finding(result: Result) -> Finding:
    """Return a result as a finding."""
    outcome = result.outcome
    return Finding(
        result.contract.id,
        result.subject == FILES,
        outcome.status,
        outcome.loud,
        outcome.measured,
        outcome.needs,
    )


def recorded(record: Mapping[str, Any]) -> Finding:
    """Return a record as a finding; a known failure still spoils an engine's drafts."""
    status = "failed" if record["outcome"] == "known" else record["outcome"]
    return Finding(
        record["id"],
        record["on"] == FILES,
        status,
        record["loud"],
        record["measured"],
        tuple(record["needs"]),
    )


def engine_row(engine: Engine, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the engine's verdict with its reasons, as plain data.

    `breaks` where it refuses to load, `degraded` where it computes something else than was
    trained, `unknown` where the draft's intent decides and is not known, else `serves`.
    """
    reached = [f for f in findings if f.id not in HARMLESS_TO_ENGINES]
    bad = sorted((f for f in reached if f.status == "failed"), key=lambda f: f.on_files)
    doubts = [f for f in reached if undecided(f.status, f.needs)]
    reasons = bad or sorted(doubts, key=lambda f: f.on_files)
    if any(f.loud for f in bad):
        verdict = "breaks"
        reasons = sorted(bad, key=lambda f: (not f.loud, f.on_files))
    elif bad:
        verdict = "degraded"
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


def undecided(outcome: str, needs: Iterable[str]) -> bool:
    """Tell whether an outcome is open for want of knowledge about the draft itself.

    A capability that was not offered, and a fault that another contract names, leave it open for
    other reasons.
    """
    needed = list(needs)
    return outcome == "unverified" and any(
        n not in CAPABILITIES and not n.partition(" ")[0].count(".") for n in needed
    )
