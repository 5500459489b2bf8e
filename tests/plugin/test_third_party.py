"""Contracts that others add through the hook `pytest_eagle_contracts`."""

from __future__ import annotations

import pytest

from .helpers import OTHER, options, outcomes, refused, report

REPORT = "--eagle-report=json=report.json"
HEAD = """
import pytest
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.outcome import failed, passed

def pytest_eagle_contracts():
    return [mine]
"""
TEXT = '''
    """The draft is ours.

    Why: it says so.
    Incident: none yet.
    Fix: make it ours.
    Since: 1.0
    """
'''


def conftest(check: str, *, args: str = "eagle_case", declared: str = '"checkpoint.mine"') -> str:
    return f"{HEAD}\n@contract({declared})\ndef mine({args}):{TEXT}    {check}\n"


def outcome(pytester: pytest.Pytester, code: str) -> tuple[int, str, str]:
    pytester.makeconftest(code)
    result = pytester.runpytest_inprocess(*options(), REPORT)
    document = report(result, pytester.path)
    found = next(c for c in document["contracts"] if c["id"] == "checkpoint.mine")
    assert document["verdict"] == ("fail" if result.ret else "pass")
    return int(result.ret), found["outcome"], found["measured"]


def test_passes(pytester: pytest.Pytester) -> None:
    check = 'return passed(f"{eagle_case.layers} layers")'
    assert outcome(pytester, conftest(check)) == (0, "passed", "8 layers")


def test_fails_with_its_own_texts(pytester: pytest.Pytester) -> None:
    assert outcome(pytester, conftest('return failed("theirs", "ours")')) == (1, "failed", "theirs")
    result = pytester.runpytest_inprocess(*options(), "-k", "checkpoint.mine")
    result.stdout.fnmatch_lines(
        ["theirs", "  promise:  The draft is ours.", "  fix:      make it ours.*"]
    )


def test_on_engines(pytester: pytest.Pytester) -> None:
    check = "return passed(eagle_case.readings[0].label)"
    pytester.makeconftest(conftest(check, declared='"checkpoint.mine", subject="engine"'))
    result = pytester.runpytest_inprocess(*options(), REPORT)
    key = ("checkpoint.mine", "sglang 0.5.23")
    assert outcomes(report(result, pytester.path))[key] == "passed"


def test_crash_is_a_failure(pytester: pytest.Pytester) -> None:
    ret, status, measured = outcome(pytester, conftest('raise RuntimeError("oh\\nno")'))
    assert (ret, status) == (1, "failed")
    assert measured == "the contract itself crashed: oh"


def test_returning_no_outcome_is_a_failure(pytester: pytest.Pytester) -> None:
    ret, status, measured = outcome(pytester, conftest("return True"))
    assert (ret, status) == (1, "failed")
    assert "checkpoint.mine returned True, which is no Outcome" in measured


def test_skip_is_unverified(pytester: pytest.Pytester) -> None:
    assert outcome(pytester, conftest('pytest.skip("not here")')) == (0, "unverified", "not here")


def test_skip_of_a_fixture_is_unverified(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(conftest('return passed("x")', args="eagle_target_config"))
    result = pytester.runpytest_inprocess(*options(target=None), REPORT)
    document = report(result, pytester.path)
    assert outcomes(document)["checkpoint.mine", "files"] == "unverified"
    assert result.ret == 0


def test_with_fixtures_of_one_draft_and_several_drafts(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(conftest('return passed("x")', args="eagle_intent"))
    line = refused(pytester.runpytest_inprocess(*options(), f"--eagle-ckpt={OTHER}"))
    assert "let it take eagle_case" in line


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def pytest_eagle_contracts(): return [1]", "which is no contract"),
        (conftest("pass", declared='"mapping.offsets"'), "mapping.offsets on files is declared 2"),
    ],
)
def test_refused(pytester: pytest.Pytester, code: str, said: str) -> None:
    pytester.makeconftest(code)
    assert said in refused(pytester.runpytest_inprocess(*options()))
