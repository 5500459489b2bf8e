from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .helpers import changed, failing, options, report

REPORT = "--eagle-report=json=report.json"
ROWS, HIDDEN = 4000, 900
"""The default sample of a matrix of 4,000 rows of 24 ends before row 900 and goes on at 1,106."""


def with_hidden_nan(tensors: dict[str, Any]) -> None:
    for part in ("gate", "up"):
        name = f"midlayer.mlp.{part}_proj.weight"
        tensors[name] = np.resize(tensors[name], (ROWS, 24))
    down = tensors["midlayer.mlp.down_proj.weight"]
    tensors["midlayer.mlp.down_proj.weight"] = np.resize(down, (24, ROWS))
    tensors["midlayer.mlp.up_proj.weight"][HIDDEN, 0] = np.nan


def test_finds_what_the_sample_misses(pytester: pytest.Pytester) -> None:
    draft = changed(
        pytester.path / "draft",
        config=lambda c: c.update(intermediate_size=ROWS),
        tensors=with_hidden_nan,
    )
    args = [*options(draft), REPORT]
    result = pytester.runpytest_inprocess(*args)
    assert failing(report(result, pytester.path)) == set()
    result = pytester.runpytest_inprocess(*args, "--eagle-full-scan")
    assert result.ret == 1
    document = report(result, pytester.path)
    assert failing(document) == {("checkpoint.finite", "files")}
    measured = next(c["measured"] for c in document["contracts"] if c["outcome"] == "failed")
    assert f"row {HIDDEN}" in measured
