"""The mapping function under test: an engine's own, fuzzed."""

from __future__ import annotations

import pytest

from .helpers import failing, options, outcomes, refused, report

REPORT = "--eagle-report=json=report.json"
KEY = ("mapping.engine", "eagle_map_draft_ids")
CONFTEST = """
import numpy as np
import pytest

@pytest.fixture(scope="session")
def eagle_map_draft_ids():
    def gather(d2t, vocab_size, draft_ids):
        targets = {expression}
        if np.any((targets < 0) | (targets >= vocab_size)):
            raise IndexError
        return targets
    return gather
"""
RIGHT, ABSOLUTE = "draft_ids + d2t[draft_ids]", "d2t[draft_ids]"


def test_default_function_is_not_fuzzed(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(), REPORT)
    assert KEY not in outcomes(report(result, pytester.path))


def test_right_function_passes(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST.format(expression=RIGHT))
    result = pytester.runpytest_inprocess(*options(), "--eagle-max-examples=20", REPORT)
    assert result.ret == 0
    assert outcomes(report(result, pytester.path))[KEY] == "passed"


def test_function_that_takes_d2t_as_absolute_fails(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST.format(expression=ABSOLUTE))
    result = pytester.runpytest_inprocess(*options(), "--eagle-max-examples=20", REPORT)
    assert result.ret == 1
    document = report(result, pytester.path)
    assert failing(document) == {KEY}
    measured = next(c["measured"] for c in document["contracts"] if c["outcome"] == "failed")
    assert "absolute" in measured


def test_engine_repo_needs_no_draft(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST.format(expression=RIGHT))
    args = ["--eagle-suite", "--eagle-max-examples=20", REPORT]
    result = pytester.runpytest_inprocess(*args)
    assert result.ret == 0
    assert outcomes(report(result, pytester.path)) == {KEY: "passed"}


def test_leaves_no_database(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST.format(expression=ABSOLUTE))
    pytester.runpytest_subprocess(*options(), "--eagle-max-examples=20")
    assert not (pytester.path / ".hypothesis" / "examples").exists()


def test_number_reaches_the_fixture(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine(eagle_max_examples): assert eagle_max_examples == 7")
    pytester.runpytest_inprocess("--eagle-max-examples=7", file).assert_outcomes(passed=1)


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5", "²"])
def test_refused(pytester: pytest.Pytester, given: str) -> None:
    line = refused(pytester.runpytest_inprocess(*options(), f"--eagle-max-examples={given}"))
    assert line.startswith(f"--eagle-max-examples: {given!r} cannot be used")
