"""Contracts on the draft beside the target it is served with."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_eagle_contract.checkpoint.geometry import VERIFIER, text_places
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.map_facts import readings_of, sample
from pytest_eagle_contract.contracts.needs import TARGET, TARGET_SIZES
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, unverified, verdict
from pytest_eagle_contract.token_map import TokenMap

END = "eos_token_id"
SPECIALS = ("bos_token_id", END)


@contract("checkpoint.target")
def target(eagle_case: Case) -> Outcome:
    """The draft was built for a target of this width, vocabulary and class.

    Why: a head of another target loads wherever the shapes agree, and drafts another model's words.
    Incident: EAGLE#98, where the base model's head was much slower on a fine-tuned target; one
    revision of RedHatAI's card of a Llama4-Maverick speculator named Qwen3-32B as the verifier.
    Fix: serve the draft with the target it was trained on.
    Since: 0.1.0
    """
    if eagle_case.target is None:
        return unverified("no target is given", TARGET)
    problems = list(_unlike(eagle_case))
    name = eagle_case.draft.config.text(f"{VERIFIER}.name_or_path")
    local = name is not None and name.value.startswith("/")
    note = f"{VERIFIER}.name_or_path is a path of one machine" if local else ""
    if problems:
        return failed("; ".join(problems), "the target's own width, vocabulary and class")
    compared = ", ".join(_alike(eagle_case))
    missing = list(_missing(eagle_case))
    if missing:
        agrees = f"agrees in {compared}" if compared else "nothing was compared"
        return unverified("; ".join((*missing, agrees)), TARGET_SIZES)
    return passed(f"agrees in {compared}", note)


def _missing(case: Case) -> Iterator[str]:
    assert case.target is not None
    for owner, sizes in (("draft", case.draft.geometry), ("target", case.target.geometry)):
        found = {"hidden_size": sizes.hidden_size, "vocab_size": sizes.vocab_size}
        absent = [key for key, located in found.items() if located is None]
        if absent:
            yield f"the {owner}'s config states no {' and no '.join(absent)}"


def _alike(case: Case) -> Iterator[str]:
    """Yield what was compared and agrees."""
    assert case.target is not None
    mine, theirs = case.draft.geometry, case.target.geometry
    width = mine.target_hidden_size or mine.hidden_size
    if width and theirs.hidden_size:
        yield f"width {width.value:,}"
    if mine.vocab_size and theirs.vocab_size:
        yield f"vocabulary {mine.vocab_size.value:,}"
    if case.target.architecture and _verifiers(case):
        yield f"class {case.target.architecture}"


def _verifiers(case: Case) -> tuple[str, ...]:
    stated = case.draft.config.texts(f"{VERIFIER}.architectures")
    return stated.value if stated else ()


def _unlike(case: Case) -> Iterator[str]:
    assert case.target is not None
    mine, theirs = case.draft.geometry, case.target.geometry
    width = mine.target_hidden_size or mine.hidden_size
    if width and theirs.hidden_size and width.value != theirs.hidden_size.value:
        yield (
            f"{width.where} is {width.value:,}, "
            f"the target's hidden_size {theirs.hidden_size.value:,}"
        )
    if mine.vocab_size and theirs.vocab_size and mine.vocab_size.value != theirs.vocab_size.value:
        yield (
            f"{mine.vocab_size.where} is {mine.vocab_size.value:,}, "
            f"the target's {theirs.vocab_size.value:,}"
        )
    stated, own = _verifiers(case), case.target.architecture
    if stated and own and _stem(own) not in map(_stem, stated):
        yield f"{VERIFIER}.architectures names {stated[0]}, the target is {own}"


def _stem(architecture: str) -> str:
    """Return a class's name without its head: one language model is wrapped by several."""
    return architecture.removesuffix("ForCausalLM").removesuffix("ForConditionalGeneration")


@contract("checkpoint.tokenizer", reaches_engines=False)
def tokenizer(eagle_case: Case) -> Outcome:
    """Special tokens are ids of the vocabulary; whether the draft can propose the end is noted.

    Why: a token outside the draft vocabulary is never drafted; an id outside V fails in engines.
    Incident: Automodel#2260, where draft_vocab_size -1 was accepted and dropped a special token.
    Fix: pin the tokenizer's special ids when the draft vocabulary is chosen, and correct ids that
    lie outside vocab_size in config.json.
    Since: 0.1.0
    """
    vocab, read = eagle_case.vocab_size, readings_of(eagle_case)
    found = {where: (key, ids) for where, key, ids in _special_ids(eagle_case)}
    outside = [
        f"{where} is {token:,} of {vocab:,} ids"
        for where, (_, ids) in found.items()
        for token in ids
        if vocab is not None and not -1 <= token < vocab
    ]
    if outside and eagle_case.target is not None:
        return verdict(outside, "ids of the vocabulary", "")
    ends = {token for key, ids in found.values() for token in ids if key == END}
    never = [
        t for t in sorted(ends) if isinstance(read, TokenMap) and not read.draft_ids_of(t).size
    ]
    note = f"the draft cannot propose the end: {never} is not in its vocabulary" if never else ""
    listed = ", ".join(f"{where} {sample(ids)}" for where, (_, ids) in found.items())
    return passed(listed or "no special ids are written", *outside, note)


def _special_ids(case: Case) -> Iterator[tuple[str, str, list[int]]]:
    """Yield place, key and ids from every file and table that engines take them from."""
    # A draft's own are copied along and read by no engine.
    config = (case.target or case.draft).config
    for key in SPECIALS:
        for place in text_places(config, key):
            if ids := _ids(config.raw(place)):
                yield place, key, ids
    generation = case.target.generation if case.target else None
    if generation is not None and (ids := _ids(generation.raw(END))):
        yield f"generation_config.json: {END}", END, ids


def _ids(value: object) -> list[int]:
    found = value if isinstance(value, list) else [value]
    return [v for v in found if isinstance(v, int) and not isinstance(v, bool)]
