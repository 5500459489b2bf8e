from __future__ import annotations

import pytest

from .helpers import options, refused, report

REPORT = "--eagle-report=json=report.json"


def test_recognised_by_default(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(), REPORT)
    assert report(result, pytester.path)["checkpoint"]["trainer"] == "specforge"


def test_named_changes_what_the_ids_mean(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(), REPORT)
    assert report(result, pytester.path)["checkpoint"]["boundaries"] == [1, 3, 6]
    result = pytester.runpytest_inprocess(*options(), REPORT, "--eagle-trainer=eagle")
    checkpoint = report(result, pytester.path)["checkpoint"]
    assert checkpoint["trainer"] == "eagle"
    assert checkpoint["boundaries"] != [1, 3, 6]


def test_unknown(pytester: pytest.Pytester) -> None:
    line = refused(pytester.runpytest_inprocess(*options(), "--eagle-trainer=specforg"))
    assert "specforge" in line
