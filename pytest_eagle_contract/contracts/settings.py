"""Contracts on what the config says beside sizes: class, switches, rope, context."""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.geometry import NESTED
from pytest_eagle_contract.contracts.case import Case, across
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    failed,
    passed,
    refused,
    unverified,
    verdict,
)
from pytest_eagle_contract.contracts.switch_facts import compared, contradictions
from pytest_eagle_contract.contracts.weights import is_eagle3
from pytest_eagle_contract.engines.resolution import Resolution

ROPE_FREE = frozenset({"default", "none"})
DEFAULT_THETA = 10_000.0


@contract("checkpoint.switches")
def switches(eagle_case: Case) -> Outcome:
    """Each switch is written once, and the tensors it calls for are there.

    Why: an engine that finds the tensor but not the switch ignores it, and the other way round.
    Incident: vllm#46488, where EAGLE-3.1 heads ran as plain EAGLE-3 with unused norm weights.
    Fix: write the switch that was trained with, and export its tensors.
    Since: 0.1.0
    """
    problems = contradictions(eagle_case.draft)
    on = sorted(n for n, s in eagle_case.intent.switches.items() if s.value)
    return verdict(problems, "switches and tensors that agree", f"on: {', '.join(on) or 'none'}")


@contract("checkpoint.switches", subject="engine")
def engine_switches(eagle_case: Case) -> Outcome:
    """The engine computes with the switches that the draft was trained with.

    Why: the output stays right; a residual taken on the wrong side of a norm costs half the length.
    Incident: measured on vLLM 0.32, norm_before_residual flipped: 3.97 became 1.86.
    Fix: choose an engine version that honours the switch, or train without it.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: compared(eagle_case, reading))


@contract("checkpoint.architecture")
def architecture(eagle_case: Case) -> Outcome:
    """The directory holds an EAGLE-3 draft, and says so.

    Why: given a target or an EAGLE-1 head, engines load something and draft noise.
    Incident: sglang#36528, where the target was loaded as its own draft.
    Fix: give the directory that the trainer's export wrote.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    if draft.architecture is None:
        return failed(
            "config.json names no architectures", '["LlamaForCausalLMEagle3"] or an alias'
        )
    if not is_eagle3(draft):
        return failed(
            f"{draft.architecture}: layer 0 takes one state, not embedding and hidden side by side",
            "a first layer with doubled input",
        )
    return passed(draft.architecture)


@contract("checkpoint.architecture", subject="engine")
def engine_architecture(eagle_case: Case) -> Outcome:
    """The engine has a draft class for the name in `architectures`.

    Why: the name chooses the code; an unknown one stops the server, a wrong one runs another model.
    Incident: llama.cpp#24977, seven names for one model.
    Fix: write the name this engine registers.
    Since: 0.1.0
    """
    name = eagle_case.draft.architecture

    def judge(reading: Resolution) -> Outcome:
        accepted = reading.semantics.architectures
        if not accepted or name in accepted:
            return passed(f"{name} is accepted")
        wanted = " or ".join(sorted(accepted)[:4])
        return refused(f"{name} is not registered", wanted, f'write "architectures": ["{wanted}"]')

    return across(eagle_case, judge)


@contract("checkpoint.engine", subject="engine")
def engine(eagle_case: Case) -> Outcome:
    """The engine reads this kind of directory, and runs EAGLE-3 on this target.

    Why: a format it does not know fails at start, or is taken for another one.
    Incident: vllm-ascend#9526 and vllm#45538, targets without the EAGLE-3 interface.
    Fix: convert the checkpoint, or choose an engine version that supports the pair.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _reads(eagle_case, reading))


def _reads(case: Case, reading: Resolution) -> Outcome:
    facts, draft = reading.semantics, case.draft
    if draft.config.has("speculators_model_type") and not facts.speculators_format:
        return refused(
            f"does not read the speculators format ({NESTED})",
            "a flat config",
            "convert the config: sizes at top level, architectures LlamaForCausalLMEagle3",
        )
    if draft.checkpoint.layout not in facts.weights:
        return refused(f"does not read {draft.checkpoint.layout}", ", ".join(sorted(facts.weights)))
    target = case.target.architecture if case.target else None
    if target and facts.target_architectures and target not in facts.target_architectures:
        return refused(f"has no EAGLE-3 capture for {target}", "a supported target")
    return passed(f"reads {draft.checkpoint.layout}" + (f" for {target}" if target else ""))


@contract("checkpoint.rope")
def rope(eagle_case: Case) -> Outcome:
    """The config states one rotary base.

    Why: engines read rope_parameters, rope_theta and rope_scaling in different orders.
    Incident: SpecForge#270, a trainer that ignored rope_theta; sfllm#32 measured 2.39 and 2.50.
    Fix: write the base that was trained with, in both spellings.
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
    used = found.theta.value if found.theta else DEFAULT_THETA
    return passed(f"base {used:g}", _unlike_target(eagle_case, used))


def _unlike_target(case: Case, used: float) -> str:
    theirs = case.target.geometry.rope.theta if case.target else None
    if theirs is None or theirs.value == used:
        return ""
    return f"base {used:g} beside the target's {theirs.value:g}: usually an accident"


@contract("checkpoint.rope", subject="engine")
def engine_rope(eagle_case: Case) -> Outcome:
    """The engine rotates with the base and scaling that the config states.

    Why: position 0 looks right whatever the base; drafts get worse as the context grows.
    Incident: vllm#51092, where a plain rope dict was taken for another type.
    Fix: write the base at the place this engine version reads.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _rotates(eagle_case, reading))


def _rotates(case: Case, reading: Resolution) -> Outcome:
    found, facts, trained = case.draft.geometry.rope, reading.semantics, case.intent.rope_theta
    kind = found.kind.value if found.kind else "default"
    if facts.rope_types and kind not in facts.rope_types | ROPE_FREE:
        return refused(f"has no rope type {kind}", ", ".join(sorted(facts.rope_types)))
    used, where = _base_used(case, reading)
    wanted = trained.value if trained.value is not None else DEFAULT_THETA
    if used == wanted:
        return passed(f"base {used:g}, type {kind}")
    fix = f'write "rope_theta": {wanted:g} at top level and in rope_parameters'
    return failed(f"rotates with {used:g} ({where})", f"{wanted:g}: {trained.reason}", fix)


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
    Incident: SpecForge#249, very low accept length until 2,048 became 40,960.
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
    Incident: RL#3960, acceptance collapsed past 2,048; speculators#684, a window not applied.
    Fix: raise max_position_embeddings in the draft's config, or serve a shorter context.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _serves_context(eagle_case, reading))


def _serves_context(case: Case, reading: Resolution) -> Outcome:
    mine, facts = case.draft.geometry.max_position_embeddings, reading.semantics
    window = case.draft.geometry.sliding_window
    if window is not None and facts.sliding_window != "honoured":
        return failed(
            f"ignores the draft's window of {window.value:,}", f"{window.where} is applied"
        )
    theirs = case.target.geometry.max_position_embeddings if case.target else None
    if mine is None:
        return passed("the draft states no limit")
    if theirs is None:
        return unverified("the target's context is not known", "--eagle-target")
    if mine.value >= theirs.value:
        return passed(f"{mine.value:,} positions, the target has {theirs.value:,}")
    short = f"{mine.value:,} positions for the target's {theirs.value:,}"
    fix = f'write "max_position_embeddings": {theirs.value} or serve at most {mine.value:,} tokens'
    if facts.context_shorter == "error":
        return refused(f"refuses to start with {short}", f"{theirs.value:,}", fix)
    if facts.context_shorter == "raised to the target's":
        return passed(f"{short}; raises the draft's to the target's")
    if facts.context_shorter == "stops drafting":
        return failed(f"drafts nothing past {short}", f"{theirs.value:,}", fix)
    return failed(f"drafts wrongly past {short}", f"{theirs.value:,}", fix)


@contract("checkpoint.tie")
def tie(eagle_case: Case) -> Outcome:
    """tie_word_embeddings is false where the draft has a head of its own.

    Why: tying replaces the draft's reduced head by the full embedding.
    Incident: sglang#8230, AngelSlim drafts with tie true and 32,000 of 151,936 tokens crashed.
    Fix: write "tie_word_embeddings": false.
    Since: 0.1.0
    """
    sizes = eagle_case.draft.geometry
    if sizes.tie_word_embeddings is None or not sizes.tie_word_embeddings.value:
        return passed("head and embedding are separate")
    if sizes.draft_rows is not None and sizes.draft_rows != eagle_case.vocab_size:
        return failed(
            f"tie_word_embeddings is true and the head has {sizes.draft_rows:,} "
            f"of {eagle_case.vocab_size or 0:,} rows",
            "false",
        )
    return passed("the head is the embedding, over the whole vocabulary")


@contract("checkpoint.tie", subject="engine")
def engine_tie(eagle_case: Case) -> Outcome:
    """The engine uses the draft's own head where it ships one.

    Why: with tie_word_embeddings some engines drop the shipped head.
    Incident: sglang#8230.
    Fix: write "tie_word_embeddings": false.
    Since: 0.1.0
    """
    tied = eagle_case.draft.geometry.tie_word_embeddings
    ships = "lm_head.weight" in eagle_case.draft.tensors

    def judge(reading: Resolution) -> Outcome:
        effect = reading.semantics.tie
        if tied is None or not tied.value or not ships or effect == "ignored":
            return passed("the shipped head is used" if ships else "no head is shipped")
        return failed(f"tie_word_embeddings is true: {effect}", "the shipped head")

    return across(eagle_case, judge)
