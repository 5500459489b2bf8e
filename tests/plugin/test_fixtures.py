from __future__ import annotations

from pathlib import Path

import pytest

from pytest_eagle_contract.checkpoint import safetensors_source

from .helpers import DRAFT, OTHER, TARGET, options, refused, report

USER = """
import numpy as np

def test_checkpoint(eagle_checkpoint):
    assert "d2t" in eagle_checkpoint.tensors

def test_draft_config(eagle_draft_config):
    assert eagle_draft_config.data["draft_vocab_size"] == 64

def test_target_config(eagle_target_config):
    assert eagle_target_config.data["num_hidden_layers"] == 8

def test_intent(eagle_intent):
    assert eagle_intent.boundaries.value == (1, 3, 6)
    assert eagle_intent.trainer.value == "specforge"

def test_token_map(eagle_token_map):
    assert eagle_token_map.vocab_size == 320

def test_engines(eagle_engines):
    assert [e.label for e in eagle_engines] == ["sglang 0.5.23"]

def test_resolve(eagle_resolve, eagle_engines):
    (reading,) = eagle_resolve(eagle_engines[0])
    assert reading.captured.boundaries == (1, 3, 6)

def test_map_draft_ids(eagle_map_draft_ids, eagle_checkpoint):
    d2t = eagle_checkpoint.read("d2t")
    ids = np.arange(d2t.size)
    assert np.array_equal(eagle_map_draft_ids(d2t, 320, ids), ids + d2t)

def test_case(eagle_case):
    assert eagle_case.layers == 8

def test_max_examples(eagle_max_examples):
    assert eagle_max_examples > 0
"""


def test_every_public_one(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile(USER)
    pytester.runpytest_inprocess(*options(), file).assert_outcomes(passed=10)


def test_listed_with_a_line_each(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--fixtures")
    for name in ("eagle_checkpoint", "eagle_intent", "eagle_map_draft_ids"):
        result.stdout.fnmatch_lines([f"{name} [[]session scope[]] -- *", "    *"])


def test_engines_default_to_all_of_them(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine(eagle_engines): assert len(eagle_engines) >= 9")
    pytester.runpytest_inprocess(f"--eagle-ckpt={DRAFT}", file).assert_outcomes(passed=1)


def test_target_that_is_not_given_skips(pytester: pytest.Pytester) -> None:
    file = pytester.makepyfile("def test_mine(eagle_target_config): pass")
    pytester.runpytest_inprocess(f"--eagle-ckpt={DRAFT}", file).assert_outcomes(skipped=1)


def test_read_nothing_before_they_are_used(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def eagle_checkpoint():
            return {str(DRAFT)!r}
        """
    )
    pytester.makepyfile("def test_mine(eagle_intent): assert eagle_intent.boundaries.value")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_overridden_draft_with_stated_inputs(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def eagle_checkpoint(tmp_path_factory):
            return {str(DRAFT)!r}
        """
    )
    file = pytester.makepyfile("def test_mine(eagle_target_config): assert eagle_target_config")
    pytester.runpytest_inprocess(f"--eagle-target={TARGET}", file).assert_outcomes(passed=1)


def test_a_draft_is_opened_once(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    real = safetensors_source._read_header

    def counting(path: Path) -> object:
        opened.append(path.parent)
        return real(path)

    monkeypatch.setattr(safetensors_source, "_read_header", counting)
    file = pytester.makepyfile("def test_mine(eagle_case, eagle_token_map): pass")
    args = [*options(engine=""), f"--eagle-ckpt={OTHER}", "--eagle-suite", file]
    assert pytester.runpytest_inprocess(*args).ret == 0
    assert sorted(p for p in opened if p != TARGET) == [DRAFT, OTHER]


@pytest.mark.parametrize("used", ["request", "mine", "eagle_intent", "eagle_checkpoint"])
def test_tests_run_once_for_each_draft(pytester: pytest.Pytester, used: str) -> None:
    file = pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture
        def mine(eagle_case):
            return eagle_case

        @pytest.fixture
        def path(request):
            return request.node.callspec.id

        def test_mine(path, eagle_case, {used}):
            assert eagle_case.draft.checkpoint.path.name == path
        """
    )
    result = pytester.runpytest_inprocess(*options(), f"--eagle-ckpt={OTHER}", file)
    result.assert_outcomes(passed=2)


OVERRIDE = f"""
    import pytest

    @pytest.fixture(scope="session")
    def eagle_checkpoint():
        return {str(OTHER)!r}
"""
MINE = (
    "def test_mine(eagle_case): assert eagle_case.draft.checkpoint.path.name == 'speculators-ids'"
)


@pytest.mark.parametrize("engine", ["sglang", ""], ids=["engine", "matrix"])
def test_overridden_draft_is_judged_and_shown_in_place_of_the_one_given(
    pytester: pytest.Pytester, engine: str
) -> None:
    pytester.makeconftest(OVERRIDE)
    file = pytester.makepyfile(MINE)
    args = ["--eagle-suite", "--eagle-report=json=report.json", file]
    result = pytester.runpytest_inprocess(*options(engine=engine), *args)
    result.stdout.fnmatch_lines(["note: a conftest's eagle_checkpoint is judged, not --eagle-ckpt"])
    document = report(result, pytester.path)
    assert [c["path"] for c in document["checkpoints"]] == [str(OTHER)]
    assert document["checkpoint"]["trainer"] == "speculators"
    assert {c["checkpoint"] for c in document["contracts"]} == {str(OTHER)}
    assert {e["checkpoint"] for e in document["engines"]} == {str(OTHER)}


def test_overridden_draft_beside_several_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(OVERRIDE)
    several = [*options(), f"--eagle-ckpt={OTHER}"]
    assert "overrides eagle_checkpoint" in refused(pytester.runpytest_inprocess(*several))
    # Tests of one's own follow their fixture.
    file = pytester.makepyfile(MINE)
    pytester.runpytest_inprocess(*several, file).assert_outcomes(passed=1)


def test_fixture_that_builds_on_the_given_draft_runs_for_each(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def eagle_checkpoint(eagle_checkpoint):
            return eagle_checkpoint
        """
    )
    file = pytester.makepyfile("def test_mine(eagle_intent): pass")
    several = [*options(), f"--eagle-ckpt={OTHER}"]
    pytester.runpytest_inprocess(*several, file).assert_outcomes(passed=2)


@pytest.mark.parametrize("engine", ["sglang", ""], ids=["engine", "matrix"])
def test_fixture_that_fails_is_one_error(pytester: pytest.Pytester, engine: str) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def eagle_checkpoint():
            raise RuntimeError("the exporter crashed")
        """
    )
    args = ["--eagle-suite", "--eagle-report=json=report.json"]
    result = pytester.runpytest_inprocess(*options(None, engine=engine), *args)
    assert result.ret == 1
    assert result.parseoutcomes()["errors"] == 1
    document = report(result, pytester.path)
    assert document["verdict"] == "fail"
    first, *others = document["contracts"]
    assert (first["outcome"], first["measured"]) == ("failed", "the exporter crashed")
    assert {c["measured"] for c in others} == {"there is no draft: the exporter crashed"}
    assert {c["outcome"] for c in others} == {"unverified"}
