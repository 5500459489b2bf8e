"""The matrix says whether an engine stops or drafts badly, whichever contract names the fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.changes import Mutant
from fixtures.mutants import MUTANTS
from pytest_eagle_contract.assess import Inputs, build_case, judge_engine, judge_files
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.report.matrix import engine_row, finding

BY_NAME = {m.name: m for m in MUTANTS}
SGLANG, VLLM, LLAMA_CPP = "sglang==0.5.23", "vllm==0.32.0:v1", "llama.cpp"


def row(mutant: Mutant, engine: str, directory: Path, targets: Path) -> dict[str, object]:
    target = targets / mutant.target if mutant.target else None
    case = build_case(open_checkpoint(mutant.build(directory)), Inputs(target=target))
    chosen = find(engine)
    return engine_row(chosen, map(finding, [*judge_files(case), *judge_engine(case, chosen)]))


@pytest.mark.parametrize(
    ("name", "engine", "expected"),
    [
        ("tiny-corpus", VLLM, ("breaks", "mapping.engine")),
        ("tiny-corpus", SGLANG, ("degraded", "mapping.length")),
        ("d2t-omitted", LLAMA_CPP, ("breaks", "mapping.engine")),
        ("d2t-omitted", VLLM, ("degraded", "mapping.present")),
        ("d2t-past-the-end", VLLM, ("breaks", "mapping.engine")),
        ("d2t-past-the-end", LLAMA_CPP, ("breaks", "mapping.engine")),
        ("d2t-past-the-end", SGLANG, ("degraded", "mapping.range")),
        ("d2t-before-the-start", VLLM, ("degraded", "layers.engine")),
        ("d2t-names-one-twice", LLAMA_CPP, ("breaks", "mapping.engine")),
        ("d2t-names-one-twice", VLLM, ("degraded", "mapping.bijective")),
        ("fc-missing", LLAMA_CPP, ("breaks", "checkpoint.tensors")),
        ("fc-missing", VLLM, ("degraded", "checkpoint.tensors")),
        ("draft-vocabulary-wrong", VLLM, ("breaks", "checkpoint.lm-head")),
        ("inner-size-wrong", SGLANG, ("breaks", "checkpoint.shapes")),
        ("second-layer-uncounted", VLLM, ("breaks", "checkpoint.tensors")),
        ("second-layer-uncounted", SGLANG, ("degraded", "checkpoint.depth")),
        ("stale-d2t-npy", VLLM, ("serves", None)),
        ("tied-as-its-target", VLLM, ("serves", None)),
    ],
)
def test_a_fault_breaks_or_degrades_each_engine(
    name: str, engine: str, expected: tuple[str, str | None], tmp_path: Path, targets: Path
) -> None:
    found = row(BY_NAME[name], engine, tmp_path, targets)
    assert (found["verdict"], next(iter(found["reasons"]), None)) == expected, found
