"""What is imported: nothing heavy without an option, and with one only what decides."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_eagle_contract.checkpoint import open_checkpoint

from .helpers import DRAFT, options

PROBE = """
import json, sys
import pytest
code = pytest.main([*sys.argv[2:], "-q"])
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


def imported(directory: Path, *args: str, code: int = pytest.ExitCode.OK) -> set[str]:
    """Return the modules that a run in an empty directory imports."""
    out = directory.parent / "modules.json"
    subprocess.run(
        [sys.executable, "-c", PROBE, str(out), *args],
        cwd=directory,
        check=True,
        capture_output=True,
        timeout=60,
    )
    ended, modules = json.loads(out.read_text())
    assert ended == code
    return set(modules)


def test_imports_nothing_heavy(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    none = pytest.ExitCode.NO_TESTS_COLLECTED
    with_us = imported(empty, "--collect-only", code=none)
    without_us = imported(empty, "--collect-only", "-p", "no:eagle_contract", code=none)
    ours = with_us - without_us
    assert {m for m in ours if m.split(".")[0] not in sys.stdlib_module_names} == {
        "pytest_eagle_contract",
        "pytest_eagle_contract.fixtures",
        "pytest_eagle_contract.hookspec",
        "pytest_eagle_contract.options",
        "pytest_eagle_contract.plugin",
        "pytest_eagle_contract.settings",
        "pytest_eagle_contract.stash",
    }
    assert not HEAVY & ours
    assert "packaging" not in ours


def test_judging_bfloat16_imports_neither_torch_nor_ml_dtypes(tmp_path: Path) -> None:
    # Importing either takes longer than the run.
    assert {info.dtype for info in open_checkpoint(DRAFT).tensors.values()} >= {"BF16", "I64"}
    modules = imported(tmp_path, *options(), "--eagle-full-scan")
    assert {"numpy", "pytest_eagle_contract.contracts.scan"} <= modules
    assert not {"ml_dtypes", "torch", "transformers", "huggingface_hub"} & modules


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
