from __future__ import annotations

from importlib import metadata

import pytest

from .helpers import absolute, changed, failing, options, outcomes, refused, report

REPORT = "--eagle-report=json=report.json"
VLLM = ("layers.engine", "vllm 0.32.0 v2")


def test_named_engine_is_held_to(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(engine="vllm==0.32.0:v2"), REPORT)
    assert result.ret == 1
    assert failing(report(result, pytester.path)) == {VLLM}


def test_repeated(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(
        *options(), "--eagle-engine=vllm==0.32.0:v1", "--eagle-engine=vllm==0.32.0:v2", REPORT
    )
    subjects = {subject for _, subject in outcomes(report(result, pytester.path))}
    assert subjects == {"files", "sglang 0.5.23", "vllm 0.32.0 v1", "vllm 0.32.0 v2"}


def test_named_twice_is_judged_once(pytester: pytest.Pytester) -> None:
    alike = ["--eagle-engine=vllm==0.32.0:v2", "--eagle-engine=vllm"]
    result = pytester.runpytest_inprocess(*options(engine="vllm:v2"), *alike, REPORT)
    document = report(result, pytester.path)
    assert len(document["contracts"]) == len(outcomes(document))
    assert [e["runner"] for e in document["engines"]] == ["v2"]


def test_runner_changes_the_judgement(pytester: pytest.Pytester) -> None:
    measured = {}
    for runner in ("v1", "v2"):
        result = pytester.runpytest_inprocess(*options(engine=f"vllm==0.32.0:{runner}"), REPORT)
        measured[runner] = next(
            c["measured"]
            for c in report(result, pytester.path)["contracts"]
            if c["id"] == "layers.engine"
        )
    assert measured["v1"] != measured["v2"]


def test_range_takes_the_newest_version_in_it(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(engine="sglang>=0.5.12"), REPORT)
    assert ("layers.engine", "sglang 0.5.23") in outcomes(report(result, pytester.path))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("sglan", "did you mean sglang?"),
        ("vlm", "did you mean vllm?"),
        ("vllm==99.0", "choose one within"),
        ("vllm==0.32.0:v9", "write v1 or v2"),
        ("sglang:v1", "leave :v1 out"),
        ("vllm==x", "version specifier"),
        ("", "is empty"),
    ],
)
def test_refused(pytester: pytest.Pytester, given: str, said: str) -> None:
    line = refused(pytester.runpytest_inprocess(*options(engine=""), f"--eagle-engine={given}"))
    assert line.startswith("--eagle-engine: ")
    assert said in line


def test_matrix_cannot_fail_the_run(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(engine=""), REPORT)
    assert result.ret == 0
    document = report(result, pytester.path)
    verdicts = {(e["name"], e["runner"]): e["verdict"] for e in document["engines"]}
    assert verdicts["sglang", None] == "serves"
    assert verdicts["vllm", "v2"] == "degraded"
    assert document["verdict"] != "fail"
    result.stdout.fnmatch_lines(["engine * verdict *", "vllm 0.32.0 v2 * degraded *layers.engine*"])


def test_matrix_does_not_hide_a_fault_of_the_files(pytester: pytest.Pytester) -> None:
    draft = changed(pytester.path / "draft", tensors=absolute)
    result = pytester.runpytest_inprocess(*options(draft, engine=""), REPORT)
    assert result.ret == 1
    document = report(result, pytester.path)
    assert failing(document) == {("mapping.offsets", "files")}
    assert {e["verdict"] for e in document["engines"]} <= {"degraded", "breaks"}


def test_a_release_without_facts_is_said_once(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda n: "9.40" if n == "vllm" else real(n))
    result = pytester.runpytest_inprocess(*options(engine="vllm"), "--eagle-engine=vllm:v1")
    said = [line for line in result.outlines if "is installed" in line]
    assert said == [
        "note: vllm 9.40 is installed, facts cover >=0.8.5,<0.33: judged as 0.32.0; "
        "write --eagle-engine=vllm==0.32.0 to choose"
    ]
    result = pytester.runpytest_inprocess(*options(engine="vllm==0.32.0"))
    result.stdout.no_fnmatch_line("*is installed*")
