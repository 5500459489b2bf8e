from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .helpers import changed, failing, options, report

REPORT = "--eagle-report=json=report.json"
ROWS, HIDDEN = 4000, 900
"""The default sample of an embedding of 4,000 rows ends before row 900 and goes on at 1,106."""


def with_hidden_nan(tensors: dict[str, Any]) -> None:
    old = tensors["embed_tokens.weight"]
    new = np.resize(old, (ROWS, old.shape[1]))
    new[HIDDEN, 0] = np.nan
    tensors["embed_tokens.weight"] = new
    tensors["t2d"] = np.concatenate([tensors["t2d"], np.zeros(ROWS - 320, dtype=bool)])


def test_finds_what_the_sample_misses(pytester: pytest.Pytester) -> None:
    draft = changed(
        pytester.path / "draft",
        config=lambda c: c.update(vocab_size=ROWS),
        tensors=with_hidden_nan,
    )
    args = [*options(draft, target=None), REPORT]
    result = pytester.runpytest_inprocess(*args)
    assert failing(report(result, pytester.path)) == set()
    result = pytester.runpytest_inprocess(*args, "--eagle-full-scan")
    assert result.ret == 1
    document = report(result, pytester.path)
    assert failing(document) == {("checkpoint.finite", "files")}
    measured = next(c["measured"] for c in document["contracts"] if c["outcome"] == "failed")
    assert f"row {HIDDEN}" in measured
