"""Contracts on the draft beside the target it is served with."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.map_facts import readings_of, sample
from pytest_eagle_contract.contracts.needs import TARGET
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, unverified, verdict
from pytest_eagle_contract.token_map import TokenMap

SPECIALS = ("bos_token_id", "eos_token_id")
VERIFIER = "speculators_config.verifier"


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
    return passed("width, vocabulary and class agree", note)


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
    stated = case.draft.config.texts(f"{VERIFIER}.architectures")
    own = case.target.architecture
    if stated and own and stated.value and own not in stated.value:
        yield f"{stated.where} names {stated.value[0]}, the target is {own}"


@contract("checkpoint.tokenizer", reaches_engines=False)
def tokenizer(eagle_case: Case) -> Outcome:
    """Special tokens are ids of the vocabulary, and the draft can propose the end.

    Why: a token outside the draft vocabulary is never drafted; an id outside V fails in engines.
    Incident: Automodel#2260, where draft_vocab_size -1 was accepted and dropped a special token.
    Fix: pin the tokenizer's special ids when the draft vocabulary is chosen, and correct ids that
    lie outside vocab_size in config.json.
    Since: 0.1.0
    """
    vocab, read = eagle_case.vocab_size, readings_of(eagle_case)
    # Engines take the ids from the target; a draft's own are copied along and read by none.
    config = (eagle_case.target or eagle_case.draft).config
    found = {key: _ids(config.raw(key)) for key in SPECIALS}
    outside = [
        f"{key} is {token:,} of {vocab:,} ids"
        for key, ids in found.items()
        for token in ids
        if vocab is not None and not -1 <= token < vocab
    ]
    if outside and eagle_case.target is not None:
        return verdict(outside, "ids of the vocabulary", "")
    ends = found["eos_token_id"]
    never = [t for t in ends if isinstance(read, TokenMap) and not read.draft_ids_of(t).size]
    note = f"the draft cannot propose the end: {never} is not in its vocabulary" if never else ""
    listed = ", ".join(f"{key} {sample(ids)}" for key, ids in found.items() if ids)
    return passed(listed or "no special ids are written", *outside, note)


def _ids(value: object) -> list[int]:
    found = value if isinstance(value, list) else [value]
    return [v for v in found if isinstance(v, int) and not isinstance(v, bool)]
