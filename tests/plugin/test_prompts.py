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
    "line", ["{", "[1]", '{"token_ids": "x"}', '{"token_ids": [1.5]}', '{"text": "hi"}']
)
def test_refused(pytester: pytest.Pytester, line: str) -> None:
    text = pytester.path / "text.jsonl"
    text.write_text(f'{{"token_ids": [1]}}\n{line}\n')
    said = refused(pytester.runpytest_inprocess(*options(), f"--eagle-prompts={text}"))
    assert "line 2" in said
