from __future__ import annotations

import pytest

from .helpers import DRAFT, OTHER, options, outcomes, refused, report

EXPORTER = f"""
import pathlib
import pytest

@pytest.fixture(scope="session")
def eagle_checkpoint():
    return pathlib.Path({str(DRAFT)!r})
"""
REPORT = "--eagle-report=json=report.json"


def test_adds_the_contracts_to_the_paths(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine(): pass")
    alone = pytester.runpytest_inprocess(*options()).parseoutcomes()["passed"]
    result = pytester.runpytest_inprocess(*options(), "--eagle-suite", file)
    result.assert_outcomes(passed=alone + 1)


@pytest.mark.parametrize("returned", ["pathlib.Path", "str", "open_checkpoint"])
def test_judges_what_an_exporter_wrote(pytester: pytest.Pytester, returned: str) -> None:
    code = EXPORTER.replace("return pathlib.Path", f"return {returned}")
    pytester.makeconftest("from pytest_eagle_contract.checkpoint import open_checkpoint\n" + code)
    pytester.makepyfile("def test_config(eagle_draft_config): assert eagle_draft_config.data")
    result = pytester.runpytest_inprocess("--eagle-suite", "--eagle-engine=sglang", ".", REPORT)
    assert result.ret == 0
    document = report(result, pytester.path)
    assert document["checkpoint"]["path"] == str(DRAFT)
    assert outcomes(document)["mapping.offsets", "files"] == "passed"
    assert ("mapping.engine", "sglang 0.5.23") in outcomes(document)


def test_sees_the_fixtures_of_the_directory_that_is_tested(pytester: pytest.Pytester) -> None:
    tests = pytester.mkdir("tests")
    (tests / "conftest.py").write_text(EXPORTER)
    (tests / "test_mine.py").write_text("def test_mine(): pass")
    result = pytester.runpytest_inprocess("--eagle-suite", "tests", REPORT)
    assert result.ret == 0
    assert report(result, pytester.path)["checkpoint"]["path"] == str(DRAFT)


@pytest.mark.parametrize("place", [".", "tests", "tests/deep"])
def test_sees_the_fixtures_of_the_directory_where_pytest_runs(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    pytester.makeini("[pytest]")
    (pytester.path / "tests" / "deep").mkdir(parents=True)
    conftest = pytester.path / ("conftest.py" if place == "." else "tests/conftest.py")
    conftest.write_text(EXPORTER)
    (pytester.path / "tests" / "test_mine.py").write_text("raise RuntimeError")
    monkeypatch.chdir(pytester.path / place)
    result = pytester.runpytest_inprocess("--eagle-suite", REPORT)
    assert result.ret == 0
    assert report(result, pytester.path / place)["checkpoint"]["path"] == str(DRAFT)


def test_without_any_draft(pytester: pytest.Pytester) -> None:
    assert "--eagle-ckpt" in refused(pytester.runpytest_inprocess("--eagle-suite"))


def test_without_any_draft_under_xdist(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--eagle-suite", "-n1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR: no draft: give --eagle-ckpt *"])


def test_exporter_that_writes_rubbish_fails(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(EXPORTER.replace(str(DRAFT), "nowhere"))
    result = pytester.runpytest_inprocess("--eagle-suite", REPORT)
    assert result.ret == 1
    assert report(result, pytester.path)["verdict"] == "fail"
    result.stdout.fnmatch_lines(["nowhere: does not exist; *"])


def test_user_tests_run_once_for_each_draft(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine(eagle_intent, eagle_checkpoint): pass")
    result = pytester.runpytest_inprocess(*options(), f"--eagle-ckpt={OTHER}", file, "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*::test_mine[[]specforge-ids[]] *", "*::test_mine[[]speculators-ids[]] *"]
    )
