from __future__ import annotations

import json

import pytest

from .helpers import options, outcomes, refused, report

REPORT = "--eagle-report=json=report.json"


def test_coverage_is_judged_on_offered_text_alone(pytester: pytest.Pytester) -> None:
    without = report(pytester.runpytest_inprocess(*options(), REPORT), pytester.path)
    assert not [c for c in without["contracts"] if c["id"] == "mapping.coverage"]
    text = pytester.path / "text.jsonl"
    text.write_text("\n".join(json.dumps({"token_ids": [token]}) for token in range(320)) + "\n")
    result = pytester.runpytest_inprocess(*options(), f"--eagle-prompts={text}", REPORT)
    document = report(result, pytester.path)
    # 64 of 320 tokens can be drafted.
    assert outcomes(document)["mapping.coverage", "files"] == "failed"
    assert "20.0%" in next(
        c["measured"] for c in document["contracts"] if c["id"] == "mapping.coverage"
    )


@pytest.mark.parametrize(
    ("lines", "counted"),
    [
        (["[0, 1, 2]", "", "[3]"], 4),
        (['{"token_ids": [0, 1], "continuation": [2, 3, 4]}', "[5]"], 4),
    ],
)
def test_forms(pytester: pytest.Pytester, lines: list[str], counted: int) -> None:
    text = pytester.path / "ids.txt"
    text.write_text("\n".join(lines))
    result = pytester.runpytest_inprocess(*options(), f"--eagle-prompts={text}", REPORT)
    document = report(result, pytester.path)
    measured = next(c["measured"] for c in document["contracts"] if c["id"] == "mapping.coverage")
    assert f"of {counted} tokens" in measured


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is not JSON"),
        ("[1", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1.5]", "holds no list of token ids"),
        ("[[1]]", "holds no list of token ids"),
        ("[true]", "holds no list of token ids"),
        ("1", "holds no list of token ids"),
        ('{"token_ids": "x"}', "holds no list of token ids"),
        ('{"text": "hi"}', "holds no list of token ids"),
        ("Why is the sky blue?", "is plain text, and this level counts token ids"),
    ],
)
def test_refused(pytester: pytest.Pytester, line: str, says: str) -> None:
    text = pytester.path / "text.jsonl"
    text.write_text(f'{{"token_ids": [1]}}\n{line}\n')
    said = refused(pytester.runpytest_inprocess(*options(), f"--eagle-prompts={text}"))
    assert f"line 2: {says}; tokenise the text with the target's tokenizer" in said
