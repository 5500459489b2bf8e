from __future__ import annotations

import importlib.util

import pytest

from pytest_eagle_contract.engines import registry

from .helpers import options, refused


def test_given(pytester: pytest.Pytester) -> None:
    assert pytester.runpytest_inprocess(*options(), "--eagle-require=target").ret == 0


@pytest.mark.skipif(importlib.util.find_spec("sglang") is not None, reason="sglang is installed")
def test_an_engine_must_be_installed(pytester: pytest.Pytester) -> None:
    line = refused(pytester.runpytest_inprocess(*options(), "--eagle-require=engine"))
    assert line == "--eagle-require: engine is missing, sglang is not installed"


def test_an_installed_engine(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_has", lambda name: True)
    assert pytester.runpytest_inprocess(*options(), "--eagle-require=engine").ret == 0


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


def test_repeats_add_up(pytester: pytest.Pytester) -> None:
    args = ["--eagle-require=target", "--eagle-require=engine"]
    line = refused(pytester.runpytest_inprocess(*options(target=None), *args))
    assert line.startswith("--eagle-require: target is missing, give --eagle-target")


@pytest.mark.parametrize("source", ["ini", "environment"])
def test_repeats_add_up_elsewhere(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    if source == "ini":
        pytester.makeini("[pytest]\neagle_require =\n    target\n    engine")
    else:
        monkeypatch.setenv("EAGLE_CONTRACT_REQUIRE", "target;engine")
    line = refused(pytester.runpytest_inprocess(*options(engine="", target=None)))
    assert "target is missing" in line
    assert "engine is missing" in line


@pytest.mark.parametrize(("engine", "code"), [("sglang==0.5.23", 0), ("vllm==0.32.0:v1", 1)])
def test_a_verdict_can_be_required(pytester: pytest.Pytester, engine: str, code: int) -> None:
    """vLLM V1 reads the ids in one of their two meanings, and which is meant is not known."""
    result = pytester.runpytest_inprocess(*options(engine=engine), "--eagle-require=verified")
    assert result.ret == code
    said = "ERROR: --eagle-require=verified: the verdict is UNVERIFIED"
    assert (said in result.outlines) is (code == 1)


def test_an_engine_newer_than_the_facts_is_said(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess(*options(engine="sglang==0.5.24"))
    result.stdout.fnmatch_lines(
        ["note: sglang 0.5.24 is newer than 0.5.23, the last release that facts are of"]
    )


def test_options_without_a_draft_say_so(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--eagle-engine=sglang")
    result.stdout.fnmatch_lines(["eagle: no contract is checked: give --eagle-ckpt, or *"])
