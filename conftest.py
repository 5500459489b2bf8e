"""What the project's own tests share: pytester, and no option leaking in from outside."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

for _name in (
    "hypothesis.strategies",
    "pytest_eagle_contract.gather",
    "pytest_eagle_contract.mapping_fuzz",
    "pytest_eagle_contract.suite",
):
    # Pytester forgets modules that an inner run imports first. The packages that hold them remember
    # them, and the next inner run would mix two generations of one class.
    importlib.import_module(_name)

pytest_plugins = ("pytester",)

FIXTURES = Path(__file__).parent / "fixtures"


def pytest_report_header() -> list[str]:
    """Say what is left out, so that a short run does not look like a whole one."""
    return [
        f"{folder}: not collected, {name} is not set (tox -e exports runs them)"
        for folder, name in (("exports", "EAGLE_EXPORTS"), ("numeric", "EAGLE_NUMERIC"))
        if not os.environ.get(name)
    ]


@pytest.fixture(autouse=True)
def no_outside_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the caller's own options: they would change every inner run."""
    for name in [n for n in os.environ if n.startswith("EAGLE_CONTRACT_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


@pytest.fixture(scope="session")
def good() -> Path:
    """Return the folder of good checkpoints, one for each trainer's layout."""
    return FIXTURES / "good"


@pytest.fixture(scope="session")
def targets() -> Path:
    """Return the folder of target configs."""
    return FIXTURES / "targets"
