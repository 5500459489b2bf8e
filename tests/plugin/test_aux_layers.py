from __future__ import annotations

import pytest

from .helpers import FIXTURES, options, outcomes, refused, report

REPORT = "--eagle-report=json=report.json"
SILENT = FIXTURES / "good" / "specforge-sglang"


def test_decide_what_no_file_says(pytester: pytest.Pytester) -> None:
    key = ("layers.engine", "sglang 0.5.23")
    open_ = report(pytester.runpytest_inprocess(*options(SILENT), REPORT), pytester.path)
    assert outcomes(open_)[key] != "failed"
    for given, outcome in (("b:2,4,5", "passed"), ("out:1,3,4", "passed"), ("b:1,3,6", "failed")):
        result = pytester.runpytest_inprocess(
            *options(SILENT), f"--eagle-aux-layers={given}", REPORT
        )
        assert outcomes(report(result, pytester.path))[key] == outcome, given
        assert result.ret == (outcome == "failed")


@pytest.mark.parametrize("given", ["2,x", "c:1,2,3", "b:", "out:-2,1", "b:1,,2"])
def test_refused(pytester: pytest.Pytester, given: str) -> None:
    line = refused(pytester.runpytest_inprocess(*options(), f"--eagle-aux-layers={given}"))
    assert line.startswith(f"--eagle-aux-layers: {given!r} cannot be used: ")
