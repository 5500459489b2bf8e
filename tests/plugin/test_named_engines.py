from __future__ import annotations

import json

import pytest

from .helpers import options


def test_the_report_sums_up_the_engines_that_were_named(pytester: pytest.Pytester) -> None:
    named = options(engine="sglang==0.5.23")
    pytester.runpytest_inprocess(
        *named,
        "--eagle-engine=vllm==0.32.0:v1",
        "--eagle-trainer=specforge",
        "--eagle-report=json=r.json",
    )
    rows = json.loads((pytester.path / "r.json").read_text())["engines"]
    assert [(r["name"], r["runner"], r["verdict"], r["reasons"]) for r in rows] == [
        ("sglang", None, "serves", []),
        ("vllm", "v1", "degraded", ["layers.engine"]),
    ]
