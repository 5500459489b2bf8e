from __future__ import annotations

from collections.abc import Callable

import pytest

from .helpers import changed, options, outcomes, refused, report

REPORT = "--eagle-report=json=report.json"
FAILING = options(engine="vllm==0.32.0:v2")
ENTRY = """
[[known]]
contract = "layers.engine"
engine = "vllm>=0.30"
reason = "fixed in the next export"
issue = "https://example.org/1"
"""
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    def with_known(text: str, *args: str, subprocess: bool = False) -> pytest.RunResult:
        file = pytester.path / "known.toml"
        file.write_text(text)
        start = pytester.runpytest_subprocess if subprocess else pytester.runpytest_inprocess
        return start(*(args or FAILING), f"--eagle-known-failures={file}", REPORT)

    return with_known


def test_matching_failure_is_known(pytester: pytest.Pytester, run: Run) -> None:
    result = run(ENTRY)
    assert result.ret == 0
    document = report(result, pytester.path)
    assert outcomes(document)["layers.engine", "vllm 0.32.0 v2"] == "known"
    assert document["known_failures"] == []
    why = "fixed in the next export; https://example.org/1"
    known = [c["known"] for c in document["contracts"] if c["outcome"] == "known"]
    assert known == [why]
    result.stdout.fnmatch_lines(
        [f"known: layers.engine [[]vllm 0.32.0 v2[]]: {why}", "VERDICT: PASS (* passed, 1 known)"]
    )


def test_not_yet_expired(run: Run) -> None:
    assert run(ENTRY + "expires = 2999-01-01").ret == 0


def test_expired_excuses_nothing(pytester: pytest.Pytester, run: Run) -> None:
    result = run(ENTRY + "expires = 2020-01-31")
    assert result.ret == 1
    document = report(result, pytester.path)
    assert outcomes(document)["layers.engine", "vllm 0.32.0 v2"] == "failed"
    result.stdout.fnmatch_lines(["KNOWN FAILURES: expired on 2020-01-31: layers.engine*"])


def test_stale_fails(pytester: pytest.Pytester, run: Run) -> None:
    result = run(ENTRY + '[[known]]\ncontract = "mapping.offsets"\nreason = "once"')
    assert result.ret == 1
    assert report(result, pytester.path)["verdict"] == "fail"
    result.stdout.fnmatch_lines(["KNOWN FAILURES: stale, it no longer fails: mapping.offsets*"])


@pytest.mark.parametrize(
    "entry",
    [
        'contract = "mapping.nothing"',
        'contract = "mapping.nothing"\nengine = "vllm>=0.30"',
    ],
)
def test_unmatched_fails(run: Run, entry: str) -> None:
    result = run(f'{ENTRY}[[known]]\n{entry}\nreason = "x"')
    assert result.ret == 1
    result.stdout.fnmatch_lines(["KNOWN FAILURES: matches no contract of this run: *"])


@pytest.mark.parametrize("engine", ["sglang", "vllm<0.20"])
def test_an_entry_for_an_engine_of_another_job_is_left_alone(run: Run, engine: str) -> None:
    entry = f'[[known]]\ncontract = "layers.engine"\nengine = "{engine}"\nreason = "x"'
    assert run(ENTRY + entry).ret == 0


def test_the_issue_is_shown(pytester: pytest.Pytester, run: Run) -> None:
    shown = "fixed in the next export; https://example.org/1"
    run(ENTRY, *FAILING, "--junitxml=junit.xml")
    assert shown in (pytester.path / "junit.xml").read_text()
    result = run(ENTRY + "expires = 2020-01-31")
    result.stdout.fnmatch_lines(["KNOWN FAILURES: *; https://example.org/1)"])


def test_an_unknown_engine_is_refused(run: Run) -> None:
    result = run('[[known]]\ncontract = "layers.engine"\nengine = "sglan"\nreason = "x"')
    assert "'sglan' names no engine" in refused(result)


@pytest.mark.parametrize(
    "left_out",
    [
        ["-k", "mapping"],
        ["-m", "not eagle_contract"],
        ["--deselect=eagle-contract::layers.engine[vllm 0.32.0 v2]"],
    ],
)
def test_filtered_run_does_not_complain(run: Run, left_out: list[str]) -> None:
    result = run(ENTRY, *FAILING, *left_out)
    result.stdout.no_fnmatch_line("*KNOWN FAILURES*")
    assert result.ret in (0, 5)


def test_filtered_run_does_not_complain_under_xdist(run: Run) -> None:
    left_out = "--deselect=eagle-contract::layers.engine[vllm 0.32.0 v2]"
    result = run(ENTRY, *FAILING, left_out, "-n1", subprocess=True)
    result.stdout.no_fnmatch_line("*KNOWN FAILURES*")
    assert result.ret == 0


def test_run_that_stops_early_does_not_complain(run: Run) -> None:
    unmet = '[[known]]\ncontract = "checkpoint.tie"\nreason = "x"'
    result = run(unmet, *options(engine="vllm==0.32.0:v2"), "-x")
    assert result.ret == 1
    result.stdout.no_fnmatch_line("*KNOWN FAILURES*")


def test_run_without_contracts_does_not_complain(pytester: pytest.Pytester, run: Run) -> None:
    file = pytester.makepyfile("def test_mine(): pass")
    assert run(ENTRY, *FAILING, str(file)).ret == 0


def test_subjects_of_several_drafts(pytester: pytest.Pytester, run: Run) -> None:
    twin = changed(pytester.path / "my twin")
    result = run(ENTRY, *FAILING, f"--eagle-ckpt={twin}")
    assert result.ret == 0
    assert result.parseoutcomes()["known"] == 2


def test_under_xdist(run: Run) -> None:
    result = run(ENTRY, *FAILING, "-n1", subprocess=True)
    assert result.ret == 0
    assert result.parseoutcomes()["known"] == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[known]", "is not TOML"),
        ("knwon = 1", "holds something else than [[known]]"),
        ('[[known]]\ncontract = "layers.engine"', "known[1].reason"),
        ('[[known]]\ncontract = "layers engine"\nreason = "x"', "is no contract id"),
        ('[[known]]\ncontract = "a.b"\nreason = "x"\nexpires = "2027"', "is no date"),
        ('[[known]]\ncontract = "a.b"\nreason = "x"\nexpiry = 1', "holds unknown keys"),
        ('[[known]]\ncontract = "a.b"\nreason = "x"\nengine = "vllm>>1"', "names no engine"),
    ],
)
def test_malformed(run: Run, text: str, said: str) -> None:
    line = refused(run(text))
    assert "known.toml" in line
    assert said in line


def test_missing_file(pytester: pytest.Pytester) -> None:
    line = refused(pytester.runpytest_inprocess(*FAILING, "--eagle-known-failures=none.toml"))
    assert "none.toml" in line
