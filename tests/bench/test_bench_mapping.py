"""Mapping contracts and one example of the fuzz, at Kimi K2's vocabularies."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_eagle_contract.assess import Inputs, build_case, for_engine
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.contracts.catalogue import Contract
from pytest_eagle_contract.contracts.mapping_function import map_draft_ids
from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.mapping_fuzz import fuzz_mapping
from pytest_eagle_contract.token_map import classify
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
        build_case(open_checkpoint(draft), Inputs(target=target, tokens=tokens), (engine,)), engine
    )
    benchmark(contract.check, eagle_case=case)
    _note_median(benchmark, note, f"{contract.id} ({contract.subject}), ms")


def test_classification(benchmark: Any, note: Note, draft: Path) -> None:
    stored = build_case(open_checkpoint(draft), Inputs()).draft.stored_map
    benchmark(classify, stored, kimi.VOCAB)
    _note_median(benchmark, note, "classification of the stored map, ms")


def test_fuzz_example(benchmark: Any, note: Note) -> None:
    taken: list[float] = []

    def fuzz() -> None:
        began = time.perf_counter()

        def function(
            d2t: NDArray[np.int64], vocab_size: int, draft_ids: NDArray[np.int64]
        ) -> NDArray[np.int64]:
            # From the last answer to this one: drawing the example, and checking the one before.
            nonlocal began
            if d2t.size >= kimi.DRAFT_VOCAB // 2:
                taken.append(time.perf_counter() - began)
            began = time.perf_counter()
            return map_draft_ids(d2t, vocab_size, draft_ids)

        assert fuzz_mapping(function, max_examples=200, max_vocab=kimi.VOCAB) is None

    benchmark.pedantic(fuzz, rounds=1, iterations=1)
    assert len(taken) >= 10
    note("one fuzz example of a large map, ms", statistics.median(taken) * 1e3, LIMIT)


def _note_median(benchmark: Any, note: Note, name: str) -> None:
    if not benchmark.disabled:
        note(name, benchmark.stats.stats.median * 1e3, LIMIT)
