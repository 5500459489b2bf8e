"""Contracts on the map beside text, side files and speculative token maps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.map_facts import readings_of, sample
from pytest_eagle_contract.contracts.needs import PROMPTS
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, unverified, verdict
from pytest_eagle_contract.token_map import StoredMap, TokenMap, as_integers


@contract("mapping.coverage", needs=("prompts",), reaches_engines=False)
def coverage(eagle_case: Case) -> Outcome:
    """The draft vocabulary holds the tokens that the target writes.

    Why: a token outside it is never accepted, so its share bounds the acceptance rate.
    Incident: vllm#50158, whose reporter puts 0.45 accepted drafts a step on other languages down to
    the reduced vocabulary; dflash#163 fell to 6 % in Danish, its cause is open.
    Fix: count tokens on text like the served one when building the map, or enlarge it.
    Since: 0.1.0
    """
    read, tokens = readings_of(eagle_case), eagle_case.tokens
    if isinstance(read, Outcome):
        return read
    if not tokens:
        return unverified("no text is given to count", PROMPTS)
    if not all(0 <= t < read.vocab_size for t in tokens):
        return failed(
            "the prompts hold ids outside the vocabulary",
            f"0..{read.vocab_size - 1:,}",
            "write the prompts with this target's tokenizer",
        )
    share = read.coverage(tokens)
    measured = f"{share:.1%} of {len(tokens):,} tokens"
    if share < 0.5:
        return failed(f"{measured} can be drafted", "at least half")
    note = f"acceptance cannot exceed {share:.1%}" if share < 0.95 else ""
    return passed(f"{measured} can be drafted", note)


@contract("mapping.token-map", reaches_engines=False)
def token_map(eagle_case: Case) -> Outcome:
    """A speculative token map holds distinct absolute target ids.

    Why: SGLang gathers rows of the target's head with it (EAGLE-2; EAGLE-3 ignores the file), and
    a bad id stops the server.
    Incident: sglang#4153, a crash (index out of bounds) with --speculative-token-map.
    Fix: save a list or 1-D tensor of distinct target ids, not of offsets: d2t + arange(len(d2t)).
    Since: 0.1.0
    """
    maps = [m for m in eagle_case.side_maps if m.kind == "token map"]
    vocab = eagle_case.vocab_size
    problems = []
    for stored in maps:
        ids = as_integers(stored.values)
        if ids is None:
            problems.append(f"{stored.where} holds {stored.dtype}, not integers")
        elif vocab is not None:
            read = TokenMap.from_absolute(ids, vocab)
            if read.out_of_range.size:
                first = int(ids[read.out_of_range[0]])
                problems.append(f"{stored.where} holds {first:,}, outside 0..{vocab - 1:,}")
            if read.duplicates.size:
                problems.append(f"{stored.where} repeats {sample(read.duplicates)}: offsets?")
    measured = (
        f"{len(maps)} token maps are sound; EAGLE-3 ignores them" if maps else "none is given"
    )
    return verdict(problems, "distinct ids of the vocabulary", measured)


@contract("mapping.side-files", reaches_engines=False)
def side_files(eagle_case: Case) -> Outcome:
    """Mapping files beside the checkpoint say what the checkpoint's d2t says.

    Why: a stale file is reused by the next run, whatever draft vocabulary it was made for.
    Incident: speculators#602, where a d2t.npy beside the data was reused for another
    draft_vocab_size.
    Fix: delete the stale file, or export again with the map that the head was trained for.
    Since: 0.1.0
    """
    read = readings_of(eagle_case)
    problems: list[str] = []
    seen = 0
    for stored in eagle_case.side_maps:
        if stored.kind == "token map":
            continue
        seen += 1
        if stored.problem:
            problems.append(stored.problem)
            continue
        if isinstance(read, Outcome):
            return read
        problems += _unlike(stored, read)
    return verdict(
        problems, "the checkpoint's own map", f"{seen} files agree" if seen else "none is given"
    )


def _unlike(stored: StoredMap, read: TokenMap) -> Iterator[str]:
    """Say in what a side file differs from the checkpoint's map: ids, mask or vocabulary."""
    ids, vocab = as_integers(stored.values), read.vocab_size
    one_of = [TokenMap.from_absolute(ids, vocab)] if ids is not None else []
    if ids is not None and stored.kind != "selected_token_ids":
        one_of.append(TokenMap.from_offsets(ids, vocab))
    if read not in one_of:
        yield f"{stored.where} ({len(stored):,} entries) is another map"
    elif stored.mask is not None and not np.array_equal(stored.mask, read.mask()):
        kept = int(stored.mask.sum())
        yield f"{stored.mask_where} keeps {kept:,} of {stored.mask.size:,} ids, not those of d2t"
    if stored.target_vocab_size not in (None, vocab):
        yield f"{stored.where} is for {stored.target_vocab_size:,} target ids, not {vocab:,}"
