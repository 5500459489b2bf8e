from __future__ import annotations

import os
import shutil

import pytest

from .helpers import DRAFT, OTHER, TARGET, changed, failing, options, outcomes, refused, report


def test_runs_the_shipped_suite_in_an_empty_directory(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess(*options())
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["eagle-contract *", "*EAGLE-3 contracts*", "VERDICT: PASS (* passed)"]
    )


def test_leaves_the_working_directory_clean(pytester: pytest.Pytester) -> None:
    pytester.runpytest_inprocess(*options(), "-p", "no:cacheprovider")
    left = {p.name for p in pytester.path.iterdir()}
    assert not left - {".benchmarks"}  # pytest-benchmark's


def test_without_paths_collects_no_other_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): raise AssertionError")
    pytester.makeini("[pytest]\ntestpaths = .")
    result = pytester.runpytest_inprocess(*options())
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*test_mine*")


def test_with_paths_collects_those_alone(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine(eagle_draft_config): assert eagle_draft_config")
    result = pytester.runpytest_inprocess(*options(), file)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*VERDICT*")


def test_repeated(pytester: pytest.Pytester) -> None:
    more = ["--eagle-report=json=report.json", f"--eagle-ckpt={OTHER}"]
    result = pytester.runpytest_inprocess(*options(), *more)
    document = report(result, pytester.path)
    assert [c["path"] for c in document["checkpoints"]] == [str(DRAFT), str(OTHER)]
    subjects = {c["subject"] for c in document["contracts"]}
    assert {"specforge-ids files", "speculators-ids files"} < subjects
    for contract in document["contracts"]:
        draft = DRAFT if contract["subject"].startswith("specforge") else OTHER
        assert contract["checkpoint"] == str(draft)


def test_drafts_of_one_name_are_told_apart(pytester: pytest.Pytester) -> None:
    drafts = [pytester.path / run / "export" / "draft" for run in ("one", "two")]
    for draft in drafts:
        shutil.copytree(DRAFT, draft)
    given = [f"--eagle-ckpt={draft}" for draft in drafts]
    result = pytester.runpytest_inprocess(*given, "--eagle-report=json=report.json")
    document = report(result, pytester.path)
    ids = [c["nodeid"] for c in document["contracts"]]
    assert len(ids) == len(set(ids))
    assert outcomes(document)["mapping.offsets", "one/export/draft files"] == "passed"
    assert outcomes(document)["mapping.offsets", "two/export/draft files"] == "passed"
    assert len({(e["name"], e["runner"], e["checkpoint"]) for e in document["engines"]}) == len(
        document["engines"]
    )


def test_one_draft_written_twice_is_judged_once(pytester: pytest.Pytester) -> None:
    shutil.copytree(DRAFT, pytester.path / "draft")
    result = pytester.runpytest_inprocess(
        "--eagle-ckpt=draft", "--eagle-ckpt=./draft", "--eagle-report=json=report.json"
    )
    assert len(report(result, pytester.path)["checkpoints"]) == 1


@pytest.mark.parametrize("name", ["my draft", "draft[1]", "dräft::2", "a.b"])
def test_odd_names(pytester: pytest.Pytester, name: str) -> None:
    draft = changed(pytester.path / name)
    given = [f"--eagle-ckpt={draft}", f"--eagle-ckpt={DRAFT}", "--eagle-report=json=report.json"]
    result = pytester.runpytest_inprocess(*given)
    assert result.ret == 0
    assert ("mapping.range", f"{name} files") in outcomes(report(result, pytester.path))
    result = pytester.runpytest_inprocess(*given, "-k", "mapping.range")
    assert result.parseoutcomes()["passed"] == 2


def test_name_that_is_no_text(pytester: pytest.Pytester) -> None:
    draft = os.fsdecode(bytes(pytester.path) + b"/draft-\xff")
    try:
        shutil.copytree(DRAFT, draft)
    except OSError:
        pytest.skip("this file system takes text only")
    args = [f"--eagle-ckpt={draft}", "--eagle-report=json=report.json", "-k", "mapping"]
    result = pytester.runpytest_inprocess(*args)
    assert report(result, pytester.path)["checkpoint"]["path"] == draft


@pytest.mark.parametrize("kind", ["absent", "empty", "file", "truncated", "bad config"])
def test_unreadable_stops_with_one_line(pytester: pytest.Pytester, kind: str) -> None:
    draft = pytester.path / "draft"
    if kind == "empty":
        draft.mkdir()
    elif kind == "file":
        draft.write_text("x")
    elif kind == "truncated":
        changed(draft)
        (draft / "model.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{")
    elif kind == "bad config":
        changed(draft)
        (draft / "config.json").write_text("{")
    line = refused(pytester.runpytest_subprocess(*options(draft)))
    assert "draft" in line


def test_unreadable_under_xdist_stops_with_one_line(pytester: pytest.Pytester) -> None:
    refused(pytester.runpytest_subprocess(*options(pytester.path / "none"), "-n1"))


def test_blank_path_is_no_path(pytester: pytest.Pytester) -> None:
    assert refused(pytester.runpytest_inprocess("--eagle-ckpt=")).startswith("--eagle-ckpt: ''")


def test_failing_contract_fails_the_run(pytester: pytest.Pytester) -> None:
    def norms(tensors: dict[str, object]) -> None:
        tensors["norm.weight"] = tensors["norm.weight"] * float("nan")  # type: ignore[operator]

    draft = changed(pytester.path / "draft", tensors=norms)
    result = pytester.runpytest_inprocess(*options(draft), "--eagle-report=json=report.json")
    assert result.ret == 1
    assert failing(report(result, pytester.path)) == {("checkpoint.finite", "files")}
    result.stdout.fnmatch_lines(
        [
            "*checkpoint.finite [[]files[]]*",
            "norm.weight holds NaN*",
            "  expected: *",
            "  why: *",
            "  fix: *",
            "  incident: *",
            f"  repeat:   pytest --eagle-ckpt={draft} *-k checkpoint.finite",
            "*VERDICT: FAIL*",
        ]
    )


def test_target_that_cannot_be_read(pytester: pytest.Pytester) -> None:
    line = refused(pytester.runpytest_inprocess(*options(target=TARGET / "none")))
    assert str(TARGET / "none") in line
