"""Each fault fails the contract that names it, and no other; harmless changes fail none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fixtures.build import check
from fixtures.changes import Mutant
from fixtures.mutants import MUTANTS
from fixtures.neighbours import NEIGHBOURS
from pytest_eagle_contract.assess import Inputs, Result, assess
from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.prompts import Prompt

ROOT = Path(__file__).parents[2]


def judged(mutant: Mutant, directory: Path, targets: Path) -> list[Result]:
    path = mutant.build(directory)
    inputs = Inputs(
        target=targets / mutant.target if mutant.target else None,
        trainer=mutant.trainer,
        aux_layers=mutant.aux_layers,
        prompts=(Prompt(mutant.tokens),) if mutant.tokens else (),
        token_maps=(path / mutant.token_map,) if mutant.token_map else (),
    )
    return assess(path, inputs, [find(mutant.engine)] if mutant.engine else [])


def ids(results: list[Result], status: str) -> set[str]:
    return {r.contract.id for r in results if r.outcome.status == status}


def shown(results: list[Result]) -> str:
    return "\n".join(
        f"{r.subject}: {r.contract.id} {r.outcome.status}: {r.outcome.measured}"
        for r in results
        if r.outcome.status != "passed"
    )


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_fault_fails_its_own_contract_alone(
    mutant: Mutant, tmp_path: Path, targets: Path
) -> None:
    results = judged(mutant, tmp_path, targets)
    wanted = {mutant.fails} if mutant.status == "failed" else set()
    assert ids(results, "failed") == wanted, shown(results)
    assert mutant.fails in ids(results, mutant.status), shown(results)


@pytest.mark.parametrize("neighbour", NEIGHBOURS, ids=lambda m: m.name)
def test_a_harmless_change_fails_nothing(neighbour: Mutant, tmp_path: Path, targets: Path) -> None:
    results = judged(neighbour, tmp_path, targets)
    assert not ids(results, "failed"), shown(results)


def test_every_contract_has_a_fault_that_fails_it() -> None:
    assert {c.id for c in shipped() if c.static} <= {m.fails for m in MUTANTS}


def test_names_are_unique() -> None:
    names = [m.name for m in (*MUTANTS, *NEIGHBOURS)]
    assert len(set(names)) == len(names)


def test_the_committed_checkpoints_are_as_built() -> None:
    assert check() == []


CASES = tomllib.loads((ROOT / "docs" / "cases.toml").read_text("utf-8"))


def test_the_table_of_cases_holds_all_of_the_catalogue() -> None:
    assert len(CASES) == 133
    assert {c for m in (*MUTANTS, *NEIGHBOURS) for c in m.cases} <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_case_names_what_catches_it_or_why_nothing_can(name: str) -> None:
    case = CASES[name]
    assert case["mutants" if case["level"] == "static" else "why"]
    faults = [m for m in MUTANTS if name in m.cases]
    assert case.get("mutants", []) == [m.name for m in faults]
    assert case.get("neighbours", []) == [m.name for m in NEIGHBOURS if name in m.cases]
    assert not faults or case["contract"] in {m.fails for m in faults}
