"""Figures of the benchmarks, printed beside pytest-benchmark's own table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bench import kimi

HERE = Path(__file__).parent
FIGURES = pytest.StashKey[list[str]]()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the benchmarks out of every run that is not made for them."""
    wanted = config.getoption("benchmark_only", default=False)
    return True if HERE in collection_path.parents and not wanted else None


@pytest.fixture
def note(benchmark: Any, request: pytest.FixtureRequest) -> Callable[[str, float, float], None]:
    """Return a function that records a figure with its limit, prints it and holds it to it.

    With the clock of pytest-benchmark disabled nothing is held to a limit.
    """

    def write(name: str, measured: float, limit: float) -> None:
        benchmark.extra_info[name] = round(measured, 3)
        lines = request.config.stash.setdefault(FIGURES, [])
        lines.append(f"{name}: {measured:,.3f} (at most {limit:,.3f})")
        assert benchmark.disabled or measured <= limit, lines[-1]

    return write


@pytest.fixture(scope="session")
def draft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kimi.write_draft(tmp_path_factory.mktemp("kimi") / "draft")


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kimi.write_target(tmp_path_factory.mktemp("kimi") / "target")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = terminalreporter.config.stash.get(FIGURES, [])
    if lines:
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.write_line(line)
