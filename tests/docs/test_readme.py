"""The README's commands, code and promises are the real ones."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pytest_eagle_contract.engines.registry import PROFILES as ENGINES
from pytest_eagle_contract.options import OPTIONS
from pytest_eagle_contract.trainers.registry import PROFILES as TRAINERS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAPPER = """
import pytest

@pytest.fixture(scope="session")
def eagle_map_draft_ids():
    return lambda d2t, vocab_size, draft_ids: d2t[draft_ids]
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def marked(name: str) -> list[str]:
    found = re.search(rf"<!-- run: {name} -->\n```\n(.*?)```", README, re.DOTALL)
    assert found is not None
    return found[1].strip().splitlines()


def test_every_option_is_documented() -> None:
    for option in OPTIONS:
        assert option.cli in README


def test_every_trainer_and_engine_is_named() -> None:
    for profile in TRAINERS:
        assert profile.name in README
    for engine in ENGINES:
        assert engine.title.split()[0].lower() in README.lower()


def test_the_example_judges_a_sound_and_a_broken_draft(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = shlex.split(marked("example")[-1])
    assert command[0].endswith("/pytest")
    arguments = [a.replace("fixtures/", f"{ROOT}/fixtures/") for a in command[1:]]
    result = pytester.runpytest_inprocess(*arguments)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED *mapping.offsets?broken files?*", "*1 failed*"])


def test_the_output_shown_is_what_a_run_prints(pytester: pytest.Pytester) -> None:
    """Compare the README's block word by word; only the paths are made up."""
    example = ROOT / "fixtures" / "example"
    result = pytester.runpytest_inprocess(
        f"--eagle-ckpt={example / 'broken'}",
        f"--eagle-target={example / 'target'}",
        "--eagle-engine=sglang==0.5.23",
        "--eagle-engine=vllm==0.32.0:v2",
    )
    printed = {line.strip() for line in result.outlines}
    shown = next(b for b in blocks("") if "VERDICT: FAIL" in b)
    for line in shown.splitlines():
        if "path/to" not in line and not line.startswith("="):
            assert line.strip() in printed


def test_the_matrix_shown_is_what_a_run_prints(pytester: pytest.Pytester) -> None:
    draft, target = ROOT / "fixtures/good/specforge-ids", ROOT / "fixtures/targets/llama"
    result = pytester.runpytest_inprocess(f"--eagle-ckpt={draft}", f"--eagle-target={target}")
    shown = next(b for b in blocks("") if "first reason" in b)
    assert set(shown.splitlines()) <= set(result.outlines)


def test_an_exporter_judges_what_it_writes(pytester: pytest.Pytester) -> None:
    conftest = next(b for b in blocks("python") if "eagle_checkpoint" in b)
    sound = ROOT / "fixtures" / "example" / "sound"
    exporter = (
        "import shutil, types\n"
        f"my_trainer = types.SimpleNamespace(export=lambda to: shutil.copytree({str(sound)!r}, to, "
        "dirs_exist_ok=True))\n"
    )
    pytester.makeconftest(exporter + conftest)
    result = pytester.runpytest_inprocess("--eagle-suite")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["VERDICT: PASS*"])


def test_an_engine_hands_over_its_mapping(pytester: pytest.Pytester) -> None:
    conftest = next(b for b in blocks("python") if "eagle_map_draft_ids" in b)
    pytester.makeconftest(conftest)
    arguments = ("--eagle-suite", "-k", "eagle_map_draft_ids", "--eagle-max-examples=20")
    pytester.runpytest_inprocess(*arguments).assert_outcomes(passed=1)


def test_a_wrong_mapping_is_named(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(MAPPER)
    arguments = ("--eagle-suite", "-k", "eagle_map_draft_ids", "--eagle-max-examples=20")
    result = pytester.runpytest_inprocess(*arguments)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*treats d2t as absolute*"])
