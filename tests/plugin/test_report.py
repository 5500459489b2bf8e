from __future__ import annotations

import html
import json
from importlib import resources
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from .helpers import DRAFT, OTHER, absolute, changed, options, refused, report

REPORT = "--eagle-report=json=report.json"
ENGINES = ["--eagle-engine=vllm==0.32.0:v1", "--eagle-engine=vllm==0.32.0:v2"]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    file = resources.files("pytest_eagle_contract") / "report" / "schema.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(data)
    return data


@pytest.mark.parametrize(
    "args",
    [
        options(),
        options(engine=""),
        options(target=None, engine=""),
        [*options(), *ENGINES, f"--eagle-ckpt={OTHER}"],
        [*options(engine=""), f"--eagle-ckpt={OTHER}"],
        [*options(), "-k", "mapping"],
        [*options(engine=""), "-k", "engines and vllm"],
    ],
    ids=["engine", "matrix", "no target", "two drafts", "two matrices", "filtered", "rows alone"],
)
def test_json_is_as_the_schema_says(
    pytester: pytest.Pytester, schema: dict[str, Any], args: list[str]
) -> None:
    document = report(pytester.runpytest_inprocess(*args, REPORT), pytester.path)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["schema"] == 1


def test_json_of_a_failure(pytester: pytest.Pytester, schema: dict[str, Any]) -> None:
    draft = changed(pytester.path / "draft", tensors=absolute)
    known = pytester.makefile(".toml", known='[[known]]\ncontract = "mapping.mask"\nreason = "x"')
    result = pytester.runpytest_inprocess(
        *options(draft), f"--eagle-known-failures={known}", REPORT
    )
    document = report(result, pytester.path)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["verdict"] == "fail"
    assert document["known_failures"]
    offsets = next(c for c in document["contracts"] if c["id"] == "mapping.offsets")
    assert offsets["outcome"] == "failed"
    assert all(offsets[key] for key in ("measured", "expected", "why", "fix", "incident"))
    assert offsets["nodeid"] == "eagle-contract::mapping.offsets[files]"


def test_schema_refuses_what_it_should(schema: dict[str, Any], pytester: pytest.Pytester) -> None:
    document = report(pytester.runpytest_inprocess(*options(), REPORT), pytester.path)
    validator = jsonschema.Draft202012Validator(schema)
    for change in (
        {"verdict": "maybe"},
        {"schema": 2},
        {"contracts": [{"id": "mapping.range"}]},
        {"engines": [{"name": "sglang"}]},
        {"surprise": 1},
    ):
        assert not validator.is_valid(document | change), change


def test_json_says_what_it_judged(pytester: pytest.Pytester) -> None:
    checkpoint = report(pytester.runpytest_inprocess(*options(), REPORT), pytester.path)[
        "checkpoint"
    ]
    assert checkpoint["path"] == str(DRAFT)
    assert (checkpoint["draft_vocab_size"], checkpoint["vocab_size"]) == (64, 320)
    assert checkpoint["boundaries"] == [1, 3, 6]
    again = changed(pytester.path / "draft", tensors=lambda t: t.update(d2t=t["d2t"] + 1))
    other = report(pytester.runpytest_inprocess(*options(again), REPORT), pytester.path)
    assert other["checkpoint"]["sha256"] != checkpoint["sha256"]


def test_markdown(pytester: pytest.Pytester) -> None:
    draft = changed(pytester.path / "draft", tensors=absolute)
    pytester.runpytest_inprocess(*options(draft), "--eagle-report=md=out/report.md")
    text = (pytester.path / "out" / "report.md").read_text()
    assert text.startswith("## EAGLE-3 contracts\n\n**VERDICT: FAIL")
    assert "| `mapping.offsets` | FAIL |" in text
    assert "### `mapping.offsets` on files" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") - line.count("\\|") for line in rows}) == 1


def test_markdown_of_the_matrix(pytester: pytest.Pytester) -> None:
    pytester.runpytest_inprocess(*options(engine=""), "--eagle-report=md=report.md")
    text = (pytester.path / "report.md").read_text()
    assert "| sglang 0.5.23 | serves |" in text


def test_both_at_once(pytester: pytest.Pytester) -> None:
    pytester.runpytest_inprocess(*options(), REPORT, "--eagle-report=md=report.md")
    assert (pytester.path / "report.json").exists()
    assert (pytester.path / "report.md").exists()


def test_that_cannot_be_written_is_an_error_beside_the_results(pytester: pytest.Pytester) -> None:
    (pytester.path / "file").write_text("")
    result = pytester.runpytest_inprocess(*options(), "--eagle-report=json=file/report.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(
        ["VERDICT: PASS*", "ERROR: --eagle-report: file/report.json: *", "*passed*"]
    )


def test_step_summary_of_github(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    file = pytester.path / "summary.md"
    file.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    pytester.runpytest_inprocess(*options())
    assert file.read_text().startswith("before\n## EAGLE-3 contracts\n")


def test_step_summary_that_cannot_be_written_changes_no_verdict(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path))
    result = pytester.runpytest_inprocess(*options())
    assert result.ret == 0
    result.stdout.fnmatch_lines(["ERROR: GITHUB_STEP_SUMMARY: *"])


def test_step_summary_is_left_alone_without_options(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    pytester.makepyfile("def test_mine(): pass")
    pytester.runpytest_inprocess()
    assert not file.exists()


@pytest.mark.parametrize("given", ["report.json", "xml=report.xml", "json=", "=x"])
def test_refused(pytester: pytest.Pytester, given: str) -> None:
    result = pytester.runpytest_inprocess(*options(), f"--eagle-report={given}")
    result.stderr.fnmatch_lines([f"ERROR: --eagle-report: '{given}' cannot be used: write json=*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


HTML = "--eagle-report=html=report.html"


@pytest.mark.parametrize("engine", ["sglang", ""])
def test_html_holds_what_the_terminal_says(pytester: pytest.Pytester, engine: str) -> None:
    draft = changed(pytester.path / "draft", tensors=absolute)
    result = pytester.runpytest_inprocess(*options(draft, HTML, engine=engine))
    page = (pytester.path / "report.html").read_text()
    text = html.unescape(page)
    assert next(line for line in result.outlines if line.startswith("VERDICT")) in text
    assert "<code>mapping.offsets</code> on files" in text
    assert ("<h2>Engines</h2>" in text) is (engine == "")
    assert ElementTree.fromstring(page[page.index("<body>") : -len("</html>\n")]).tag == "body"


HOSTILE = "x\n::add-mask::secret\x1b[2J `<b>|y` ##[group]"


def test_what_a_checkpoint_is_called_is_only_text(pytester: pytest.Pytester) -> None:
    def hostile(config: dict[str, Any]) -> None:
        config["architectures"] = [HOSTILE]
        config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] = [0, 2, 2]
        config["speculators_config"] = {"verifier": {"architectures": [HOSTILE]}}

    draft = changed(pytester.path / "draft", config=hostile)
    result = pytester.runpytest_inprocess(
        *options(draft), "--eagle-report=md=report.md", HTML, REPORT
    )
    for line in result.outlines:
        assert "\x1b[2J" not in line
        assert not line.strip().startswith(("::", "##["))
    page = (pytester.path / "report.html").read_text()
    assert "&lt;b&gt;|y" in page
    assert "<b>" not in page
    failures = (pytester.path / "report.md").read_text()
    assert "\\<b\\>\\|y" in failures
    assert "::add-mask" not in failures
    measured = [c["measured"] for c in report(result, pytester.path)["contracts"]]
    assert all(text.isprintable() for text in measured)


def test_two_reports_in_one_file_are_refused(pytester: pytest.Pytester) -> None:
    args = options(None, "--eagle-report=json=out/r", "--eagle-report=md=out/../out/r")
    line = refused(pytester.runpytest_inprocess(*args))
    place = pytester.path / "out" / "r"
    assert line == f"--eagle-report: {place} is named twice; give each report its own file"
