"""Good checkpoints of every trainer are read as their trainer meant, and served as engines do."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from fixtures.build import GOOD, HERE
from pytest_eagle_contract.assess import Inputs, build_case, judge_engine, judge_files
from pytest_eagle_contract.boundaries import at
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.report.matrix import engine_row, finding

EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((HERE / "expected.toml").read_text("utf-8"))

ROWS = [(name, engine) for name, row in EXPECTED.items() for engine in row["engines"]]


def case_of(name: str) -> Case:
    target = HERE / "targets" / EXPECTED[name]["target"]
    return build_case(open_checkpoint(HERE / "good" / name), Inputs(target=target))


def test_every_good_checkpoint_is_expected_something_of() -> None:
    assert set(EXPECTED) == set(GOOD)


@pytest.mark.parametrize("name", EXPECTED)
def test_it_is_read_as_its_trainer_meant(name: str) -> None:
    expected, case = EXPECTED[name], case_of(name)
    assert (case.intent.trainer.value or "") == expected["trainer"]
    found = at(case.intent.boundaries.value, case.layers)
    assert found == tuple(expected["boundaries"])
    assert case.intent.boundaries.evidence == expected["evidence"]


@pytest.mark.parametrize("name", EXPECTED)
def test_its_files_hold_no_fault_but_the_expected(name: str) -> None:
    results = list(judge_files(case_of(name)))
    failed = {r.contract.id: r.outcome.measured for r in results if r.outcome.status == "failed"}
    assert set(failed) == set(EXPECTED[name].get("files", [])), failed


@pytest.mark.parametrize(("name", "engine"), ROWS)
def test_an_engine_does_with_it_what_its_source_says(name: str, engine: str) -> None:
    expected, case = EXPECTED[name]["engines"][engine], case_of(name)
    chosen = find(engine)
    mine = list(judge_engine(case, chosen))
    failed = {r.contract.id: r.outcome.measured for r in mine if r.outcome.status == "failed"}
    assert set(failed) == set(expected.get("failed", [])), failed
    row = engine_row(chosen, map(finding, [*judge_files(case), *mine]))
    assert row["verdict"] == expected["verdict"], row
