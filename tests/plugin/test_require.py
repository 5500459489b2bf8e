from __future__ import annotations

import importlib.util

import pytest

from .helpers import options, refused


def test_given(pytester: pytest.Pytester) -> None:
    assert pytester.runpytest_inprocess(*options(), "--eagle-require=target,engine").ret == 0


@pytest.mark.parametrize(
    ("missing", "given"),
    [("target", options(target=None)), ("engine", options(engine=""))],
)
def test_missing(pytester: pytest.Pytester, missing: str, given: list[str]) -> None:
    line = refused(pytester.runpytest_inprocess(*given, "--eagle-require=target,engine"))
    assert line.startswith(f"--eagle-require: {missing} is missing, give --eagle-{missing}")


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_torch(pytester: pytest.Pytester) -> None:
    line = refused(pytester.runpytest_inprocess(*options(), "--eagle-require=torch"))
    assert "pytest-eagle-contract[torch]" in line


@pytest.mark.parametrize("given", ["tpu", "target,tpu", ","])
def test_unknown(pytester: pytest.Pytester, given: str) -> None:
    line = refused(pytester.runpytest_inprocess(*options(), f"--eagle-require={given}"))
    assert "choose from torch, target, engine, gpu" in line
