"""Contracts on what the config says beside sizes: class, switches, format, tying."""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.geometry import NESTED
from pytest_eagle_contract.contracts.case import Case, across, sourced
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    blocked,
    failed,
    passed,
    refused,
    verdict,
)
from pytest_eagle_contract.contracts.remedies import class_fix, layout_fix
from pytest_eagle_contract.contracts.switch_facts import compared, contradictions
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.pair import is_eagle3

TIED = {
    "head from embedding": "takes the embedding for the head",
    "lm_head skipped": "skips the shipped head and leaves its own as allocated",
    "error": "fails at start",
}


@contract("checkpoint.switches")
def switches(eagle_case: Case) -> Outcome:
    """Each switch is written once, and the tensors it calls for are there.

    Why: a tensor without its switch is ignored or refused; a switch without its tensor runs on
    values that were never trained.
    Incident: vllm#11126 and TensorRT-LLM#2588, EAGLE-1 drafts with or without fc.bias and no word
    of it in the config: an accept rate of 0.068 in one engine, a KeyError in the other.
    Fix: write the switch that was trained with, once, and export its tensors.
    Since: 0.1.0
    """
    problems = contradictions(eagle_case)
    on = sorted(n for n, s in eagle_case.intent.switches.items() if s.value)
    return verdict(problems, "switches and tensors that agree", f"on: {', '.join(on) or 'none'}")


@contract("checkpoint.switches", subject="engine")
def engine_switches(eagle_case: Case) -> Outcome:
    """The engine computes with the switches that the draft was trained with.

    Why: the output stays right; a residual taken on the wrong side of a norm costs half the length.
    Incident: vllm#46488, where EAGLE-3.1 drafts ran as plain EAGLE-3; measured on vLLM 0.32,
    norm_before_residual flipped takes accept length from 3.97 to 1.86.
    Fix: choose an engine version that honours the switch, or train without it.
    Since: 0.1.0
    """
    # Said of an unread format too: whoever converts it should know what is lost all the same.
    return across(eagle_case, lambda reading: compared(eagle_case, reading), read=False)


@contract("checkpoint.architecture")
def architecture(eagle_case: Case) -> Outcome:
    """The directory holds an EAGLE-3 draft, and says so.

    Why: given a target or an EAGLE-1 head, an engine crashes at start or drafts noise.
    Incident: sglang#36528, where the target was loaded as its own draft and the server crashed.
    Fix: give the directory that the trainer's export wrote, and name its class in architectures.
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
    Incident: llama.cpp#24977 and vllm#24967, where drafts were rejected for their class name.
    Fix: write the name that this engine registers for the draft's layout.
    Since: 0.1.0
    """
    name = eagle_case.draft.architecture

    def judge(reading: Resolution) -> Outcome:
        accepted = reading.semantics.architectures
        if not accepted or name in accepted:
            return passed(f"{name or 'any name'} is accepted")
        if name is None:
            return blocked("checkpoint.architecture", "no class name is written", loud=True)
        wanted = " or ".join(sorted(accepted)[:4]) + (", …" if len(accepted) > 4 else "")
        fix = class_fix(eagle_case.draft, accepted)
        return refused(f"{name} is not registered", wanted, fix)

    return across(eagle_case, judge, "architectures")


@contract("checkpoint.engine", subject="engine")
def engine(eagle_case: Case) -> Outcome:
    """The engine reads this kind of directory, and runs EAGLE-3 on this target.

    Why: a format that it does not know fails at start; a target without capture code fails at start
    or at the first request.
    Incident: vllm#45538, where a target lacked the EAGLE-3 interface on one platform;
    openvino.genai#4390, where a mixture of experts loaded and failed at the first request.
    Fix: convert the checkpoint, or choose an engine version that supports the pair.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _reads(eagle_case, reading), read=False)


def _reads(case: Case, reading: Resolution) -> Outcome:
    facts, draft = reading.semantics, case.draft
    if draft.nested and not facts.speculators_format:
        steps = (f"move the keys of {NESTED} to top level", class_fix(draft, facts.architectures))
        fix = " and ".join(filter(None, steps))
        stated = refused(
            f"does not read the speculators format ({NESTED})", "sizes at top level", fix
        )
        return sourced(stated, reading, "speculators_format")
    if draft.checkpoint.layout not in facts.weights:
        reads = ", ".join(sorted(facts.weights))
        stated = refused(f"does not read {draft.checkpoint.layout}", reads, layout_fix(facts))
        return sourced(stated, reading, "weights")
    target = case.target.architecture if case.target else None
    if target and facts.target_architectures and target not in facts.target_architectures:
        stated = refused(
            f"has no EAGLE-3 capture for {target}",
            f"one of the {len(facts.target_architectures)} targets that it captures",
            f"choose an engine, or a version of this one, that captures {target}",
        )
        return sourced(stated, reading, "target_architectures")
    return passed(f"reads {draft.checkpoint.layout}" + (f" for {target}" if target else ""))


@contract("checkpoint.tie", reaches_engines=False)
def tie(eagle_case: Case) -> Outcome:
    """tie_word_embeddings is false where the draft has a head of its own.

    Why: tying replaces the draft's reduced head by the full embedding.
    Incident: sglang#8230, where AngelSlim drafts of 32,000 of 151,936 tokens, tied by their config,
    crashed the server: index out of bounds.
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
    Incident: sglang#8230, where the tied head, the whole embedding, drafted ids past the map's end.
    Fix: write "tie_word_embeddings": false.
    Since: 0.1.0
    """
    tied = eagle_case.draft.geometry.tie_word_embeddings
    ships = "lm_head.weight" in eagle_case.draft.tensors

    def judge(reading: Resolution) -> Outcome:
        effect = reading.semantics.tie
        if tied is None or not tied.value or not ships or effect == "ignored":
            return passed("the shipped head is used" if ships else "no head is shipped")
        return failed(f"tie_word_embeddings is true: {TIED[effect]}", "the shipped head is used")

    return across(eagle_case, judge, "tie")
