"""Mapping contracts and one example of the fuzz, at Kimi K2's vocabularies."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_eagle_contract.assess import Inputs, build_case, for_engine
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.contracts.catalogue import Contract
from pytest_eagle_contract.contracts.mapping_function import map_draft_ids
from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.mapping_fuzz import MappingCase, ask, is_wrong
from pytest_eagle_contract.prompts import Prompt
from pytest_eagle_contract.strategies import _kept
from pytest_eagle_contract.token_map import TokenMap, classify
from tests.bench import kimi

Note = Callable[[str, float, float], None]

LIMIT = 5.0
MAPPING = [c for c in shipped() if c.family == "mapping" and c.subject != "function"]


@pytest.mark.parametrize("contract", MAPPING, ids=lambda c: f"{c.id}-{c.subject}")
def test_mapping_contract(
    benchmark: Any, note: Note, draft: Path, target: Path, contract: Contract
) -> None:
    engine = find("vllm==0.32.0:v1")
    tokens = tuple(range(0, kimi.VOCAB, 160))
    case = for_engine(
        build_case(
            open_checkpoint(draft), Inputs(target=target, prompts=(Prompt(tokens),)), (engine,)
        ),
        engine,
    )
    benchmark(contract.check, eagle_case=case)
    _note_median(benchmark, note, f"{contract.id} ({contract.subject}), ms")


def test_classification(benchmark: Any, note: Note, draft: Path) -> None:
    stored = build_case(open_checkpoint(draft), Inputs()).draft.stored_map
    benchmark(classify, stored, kimi.VOCAB)
    _note_median(benchmark, note, "classification of the stored map, ms")


def test_fuzz_example(benchmark: Any, note: Note) -> None:
    seeds = itertools.count()

    def example() -> bool:
        # As the search draws a large map in a trainer's order of frequency, and judges an answer.
        ids = _kept(kimi.VOCAB, kimi.DRAFT_VOCAB, next(seeds))
        drawn = np.array([0, kimi.DRAFT_VOCAB - 1])
        case = MappingCase.of(TokenMap(ids, kimi.VOCAB), drawn, with_mask=True)
        return is_wrong(case, ask(map_draft_ids, case))

    assert benchmark(example) is False
    _note_median(benchmark, note, "one fuzz example, ms")


def _note_median(benchmark: Any, note: Note, name: str) -> None:
    if not benchmark.disabled:
        note(name, benchmark.stats.stats.median * 1e3, LIMIT)
