"""Sum up what one engine does with a draft."""

from __future__ import annotations

from collections.abc import Iterable
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
    "a run with the draft",
)


def engine_row(engine: Engine, results: Iterable[Result]) -> dict[str, Any]:
    """Return the engine's verdict with its reasons, as plain data.

    `breaks` where it refuses to load, `degraded` where it computes something else than was
    trained, `unknown` where the draft's intent decides and is not known, else `serves`.
    """
    reached = [r for r in results if r.contract.id not in HARMLESS_TO_ENGINES]
    bad = [r for r in reached if r.outcome.status == "failed"]
    open_ = [r for r in reached if r.outcome.status == "unverified" and _intent(r)]
    mine = [r for r in bad if r.subject != FILES] + [r for r in bad if r.subject == FILES]
    reasons = mine or [r for r in open_ if r.subject != FILES] or open_
    if any(r.outcome.loud for r in bad):
        verdict = "breaks"
        reasons = sorted(mine, key=lambda r: not r.outcome.loud)
    elif bad:
        verdict = "degraded"
    else:
        verdict = "unknown" if open_ else "serves"
    return {
        "name": engine.profile.name,
        "version": engine.version,
        "runner": engine.runner or None,
        "verdict": verdict,
        "reasons": list(dict.fromkeys(r.contract.id for r in reasons)),
        "first": reasons[0].outcome.measured if reasons else "",
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


def _intent(result: Result) -> bool:
    return undecided(result.outcome.status, result.outcome.needs)
