from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load_file

from .helpers import DRAFT, failing, options, refused, report

REPORT = "--eagle-report=json=report.json"


def test_side_file_that_agrees(pytester: pytest.Pytester) -> None:
    file = pytester.path / "d2t.npy"
    np.save(file, load_file(DRAFT / "model.safetensors")["d2t"])
    result = pytester.runpytest_inprocess(*options(), f"--eagle-token-map={file}", REPORT)
    assert result.ret == 0


def test_side_file_that_differs(pytester: pytest.Pytester) -> None:
    file = pytester.path / "d2t.npy"
    d2t = load_file(DRAFT / "model.safetensors")["d2t"]
    d2t[-1] += 1
    np.save(file, d2t)
    result = pytester.runpytest_inprocess(*options(), f"--eagle-token-map={file}", REPORT)
    assert result.ret == 1
    assert failing(report(result, pytester.path)) == {("mapping.side-files", "files")}


def test_unreadable(pytester: pytest.Pytester) -> None:
    file = pytester.path / "d2t.npy"
    file.write_text("no array")
    line = refused(pytester.runpytest_inprocess(*options(), f"--eagle-token-map={file}"))
    assert str(file) in line
