"""Contracts on who owns the draft's embedding and head."""

from __future__ import annotations

from pytest_eagle_contract.contracts.case import Case, across, sourced
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.embedding_rows import compare_rows
from pytest_eagle_contract.contracts.needs import TARGET_WEIGHTS, VOCAB_SIZE
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    blocked,
    failed,
    passed,
    refused,
    unverified,
)
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.pair import is_eagle3

EMBEDDING = "embed_tokens.weight"
HEAD = "lm_head.weight"


@contract("checkpoint.lm-head")
def lm_head(eagle_case: Case) -> Outcome:
    """The head has a row for each draft id.

    Why: engines allocate draft_vocab_size rows and refuse any other number.
    Incident: EAGLE#249, where an lm_head of 32,000 rows met a model of 128,256.
    Fix: write draft_vocab_size equal to the rows of lm_head.weight.
    Since: 0.1.0
    """
    draft = eagle_case.draft
    head, sizes = draft.tensors.get(HEAD), draft.geometry
    if not is_eagle3(draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    if sizes.draft_rows is not None and sizes.draft_rows < 1:
        fix = f'write "draft_vocab_size": {head.rows}' if head else ""
        return failed(f"draft_vocab_size is {sizes.draft_rows}", "a positive number", fix)
    if eagle_case.vocab_size is None:
        return unverified("vocab_size is not written", VOCAB_SIZE)
    if head is None:
        if sizes.draft_rows == eagle_case.vocab_size:
            return passed("no head is stored; over the whole vocabulary the target's can serve")
        return failed(
            f"{HEAD} is missing",
            f"{sizes.draft_rows} rows of its own",
            f"export {HEAD}, one row for each draft id",
        )
    if sizes.draft_rows is None:
        return failed("neither draft_vocab_size nor vocab_size is written", f"{head.rows}")
    if head.rows != sizes.draft_rows:
        place = sizes.draft_vocab_size or sizes.vocab_size
        where = place.where if place else "draft_vocab_size"
        return failed(
            f"{head.name} has {head.rows:,} rows, {where} is {sizes.draft_rows:,}",
            "one row for each draft id",
            f'write "draft_vocab_size": {head.rows}',
        )
    return passed(f"{head.rows:,} rows")


@contract("checkpoint.lm-head", subject="engine")
def engine_lm_head(eagle_case: Case) -> Outcome:
    """The engine scores draft ids with the head that was trained.

    Why: replaced by the target's, a trained head's work is lost and its row order with it.
    Incident: vllm#28549, before which a draft's own head and embedding were overwritten by the
    target's: accept length 1.32, and 2.49 with its own.
    Fix: write draft_vocab_size, and ship lm_head.weight.
    Since: 0.1.0
    """
    sizes, ships = eagle_case.draft.geometry, HEAD in eagle_case.draft.tensors
    rows = eagle_case.draft.head_rows
    fix = f'write "draft_vocab_size": {rows}' if rows else ""

    def judge(reading: Resolution) -> Outcome:
        facts = reading.semantics
        if ships and sizes.draft_rows not in (None, rows):
            built = f"builds a head of {sizes.draft_rows} rows, and {rows} are stored"
            return blocked("checkpoint.lm-head", built, loud=True)
        absent = sizes.draft_vocab_size is None and not _null_counts(eagle_case, reading)
        if absent and facts.draft_vocab_absent == "error":
            outcome = refused(
                "refuses a config without draft_vocab_size", "draft_vocab_size is written", fix
            )
            return sourced(outcome, reading, "draft_vocab_absent")
        by_null = facts.lm_head == "target's if draft vocab is null" and not sizes.draft_vocab_size
        if by_null and ships:
            return failed(
                "takes the target's head, as draft_vocab_size is not written", "its own head", fix
            )
        shared = facts.lm_head == "target's if draft vocab is null"
        if not ships and shared and sizes.draft_vocab_size is not None:
            fix_null = "ship lm_head.weight, or write a null draft_vocab_size to share the target's"
            return failed("leaves the head as allocated", f"{HEAD} is stored", fix_null)
        if not ships and sizes.draft_rows != eagle_case.vocab_size:
            taken = "takes the target's head, whose rows are the whole vocabulary's"
            return blocked("checkpoint.lm-head", taken)
        if not ships and facts.lm_head == "own":
            return failed("has no head: it does not take the target's", f"{HEAD} is stored")
        return passed("the draft's own head" if ships and not by_null else "the target's head")

    return across(eagle_case, judge, "lm_head")


def _null_counts(case: Case, reading: Resolution) -> bool:
    """Tell whether a written null is a value to the engine, and stands for the whole vocabulary."""
    written = case.draft.config.has("draft_vocab_size")
    return written and reading.semantics.draft_vocab_null == "vocab_size"


@contract("checkpoint.embedding")
def embedding(eagle_case: Case) -> Outcome:
    """A stored embedding belongs to the target's vocabulary.

    Why: rows under other ids give every draft token another meaning.
    Incident: TorchSpec#38, whose export wrote a random embedding that vLLM then used; measured on
    vLLM 0.32, an embedding rolled by one row takes accept length from 3.97 to 1.03.
    Fix: copy the target's embedding, or leave it out of the export.
    Since: 0.1.0
    """
    draft, target = eagle_case.draft, eagle_case.target_weights
    if EMBEDDING not in draft.tensors:
        return passed("no embedding is stored; engines use the target's")
    if target is None:
        return unverified("the target's weights are not given to compare with", TARGET_WEIGHTS)
    return compare_rows(draft.checkpoint, draft.tensors[EMBEDDING], target).outcome()


@contract("checkpoint.embedding", subject="engine")
def engine_embedding(eagle_case: Case) -> Outcome:
    """The engine embeds tokens with the table that the draft was trained with.

    Why: some engines always take the target's table, others need one in the checkpoint.
    Incident: vllm-ascend#5575, where a Llama-3.3-70B draft with a table of its own, whose width is
    not the target's, failed an assertion while loading.
    Fix: keep the target's embedding frozen while training, or choose an engine that keeps yours;
    where one is needed, store it as embed_tokens.weight.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _embeds(eagle_case, reading), "embedding")


def _embeds(case: Case, reading: Resolution) -> Outcome:
    facts, sizes = reading.semantics, case.draft.geometry
    ships = EMBEDDING in case.draft.tensors
    wide = (
        sizes.target_hidden_size is not None
        and sizes.hidden_size is not None
        and (sizes.target_hidden_size.value != sizes.hidden_size.value)
    )
    if wide and facts.target_hidden_size == "error":
        return blocked("layers.fc-width", "states of the target's width stop it")
    if wide and not ships:
        return failed(
            "needs an embedding: the target's has another width", "embed_tokens is stored"
        )
    if not ships:
        if facts.embedding == "kept":
            fix = "store the target's embedding in the checkpoint as embed_tokens.weight"
            return failed("needs an embedding in the checkpoint", "embed_tokens is stored", fix)
        return passed("the target's embedding")
    if facts.embedding != "target's" or (wide and facts.embedding_width_exception):
        return passed("the stored embedding")
    owns = _owns(case)
    if owns is None:
        return unverified(
            "replaces the stored embedding by the target's; whether they are equal is not known",
            TARGET_WEIGHTS,
        )
    if owns:
        return failed(
            "replaces the stored embedding by the target's", "the stored one, which differs"
        )
    return passed("the target's embedding, which the stored one equals")


def _owns(case: Case) -> bool | None:
    """Tell whether the stored embedding is the draft's own, by its rows or else by its trainer."""
    if case.target_weights is None:
        return case.intent.owns_embedding.value
    draft = case.draft
    rows = compare_rows(draft.checkpoint, draft.tensors[EMBEDDING], case.target_weights)
    return case.intent.owns_embedding.value if rows.differs is None else rows.differs
