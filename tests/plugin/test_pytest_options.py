"""Other options of pytest, and other ways to run it."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from .helpers import DRAFT, absolute, changed, options

REPORT = "--eagle-report=json=report.json"


def test_without_the_cache(pytester: pytest.Pytester) -> None:
    assert pytester.runpytest_inprocess(*options(), "-p", "no:cacheprovider").ret == 0


def test_switched_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    result = pytester.runpytest_subprocess("-p", "no:eagle_contract")
    result.assert_outcomes(passed=1)
    result = pytester.runpytest_subprocess("-p", "no:eagle_contract", *options())
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unrecognized arguments: --eagle-ckpt=*"])


@pytest.mark.parametrize("args", [options(), options(engine="")], ids=["engine", "matrix"])
def test_collect_only_writes_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    result = pytester.runpytest_inprocess(*args, REPORT, "--collect-only", "-q")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["eagle-contract::mapping.offsets[[]files[]]"])
    assert not list(pytester.path.glob("*.json"))
    assert not (pytester.path / "summary.md").exists()


def test_collect_only_shows_the_tree(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(), "--collect-only")
    result.stdout.fnmatch_lines(["*<Suite eagle-contract>", "*<ContractItem mapping.present*"])


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("mapping.offsets", 1),
        ("layers.engine and sglang", 1),
        ("mapping.offsets or layers.range", 2),
    ],
)
def test_by_keyword(pytester: pytest.Pytester, expression: str, selected: int) -> None:
    result = pytester.runpytest_inprocess(*options(), "-k", expression)
    assert result.parseoutcomes()["passed"] == selected


def test_keyword_does_not_match_where_the_plugin_is_installed(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(), "-k", "shipped or site")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_by_marker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): raise AssertionError")
    args = [*options(), "--eagle-suite", "."]
    result = pytester.runpytest_inprocess(*args, "-m", "eagle_contract")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 deselected*"])
    result = pytester.runpytest_inprocess(*args, "-m", "not eagle_contract")
    result.assert_outcomes(failed=1, deselected=result.parseoutcomes()["deselected"])


def test_strict_markers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.eagle_contract("mapping.range", "mine")
        def test_mine(): pass
        """
    )
    result = pytester.runpytest_inprocess("--strict-markers", "--eagle-suite", *options(), ".")
    assert result.ret == 0
    pytester.runpytest_inprocess("--markers").stdout.fnmatch_lines(
        ["*eagle_contract(id, subject)*"]
    )


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_junit_properties(pytester: pytest.Pytester, workers: list[str]) -> None:
    draft = changed(pytester.path / "draft", tensors=absolute)
    args = [*options(draft, target=None), "--junitxml=junit.xml", *workers]
    pytester.runpytest_subprocess(*args)
    cases = {}
    for case in ElementTree.parse(pytester.path / "junit.xml").iter("testcase"):
        found = [(p.get("name"), p.get("value")) for p in case.iter("property")]
        properties = dict(found)
        assert len(properties) == len(found) == 3
        key = properties["eagle_contract"], properties["eagle_subject"]
        cases[key] = properties["eagle_outcome"]
        assert case.get("classname") == "eagle-contract"
        assert case.get("name") == f"{key[0]}[{key[1]}]"
    assert cases["mapping.offsets", "files"] == "failed"
    assert cases["mapping.dtype", "files"] == "passed"
    assert cases["layers.range", "files"] == "unverified"


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_summaries_hold_one_line_of_a_failure_in_ci_too(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: list[str]
) -> None:
    monkeypatch.setenv("CI", "true")
    draft = changed(pytester.path / "draft", tensors=absolute)
    result = pytester.runpytest_subprocess(*options(draft), "--junitxml=junit.xml", *workers)
    fixes = [line for line in result.outlines if line.startswith("  fix:")]
    failures = [line for line in result.outlines if line.startswith("FAILED ")]
    assert (len(fixes), len(failures)) == (1, 1)
    assert "holds absolute ids" in failures[0]
    (found,) = ElementTree.parse(pytester.path / "junit.xml").iter("failure")
    assert found.get("message") == failures[0].partition(" - ")[2]
    assert found.text is not None
    assert fixes[0] in found.text.splitlines()


def test_warnings_are_errors(pytester: pytest.Pytester) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", *options(), "-Werror"],
        cwd=pytester.path,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_verbose_writes_ids_that_select(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(), "-v", "-k", "mapping.offsets")
    result.stdout.fnmatch_lines(["eagle-contract::mapping.offsets[[]files[]] PASSED*"])


def test_unverified_is_neither_pass_nor_skip(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(target=None), "-v", "-k", "layers.range")
    assert result.parseoutcomes() == {
        "unverified": 1,
        "deselected": result.parseoutcomes()["deselected"],
    }
    result.stdout.fnmatch_lines(
        ["*layers.range[[]files[]] UNVERIFIED*", "NOT VERIFIED: 1", "VERDICT: UNVERIFIED*"]
    )
    assert result.ret == 0


def test_last_failed(pytester: pytest.Pytester) -> None:
    draft = changed(pytester.path / "draft", tensors=absolute)
    failed = pytester.runpytest_inprocess(*options(draft)).parseoutcomes()["failed"]
    result = pytester.runpytest_inprocess(*options(draft), "--lf")
    assert result.parseoutcomes()["failed"] == failed
    assert "passed" not in result.parseoutcomes()


def test_failing_test_of_the_user_beside_passing_contracts(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine(): raise AssertionError")
    result = pytester.runpytest_inprocess(*options(), "--eagle-suite", file)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["VERDICT: PASS*"])


def test_interrupted_run_gives_no_verdict(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_runtest_teardown(item): raise KeyboardInterrupt")
    result = pytester.runpytest_subprocess(*options(), REPORT)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.no_fnmatch_line("VERDICT*")
    assert not (pytester.path / "report.json").exists()


def test_conftest_in_the_root_takes_part(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        def pytest_collection_modifyitems(items):
            items[:] = [i for i in items if "mapping" in i.nodeid]

        @pytest.fixture(autouse=True)
        def around(request):
            assert request.node.nodeid.startswith("eagle-contract::")
            yield
        """
    )
    assert pytester.runpytest_inprocess(f"--eagle-ckpt={DRAFT}").ret == 0


@pytest.mark.parametrize("option", ["ckpt", "target"])
def test_collect_only_leaves_the_hub_alone(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    # Whoever imports the package learns that it is not installed.
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    address = "hf://org/name"
    args = options(address) if option == "ckpt" else options(target=address)  # type: ignore[arg-type]
    result = pytester.runpytest_inprocess(*args, "--collect-only", "-q")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["eagle-contract::mapping.offsets[[]files[]]"])
    assert pytester.runpytest_inprocess(*args).ret == pytest.ExitCode.USAGE_ERROR
