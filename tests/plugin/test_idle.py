"""Without any option the plugin does nothing, and imports nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = """
import json, sys
import pytest
code = pytest.main([*sys.argv[2:], "--collect-only", "-q"])
with open(sys.argv[1], "w") as file:
    json.dump([int(code), sorted(sys.modules)], file)
"""
HEAVY = {
    "httpx",
    "huggingface_hub",
    "hypothesis",
    "ml_dtypes",
    "numpy",
    "requests",
    "safetensors",
    "scipy",
    "torch",
    "transformers",
}


def imported(directory: Path, *args: str) -> set[str]:
    """Return the modules that a run in an empty directory imports."""
    out = directory.parent / "modules.json"
    subprocess.run(
        [sys.executable, "-c", PROBE, str(out), *args],
        cwd=directory,
        check=True,
        capture_output=True,
        timeout=60,
    )
    code, modules = json.loads(out.read_text())
    assert code == pytest.ExitCode.NO_TESTS_COLLECTED
    return set(modules)


def test_imports_nothing_heavy(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with_us, without_us = imported(empty), imported(empty, "-p", "no:eagle_contract")
    ours = with_us - without_us
    assert {m for m in ours if m.split(".")[0] not in sys.stdlib_module_names} == {
        "pytest_eagle_contract",
        "pytest_eagle_contract.fixtures",
        "pytest_eagle_contract.hookspec",
        "pytest_eagle_contract.plugin",
        "pytest_eagle_contract.settings",
        "pytest_eagle_contract.stash",
    }
    assert not HEAVY & ours
    assert "packaging" not in ours


def test_changes_no_other_run(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(): pass")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*agle:*")
    result.stdout.no_fnmatch_line("*EAGLE-3*")


def test_items_of_others_that_have_a_record_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        class Mine(pytest.Item):
            record = "not a function"
            def runtest(self): pass

        class File(pytest.File):
            def collect(self):
                yield Mine.from_parent(self, name="mine")

        def pytest_collect_file(file_path, parent):
            if file_path.suffix == ".mine":
                return File.from_parent(parent, path=file_path)
        """
    )
    pytester.makefile(".mine", test="")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_public_fixture_without_a_draft_says_what_to_give(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_mine(eagle_checkpoint): pass")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no draft: give --eagle-ckpt or override*"])
