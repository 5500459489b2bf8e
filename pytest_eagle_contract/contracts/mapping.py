"""Contracts on the map from draft ids to target ids."""

from __future__ import annotations

from pytest_eagle_contract.contracts.case import Case, across
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.map_engine import consequence
from pytest_eagle_contract.contracts.map_facts import (
    blocked,
    intended_order,
    offset_reading,
    readings_of,
    sample,
    unlike_mask,
)
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    failed,
    passed,
    refused,
    unverified,
    verdict,
)
from pytest_eagle_contract.engines.resolution import MapUse, Resolution
from pytest_eagle_contract.token_map import Form, TokenMap, as_integers, describe

INTEGERS = frozenset({"I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8"})


@contract("mapping.present")
def present(eagle_case: Case) -> Outcome:
    """A draft with a reduced vocabulary stores its map.

    Why: without d2t most engines take draft ids as target ids, so nearly every token is wrong.
    Incident: vllm#18488 and SpecForge#534, where drafts were served with no map or another one.
    Fix: export d2t (int64 offsets, one for each draft id) together with the weights.
    Since: 0.1.0
    """
    sizes, stored = eagle_case.draft.geometry, eagle_case.draft.stored_map
    if stored is not None:
        return passed(f"{stored.where} holds {len(stored):,} entries")
    rows, vocab = sizes.draft_rows, eagle_case.vocab_size
    if rows is not None and rows == vocab:
        return passed(f"draft and target vocabulary are equal ({vocab:,}), no map is needed")
    return failed(f"no d2t for {rows or 'unknown'} of {vocab or 'unknown'} tokens", "a d2t tensor")


@contract("mapping.length")
def length(eagle_case: Case) -> Outcome:
    """d2t has an entry for each draft id, and t2d one for each target id.

    Why: engines do not compare the lengths; a short map fails only when a late id is drafted.
    Incident: EAGLE#248, where t2d kept 1,746 ids beside a head of 32,000 rows.
    Fix: build the map for exactly draft_vocab_size tokens and export head, d2t and t2d together.
    Since: 0.1.0
    """
    draft, stored = eagle_case.draft, eagle_case.draft.stored_map
    if stored is None:
        return passed("no map is stored")
    problems = []
    rows = draft.head_rows
    if rows is not None and len(stored) != rows:
        problems.append(f"{stored.where} has {len(stored):,} entries for {rows:,} draft ids")
    vocab = eagle_case.vocab_size
    if stored.mask is not None and vocab is not None and stored.mask.size != vocab:
        problems.append(
            f"{stored.mask_where} has {stored.mask.size:,} entries, vocab_size is {vocab:,}"
        )
    return verdict(problems, "d2t [draft_vocab_size], t2d [vocab_size]", f"{len(stored):,} entries")


@contract("mapping.dtype")
def dtype(eagle_case: Case) -> Outcome:
    """d2t holds integers.

    Why: a float map becomes float token ids in one engine and is rounded in another.
    Incident: exports that cast a whole state dict to bf16 round ids above 256.
    Fix: keep d2t in int64 when casting the weights.
    Since: 0.1.0
    """
    stored = eagle_case.draft.stored_map
    if stored is None:
        return passed("no map is stored")
    if stored.dtype not in INTEGERS:
        return failed(f"{stored.where} is {stored.dtype}", "I64")
    return passed(f"{stored.where} is {stored.dtype}")


@contract("mapping.range")
def in_range(eagle_case: Case) -> Outcome:
    """Every target id lies in the target's vocabulary.

    Why: vLLM fails on the first step, SGLang fails or never accepts once such a token is drafted.
    Incident: mblt-model-zoo#110, where a converter checked everything but the range.
    Fix: rebuild the map from ids below vocab_size, or correct vocab_size.
    Since: 0.1.0
    """
    read = readings_of(eagle_case)
    if isinstance(read, Outcome):
        return read
    outside = read.out_of_range
    if not outside.size:
        return passed(f"all {len(read):,} targets lie in 0..{read.vocab_size - 1:,}")
    first = int(outside[0])
    return failed(
        f"{outside.size:,} of {len(read):,} targets lie outside, first draft id {first:,}: "
        f"target {int(read.targets[first]):,}",
        f"0..{read.vocab_size - 1:,}",
    )


@contract("mapping.bijective")
def bijective(eagle_case: Case) -> Outcome:
    """No two draft ids name one target id.

    Why: two rows of the head then compete for one token, and another token cannot be drafted.
    Incident: verl-SpeCo#67 and sglang#4153, where offsets and absolute ids were mixed up.
    Fix: build the map from a set of distinct target ids.
    Since: 0.1.0
    """
    read = readings_of(eagle_case)
    if isinstance(read, Outcome):
        return read
    repeated = read.duplicates
    if not repeated.size:
        return passed(f"{len(read):,} draft ids name {len(read):,} targets")
    target = int(repeated[0])
    return failed(
        f"{repeated.size:,} targets are named more than once, first {target:,} "
        f"by draft ids {sample(read.draft_ids_of(target))}",
        "distinct targets",
    )


@contract("mapping.offsets")
def offsets(eagle_case: Case) -> Outcome:
    """d2t holds offsets: target = draft + d2t[draft].

    Why: every engine adds the draft id; absolute ids are shifted and nearly all drafts are wrong.
    Incident: verl-SpeCo#67, whose default d2t counted 0, 1, 2, … as if identity were absolute.
    Fix: store targets - arange(draft_vocab_size).
    Since: 0.1.0
    """
    stored, found = eagle_case.draft.stored_map, eagle_case.intent.classification
    if stored is None or found is None:
        return passed("no map is stored")
    integers = as_integers(stored.values)
    if integers is None:
        return blocked("mapping.dtype", "d2t holds no integers")
    counts_up = len(stored) > 1 and TokenMap.from_absolute(integers, 2**62).is_prefix
    if found.form is Form.ABSOLUTE or counts_up:
        last = len(stored) - 1
        target = int(integers[last])
        evidence = found.evidence.partition("; draft id")[0]
        return failed(
            f"{stored.where} holds absolute ids ({evidence}), and every engine adds the draft id: "
            f"{describe(stored, last, eagle_case.vocab_size)}",
            f"offset {target - last:,} for draft id {last:,}",
            f"store d2t - arange({len(stored)}): first entries "
            f"{sample(integers - range(len(stored)))}",
        )
    if found.form is Form.AMBIGUOUS:
        return unverified(found.evidence, "--eagle-token-map")
    return passed(found.evidence)


@contract("mapping.mask")
def mask(eagle_case: Case) -> Outcome:
    """t2d keeps exactly the target ids that d2t names.

    Why: trainers learn with t2d and engines serve with d2t; each is self-consistent alone.
    Incident: SpecForge#534, a map made from new data overwrote the one the head was built for.
    Fix: export d2t and t2d from the same mapping as the head's rows.
    Since: 0.1.0
    """
    stored = eagle_case.draft.stored_map
    if stored is None or stored.mask is None:
        return passed("no t2d is stored; engines do not read it")
    read = readings_of(eagle_case)
    if isinstance(read, Outcome):
        return read
    if stored.mask.size != read.vocab_size:
        return blocked("mapping.length", "t2d has another length than the vocabulary")
    if not read.is_legal:
        return blocked("mapping.range or mapping.bijective", "d2t names no set of ids")
    unlike = read.mask() != stored.mask
    count = int(unlike.sum())
    if not count:
        return passed(f"t2d keeps the {len(read):,} ids that d2t names")
    kept = int(stored.mask.sum())
    first = int(unlike.argmax())
    holder = "t2d" if stored.mask[first] else "d2t"
    return failed(
        f"{count:,} ids are held by one alone (t2d keeps {kept:,}, d2t names {len(read):,}), "
        f"first {first:,} by {holder}",
        "one set of ids",
    )


@contract("mapping.order")
def order(eagle_case: Case) -> Outcome:
    """The map's order is one that its trainer produces.

    Why: lm_head's rows follow it; consumers that rebuild the order from t2d need it ascending.
    Incident: two trainers order by frequency; a reader that counts along t2d scrambles their heads.
    Fix: export the map with which the head was trained, unsorted and unshuffled.
    Since: 0.1.0
    """
    read = readings_of(eagle_case)
    if isinstance(read, Outcome):
        return read
    wanted = intended_order(eagle_case)
    if read.is_ascending:
        return passed("ascending")
    where = int((read.targets[1:] <= read.targets[:-1]).argmax())
    seen = f"draft ids {where:,} and {where + 1:,} name {sample(read.targets[where : where + 2])}"
    if unlike_mask(eagle_case):
        return blocked("mapping.mask", f"not ascending: {seen}")
    if wanted == "ascending" and read.is_legal:
        return failed(
            f"not ascending: {seen}", f"ascending, as {eagle_case.intent.trainer.value} writes"
        )
    return passed(
        f"not ascending: {seen}", "consumers that rebuild the order from t2d would scramble it"
    )


@contract("mapping.prefix")
def prefix(eagle_case: Case) -> Outcome:
    """A map that keeps the first target ids is meant to.

    Why: it is what a buffer that was never filled looks like, and it drafts only low ids.
    Incident: verl-SpeCo#66, where a skipped guard trained a draft on the first ids alone.
    Fix: load the vocabulary mapping before training and before the export.
    Since: 0.1.0
    """
    found, stored = eagle_case.intent.classification, eagle_case.draft.stored_map
    read = offset_reading(eagle_case)
    if found is None or stored is None or read is None or not read.is_prefix:
        return passed("the map is no prefix of the vocabulary")
    if read.is_full:
        return passed("the map is the identity on the whole vocabulary")
    if found.certain:
        return passed(found.evidence, "the draft emits only the lowest target ids")
    if found.form is Form.NEITHER:
        return blocked("mapping.mask", "t2d contradicts the zeros")
    return unverified(found.evidence, "--eagle-token-map")


@contract("mapping.engine", subject="engine")
def engine(eagle_case: Case) -> Outcome:
    """The engine maps draft ids as the trainer did.

    Why: a wrong map leaves the output right and every draft wrong: accept length 1.0.
    Incident: lmdeploy fills a missing map with zeros, so that every draft token is id 0.
    Fix: ship d2t as int64 offsets, or leave it out where both vocabularies are equal.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _maps(eagle_case, reading))


def _maps(case: Case, reading: Resolution) -> Outcome:
    use, stored = reading.token_map, case.draft.stored_map
    if use.kind == "error" and case.draft.geometry.draft_vocab_size is None:
        return blocked("checkpoint.lm-head", use.detail)
    if use.kind == "error":
        return refused(use.detail, "a checkpoint that this engine loads")
    if stored is None:
        return _without(case, use)
    if use.kind == "none":
        read = readings_of(case)
        same = isinstance(read, TokenMap) and read.is_prefix
        return passed(use.detail) if same else failed(use.detail, "the stored map is used")
    return consequence(case, reading.semantics) or passed(use.detail)


def _without(case: Case, use: MapUse) -> Outcome:
    """Judge an engine that finds no map: right only where both vocabularies are equal."""
    if case.draft.geometry.draft_rows != case.vocab_size:
        return blocked("mapping.present", use.detail)
    if use.kind == "zeros":
        return failed(use.detail, "draft ids are target ids", "store d2t, all zero")
    return passed(use.detail)
