"""Contracts on the map from draft ids to target ids."""

from __future__ import annotations

from pytest_eagle_contract.contracts.case import Case, across
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.map_engine import maps
from pytest_eagle_contract.contracts.map_facts import (
    INTEGERS,
    intended_order,
    offset_reading,
    readings_of,
    sample,
    unlike_mask,
)
from pytest_eagle_contract.contracts.needs import TOKEN_MAP
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    blocked,
    failed,
    passed,
    unverified,
    verdict,
)
from pytest_eagle_contract.token_map import Form, TokenMap, as_integers, describe


@contract("mapping.present")
def present(eagle_case: Case) -> Outcome:
    """A draft with a reduced vocabulary stores its map.

    Why: without d2t most engines take draft ids as target ids, so nearly every token is wrong.
    Incident: none is public; measured on vLLM 0.32, a draft without its d2t loads without a word
    and accept length falls from 3.97 to 1.00.
    Fix: export d2t (int64, target id - draft id, one for each draft id) beside the weights.
    Since: 0.1.0
    """
    sizes, stored = eagle_case.draft.geometry, eagle_case.draft.stored_map
    if stored is not None:
        return passed(f"{stored.where} holds {len(stored):,} entries")
    rows, vocab = sizes.draft_rows, eagle_case.vocab_size
    if rows is not None and rows == vocab:
        return passed(f"draft and target vocabulary are equal ({vocab:,}), no map is needed")
    return failed(
        f"no d2t, and the head has {_count(rows)} rows for {_count(vocab)} target tokens",
        f"d2t, int64 [{_count(rows)}]",
    )


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else f"{number:,}"


@contract("mapping.length")
def length(eagle_case: Case) -> Outcome:
    """d2t has an entry for each draft id, and t2d one for each target id.

    Why: vLLM refuses another length; SGLang does not compare, and a short map fails only when a
    late id is drafted.
    Incident: EAGLE#248, where t2d kept 1,746 ids of a small corpus beside a head of 32,000 rows.
    Fix: build the map for exactly draft_vocab_size tokens and export head, d2t and t2d together.
    Since: 0.1.0
    """
    draft, stored = eagle_case.draft, eagle_case.draft.stored_map
    if stored is None:
        return passed("no map is stored")
    rows = draft.head_rows
    if stored.problem:
        fix = "store it flat, d2t.reshape(-1)" if rows and len(stored) == rows else ""
        return failed(stored.problem, "d2t [draft_vocab_size]", fix)
    problems = []
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

    Why: a float d2t gives float token ids in SGLang, and vLLM truncates it; bfloat16 holds whole
    numbers only up to 256.
    Incident: none is public; seen on SGLang 0.5.23, which loads a float d2t without a word.
    Fix: cast the weights only, and export d2t again from the run's int64 map.
    Since: 0.1.0
    """
    stored = eagle_case.draft.stored_map
    if stored is None:
        return passed("no map is stored")
    if stored.dtype not in INTEGERS:
        return failed(f"{stored.where} is {stored.dtype}", "integers, I64 by custom")
    return passed(f"{stored.where} is {stored.dtype}")


@contract("mapping.range")
def in_range(eagle_case: Case) -> Outcome:
    """Every target id lies in the target's vocabulary.

    Why: vLLM fails on the first step, SGLang fails or never accepts once such a token is drafted.
    Incident: mblt-model-zoo#110, where a converter checked type, rank and length of d2t but not the
    range, so that a bad map indexed outside the vocabulary at run time.
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
    Incident: none is public; by their sources vLLM leaves open which of the rows wins, and the
    converter of llama.cpp refuses such a map.
    Fix: rebuild d2t from distinct target ids, in the order of the head's rows.
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
    Incident: verl-SpeCo#67, whose default d2t counted 0, 1, 2, … although identity is all zeros;
    measured on vLLM 0.32, absolute ids take accept length from 3.97 to 1.01.
    Fix: store target_ids - arange(draft_vocab_size).
    Since: 0.1.0
    """
    stored, found = eagle_case.draft.stored_map, eagle_case.intent.classification
    if stored is None or found is None:
        return passed("no map is stored")
    if stored.problem:
        return blocked("mapping.length", stored.problem)
    integers = as_integers(stored.values)
    if integers is None:
        return blocked("mapping.dtype", "d2t holds no integers")
    # A buffer that counts up is never filled, unless t2d shows that every second id is meant.
    counts_up = len(stored) > 1 and TokenMap.from_absolute(integers, 2**62).is_prefix
    if found.form is Form.ABSOLUTE or (counts_up and found.form is not Form.OFFSETS):
        last = len(stored) - 1
        target = int(integers[last])
        evidence = found.evidence.partition("; draft id")[0]
        first = sample(integers - range(len(stored)))
        fix = f"store d2t - arange({len(stored)}): first entries {first}"
        if found.form is not Form.ABSOLUTE:
            fix = "the buffer was never filled: export again with the map that was trained"
        return failed(
            f"{stored.where} holds absolute ids ({evidence}), and every engine adds the draft id: "
            f"{describe(stored, last, eagle_case.vocab_size)}",
            f"offset {target - last:,} for draft id {last:,}",
            fix,
        )
    if found.form is Form.AMBIGUOUS:
        return unverified(found.evidence, TOKEN_MAP)
    return passed(found.evidence)


@contract("mapping.mask", reaches_engines=False)
def mask(eagle_case: Case) -> Outcome:
    """t2d keeps exactly the target ids that d2t names.

    Why: trainers learn with t2d and engines serve with d2t; each is self-consistent alone.
    Incident: verl-SpeCo#67, where the loss read t2d alone, so that a wrong d2t never showed in
    training.
    Fix: derive one from the other: t2d is true at i + d2t[i] for every draft id i, else false.
    Since: 0.1.0
    """
    stored = eagle_case.draft.stored_map
    if stored is not None and stored.mask_problem:
        return failed(stored.mask_problem, "t2d [vocab_size], of 0 and 1")
    if stored is None or stored.mask is None:
        return passed("no t2d is stored; engines do not read it")
    read = readings_of(eagle_case)
    if isinstance(read, Outcome):
        return read
    if stored.mask.size != read.vocab_size:
        return blocked("mapping.length", "t2d has another length than the vocabulary")
    if not read.is_legal:
        return blocked(("mapping.range", "mapping.bijective"), "d2t names no set of ids")
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
        "the same ids in d2t and t2d",
    )


@contract("mapping.order")
def order(eagle_case: Case) -> Outcome:
    """The map's order is one that its trainer produces.

    Why: lm_head's rows follow it; consumers that rebuild the order from t2d need it ascending.
    Incident: SpecForge#534, where a map made from new data gave each row of a trained head another
    token; measured on vLLM 0.32, a shuffled d2t takes accept length from 3.97 to 1.00.
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
    if not read.is_legal:
        return blocked(("mapping.range", "mapping.bijective"), f"not ascending: {seen}")
    if unlike_mask(eagle_case):
        return blocked("mapping.mask", f"not ascending: {seen}")
    if wanted == "ascending":
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
    Incident: verl-SpeCo#66, where a skipped guard trained a draft on the first ids alone, with
    loss and accuracy that looked fine.
    Fix: load the vocabulary mapping before training and before the export.
    Since: 0.1.0
    """
    found, stored = eagle_case.intent.classification, eagle_case.draft.stored_map
    read = offset_reading(eagle_case)
    if stored is not None and stored.problem:
        return blocked("mapping.length", stored.problem)
    if found is None or stored is None or read is None or not read.is_prefix:
        return passed("the map is no prefix of the vocabulary")
    if read.is_full:
        return passed("the map is the identity on the whole vocabulary")
    if found.certain:
        return passed(found.evidence, "the draft emits only the lowest target ids")
    if found.form is Form.NEITHER:
        return blocked("mapping.mask", "t2d contradicts the zeros")
    return unverified(found.evidence, TOKEN_MAP)


@contract("mapping.engine", subject="engine")
def engine(eagle_case: Case) -> Outcome:
    """The engine maps draft ids as the trainer did.

    Why: a wrong map leaves the output right and every draft wrong: accept length 1.0.
    Incident: vllm#18488, where drafts over the whole vocabulary, which need no d2t, did not work;
    vLLM from 0.30 on refuses the d2t of such a draft, by its source.
    Fix: ship d2t as int64 offsets; over the whole vocabulary leave it out, or store zeros where
    the engine needs it.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: maps(eagle_case, reading))
