"""Contracts on positions: the rotary base, the context and the attention window."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_eagle_contract.checkpoint.geometry import places
from pytest_eagle_contract.contracts.case import Case, across, sourced
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.needs import ONE_ROPE, TARGET, TRAINER
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    blocked,
    failed,
    passed,
    refused,
    unverified,
)
from pytest_eagle_contract.contracts.rope import (
    DEFAULT_THETA,
    ORIGINAL,
    PLAIN,
    Scaling,
    faults,
    fix_place,
    lacks_original,
    layered,
    scaling_of,
    stated_scaling,
    tables,
    unknown_type,
    untyped,
    used_base,
    used_scaling,
)
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.intent import Evidence

MOST_POSITIONS = 2**27
"""More than this is in no model known, by a factor of ten or more."""


@contract("checkpoint.rope")
def rope(eagle_case: Case) -> Outcome:
    """The config states one rotary base and one scaling.

    Why: engines read rope_parameters, rope_theta and rope_scaling in different orders.
    Incident: sfllm#32, a draft trained at base 10,000 whose config said 1,000,000: accept length
    2.39 as written, 2.50 with the trained base.
    Fix: write the base that was trained with, as rope_theta and in rope_parameters; a scaling alike
    in rope_scaling and rope_parameters.
    Since: 0.1.0
    """
    config, theta = eagle_case.draft.config, eagle_case.draft.geometry.rope.theta
    problems = list(faults(config))
    if problems:
        return failed("; ".join(problems), "one base and one scaling, of positive numbers")
    if where := layered(config):
        return unverified(f"{where} holds a rope for each layer type", ONE_ROPE)
    scaling = stated_scaling(config)
    scaled = "" if scaling == PLAIN else f", {scaling}"
    if theta is None:
        return passed(f"base {DEFAULT_THETA:g}, as none is written{scaled}")
    return passed(f"base {theta.value:g}{scaled}", _unlike_target(eagle_case, theta.value))


def _unlike_target(case: Case, used: float) -> str:
    theirs = case.target.geometry.rope.theta if case.target else None
    if theirs is None or theirs.value == used:
        return ""
    return f"base {used:g} beside the target's {theirs.value:g}: right only if it was trained so"


@contract("checkpoint.rope", subject="engine")
def engine_rope(eagle_case: Case) -> Outcome:
    """The engine rotates with the base and scaling that the config states.

    Why: position 0 looks right whatever the base; drafts get worse as the context grows.
    Incident: vllm-ascend#6612, where draft and target of different bases shared one table and both
    got worse; vllm#51092, where a plain rope was taken for yarn: KeyError 'factor'.
    Fix: write base and scaling at the places this engine version reads.
    Since: 0.1.0
    """
    problems = list(faults(eagle_case.draft.config))
    if layered(eagle_case.draft.config):
        problems.append("a rope for each layer type")
    if problems:
        return blocked("checkpoint.rope", "; ".join(problems))
    return across(eagle_case, lambda reading: _rotates(eagle_case, reading))


def _rotates(case: Case, reading: Resolution) -> Outcome:
    config, facts = case.draft.config, reading.semantics
    scaling, where = used_scaling(config, facts)
    if facts.rope_type_absent == "error" and untyped(config, facts):
        got, wanted = f"fails at start: {where} states no rope_type", "a table with its type"
        fix = f"write rope_type in {where}: default where nothing is scaled"
        return sourced(refused(got, wanted, fix), reading, "rope_type_absent")
    if unknown_type(scaling, facts):
        types = ", ".join(sorted(facts.rope_types))
        fix = f"choose an engine that has {scaling.kind}, or train with one of: default, {types}"
        return sourced(
            refused(f"has no rope type {scaling.kind}", types, fix), reading, "rope_types"
        )
    if facts.rope_original_absent == "error" and lacks_original(config, scaling):
        got = f"fails at start: {where} states no {ORIGINAL}"
        fix = f"write {ORIGINAL}, the length before scaling, in {where}"
        return sourced(refused(got, f"{scaling} with one", fix), reading, "rope_original_absent")
    if scaling != stated_scaling(config):
        return _scales_otherwise(case, reading, scaling, where)
    return _turns_from(case, reading, scaling)


def _scales_otherwise(case: Case, reading: Resolution, scaling: Scaling, where: str) -> Outcome:
    config, facts = case.draft.config, reading.semantics
    stated = stated_scaling(config)
    got = f"rotates with {scaling}" if scaling != PLAIN else "rotates without scaling"
    if unknown_type(stated, facts):
        types = ", ".join(sorted(facts.rope_types))
        fix = f"choose an engine that has {stated.kind}, or train with one of: default, {types}"
        outcome = failed(f"{got}: ignores the type {stated.kind}", str(stated), fix)
        return sourced(outcome, reading, "rope_types")
    source = next(t for t in tables(config) if scaling_of(config, t) != scaling)
    why = f"reads {where}, not {source.where}" if where else f"does not read {source.where}"
    fix = f"write the settings of {source.where} as {fix_place(config, facts)} too"
    if "table" not in facts.rope_base:
        fix += ", and rope_theta beside it"
    return sourced(failed(f"{got}: {why}", str(stated), fix), reading, "rope_tables")


def _turns_from(case: Case, reading: Resolution, scaling: Scaling) -> Outcome:
    facts, trained = reading.semantics, case.intent.rope_theta
    used, where = used_base(case.draft.config, facts)
    wanted = trained.value if trained.value is not None else DEFAULT_THETA
    if used == wanted:
        return passed(f"base {used:g}, type {scaling.kind}")
    if trained.evidence is Evidence.DEFAULT and trained.value is not None:
        doubt = f"rotates with {used:g} ({where}); {trained.reason}"
        return unverified(doubt, TRAINER, expected=f"{wanted:g}")
    fix = f'write "rope_theta": {wanted:g} at top level and in rope_parameters'
    lost = facts.rope_theta != "honoured" or (scaling != PLAIN and not facts.rope_base_scaled)
    if lost:
        fix = f"choose another engine, or train with {used:g}: no key changes this engine's base"
    fact = "rope_base" if facts.rope_theta == "honoured" else "rope_theta"
    outcome = failed(f"rotates with {used:g} ({where})", f"{wanted:g}: {trained.reason}", fix)
    return sourced(outcome, reading, fact)


@contract("checkpoint.context")
def context(eagle_case: Case) -> Outcome:
    """The config states how many positions the draft knows.

    Why: engines size the rotary table or refuse the server's context by it.
    Incident: SpecForge#249, a Qwen3-8B draft of very low accept length until its
    max_position_embeddings was raised from 2,048 to 40,960.
    Fix: write the target's max_position_embeddings unless the draft must stay shorter.
    Since: 0.1.0
    """
    problems, stated = list(_impossible(eagle_case)), eagle_case.draft.geometry
    if problems:
        return failed("; ".join(problems), f"positive numbers of at most {MOST_POSITIONS:,}")
    if stated.max_position_embeddings is None:
        return passed("max_position_embeddings is not written")
    return passed(f"{stated.max_position_embeddings.value:,} positions")


def _impossible(case: Case) -> Iterator[str]:
    sizes = case.draft.geometry
    for found in (sizes.max_position_embeddings, sizes.sliding_window):
        if found is not None and not 1 <= found.value <= MOST_POSITIONS:
            yield f"{found.where} is {found.value:,}"


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
    problems = list(_impossible(eagle_case))
    if problems:
        return blocked("checkpoint.context", "; ".join(problems))
    return across(
        eagle_case,
        lambda reading: _windowed(eagle_case, reading) or _serves_context(eagle_case, reading),
    )


def _windowed(case: Case, reading: Resolution) -> Outcome | None:
    """Judge an engine that does not apply the draft's window."""
    window, effect = case.draft.geometry.sliding_window, reading.semantics.sliding_window
    kinds = case.draft.config.texts(*places("layer_types"))
    if effect == "error" and kinds is not None and kinds.value:
        fix = f"remove {kinds.where}" if window is None else "choose an engine that applies it"
        stated = refused(f"fails at start: {kinds.where} is written", "reads it", fix)
        return sourced(stated, reading, "sliding_window")
    theirs = case.target.geometry.max_position_embeddings if case.target else None
    if window is None or effect == "honoured" or (theirs and window.value >= theirs.value):
        return None
    stated = failed(
        f"ignores the draft's window of {window.value:,}",
        f"{window.where} is applied",
        "choose an engine that applies it, or train with full attention",
    )
    return sourced(stated, reading, "sliding_window")


def _serves_context(case: Case, reading: Resolution) -> Outcome:
    mine, facts = case.draft.positions, reading.semantics
    theirs = case.target.geometry.max_position_embeddings if case.target else None
    if mine is None:
        return passed("the draft states no limit")
    if theirs is None:
        return unverified("the target's context is not known", TARGET)
    if mine.value >= theirs.value:
        return passed(f"{mine.value:,} positions, the target has {theirs.value:,}")
    short = f"{mine.value:,} positions for the target's {theirs.value:,}"
    shorter = f"serve at most {mine.value:,} tokens"
    if facts.context_option:
        shorter = f"serve with {facts.context_option} {mine.value}"
    fix = f'write "max_position_embeddings": {theirs.value}, or {shorter}'
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
