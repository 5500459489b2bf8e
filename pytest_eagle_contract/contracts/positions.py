"""Contracts on positions: the rotary base, the context and the attention window."""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.geometry import NESTED
from pytest_eagle_contract.contracts.case import Case, across, sourced
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.needs import TARGET, TRAINER
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, refused, unverified
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.intent import Evidence

ROPE_FREE = frozenset({"default", "none"})
DEFAULT_THETA = 10_000.0


@contract("checkpoint.rope")
def rope(eagle_case: Case) -> Outcome:
    """The config states one rotary base.

    Why: engines read rope_parameters, rope_theta and rope_scaling in different orders.
    Incident: sfllm#32, a draft trained at base 10,000 whose config said 1,000,000: accept length
    2.39 as written, 2.50 with the trained base.
    Fix: write the base that was trained with, as rope_theta and in rope_parameters.
    Since: 0.1.0
    """
    config, found = eagle_case.draft.config, eagle_case.draft.geometry.rope
    thetas = {
        located.where: located.value
        for place in ("rope_theta", "rope_parameters.rope_theta", "rope_scaling.rope_theta")
        for located in (config.number(place), config.number(f"{NESTED}.{place}"))
        if located is not None
    }
    if len(set(thetas.values())) > 1:
        return failed(", ".join(f"{w} is {v:g}" for w, v in thetas.items()), "one base")
    if found.theta is not None and found.theta.value <= 0:
        return failed(f"{found.theta.where} is {found.theta.value:g}", "a positive base")
    if found.theta is None:
        return passed(f"base {DEFAULT_THETA:g}, as none is written")
    return passed(f"base {found.theta.value:g}", _unlike_target(eagle_case, found.theta.value))


def _unlike_target(case: Case, used: float) -> str:
    theirs = case.target.geometry.rope.theta if case.target else None
    if theirs is None or theirs.value == used:
        return ""
    return f"base {used:g} beside the target's {theirs.value:g}: usually an accident"


@contract("checkpoint.rope", subject="engine")
def engine_rope(eagle_case: Case) -> Outcome:
    """The engine rotates with the base and scaling that the config states.

    Why: position 0 looks right whatever the base; drafts get worse as the context grows.
    Incident: vllm-ascend#6612, where draft and target of different bases shared one table and both
    got worse; vllm#51092, where a plain rope was taken for yarn: KeyError 'factor'.
    Fix: write the base at the place this engine version reads.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _rotates(eagle_case, reading))


def _rotates(case: Case, reading: Resolution) -> Outcome:
    found, facts, trained = case.draft.geometry.rope, reading.semantics, case.intent.rope_theta
    kind = found.kind.value if found.kind else "default"
    if facts.rope_types and kind not in facts.rope_types | ROPE_FREE:
        types = ", ".join(sorted(facts.rope_types))
        fix = f"choose an engine that has {kind}, or train with one of: default, {types}"
        return sourced(refused(f"has no rope type {kind}", types, fix), reading, "rope_types")
    used, where = _base_used(case, reading)
    wanted = trained.value if trained.value is not None else DEFAULT_THETA
    if used == wanted:
        return passed(f"base {used:g}, type {kind}")
    if trained.evidence is Evidence.DEFAULT and trained.value is not None:
        doubt = f"rotates with {used:g} ({where}); {trained.reason}"
        return unverified(doubt, TRAINER, expected=f"{wanted:g}")
    fix = f'write "rope_theta": {wanted:g} at top level and in rope_parameters'
    if facts.rope_theta != "honoured":
        fix = f"choose another engine, or train with {used:g}: no key changes this engine's base"
    fact = "rope_keys" if facts.rope_theta == "honoured" else "rope_theta"
    outcome = failed(f"rotates with {used:g} ({where})", f"{wanted:g}: {trained.reason}", fix)
    return sourced(outcome, reading, fact)


def _base_used(case: Case, reading: Resolution) -> tuple[float, str]:
    """Return the base that an engine rotates with, and where it comes from."""
    found, facts = case.draft.geometry.rope.theta, reading.semantics
    if found is None:
        return DEFAULT_THETA, "no base is written"
    if facts.rope_theta != "honoured":
        return DEFAULT_THETA, f"ignores {found.where}"
    places = ("rope_theta", "rope_parameters.rope_theta", "rope_scaling.rope_theta")
    for place in places:
        read = case.draft.config.number(place, f"{NESTED}.{place}")
        if read is not None and place.split(".")[0] in facts.rope_keys:
            return read.value, read.where
    return DEFAULT_THETA, f"does not read {found.where}"


@contract("checkpoint.context")
def context(eagle_case: Case) -> Outcome:
    """The config states how many positions the draft knows.

    Why: engines size the rotary table or refuse the server's context by it.
    Incident: SpecForge#249, a Qwen3-8B draft of very low accept length until its
    max_position_embeddings was raised from 2,048 to 40,960.
    Fix: write the target's max_position_embeddings unless the draft must stay shorter.
    Since: 0.1.0
    """
    stated = eagle_case.draft.geometry.max_position_embeddings
    if stated is None:
        return passed("max_position_embeddings is not written")
    if stated.value < 1:
        return failed(f"{stated.where} is {stated.value}", "a positive number")
    return passed(f"{stated.value:,} positions")


@contract("checkpoint.context", subject="engine")
def engine_context(eagle_case: Case) -> Outcome:
    """The engine serves the target's context, and the draft's attention window, as trained.

    Why: past the draft's positions the rotary table is wrong or the server does not start.
    Incident: NVIDIA-NeMo/RL#3960, where acceptance collapsed past position 2,048; speculators#684,
    where the draft's window was not applied.
    Fix: raise max_position_embeddings in the draft's config, or serve a shorter context; for a
    window choose an engine that applies it, or train with full attention.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _serves_context(eagle_case, reading))


def _serves_context(case: Case, reading: Resolution) -> Outcome:
    mine, facts = case.draft.positions, reading.semantics
    window = case.draft.geometry.sliding_window
    theirs = case.target.geometry.max_position_embeddings if case.target else None
    felt = window is not None and (theirs is None or window.value < theirs.value)
    if window is not None and felt and facts.sliding_window != "honoured":
        stated = failed(
            f"ignores the draft's window of {window.value:,}",
            f"{window.where} is applied",
            "choose an engine that applies it, or train with full attention",
        )
        return sourced(stated, reading, "sliding_window")
    if mine is None:
        return passed("the draft states no limit")
    if theirs is None:
        return unverified("the target's context is not known", TARGET)
    if mine.value >= theirs.value:
        return passed(f"{mine.value:,} positions, the target has {theirs.value:,}")
    short = f"{mine.value:,} positions for the target's {theirs.value:,}"
    fix = f'write "max_position_embeddings": {theirs.value} or serve at most {mine.value:,} tokens'
    if facts.context_remedy:
        fix += f", or {facts.context_remedy}"
    if facts.context_shorter == "error":
        outcome = refused(f"refuses to start with {short}", f"{theirs.value:,} positions", fix)
        return sourced(outcome, reading, "context_shorter")
    if facts.context_shorter == "raised to the target's":
        return passed(f"{short}; raises the draft's to the target's")
    if facts.context_shorter == "stops drafting":
        outcome = failed(f"drafts nothing past {short}", f"{theirs.value:,} positions", fix)
    else:
        outcome = failed(f"drafts wrongly past {short}", f"{theirs.value:,} positions", fix)
    return sourced(outcome, reading, "context_shorter")
