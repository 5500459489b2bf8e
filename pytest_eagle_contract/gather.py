"""Gather contract records in the process that prints, and write the reports."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_eagle_contract.known import complaints
from pytest_eagle_contract.plugin import RECORD
from pytest_eagle_contract.report.markdown import markdown
from pytest_eagle_contract.report.terminal import write
from pytest_eagle_contract.report.verdict import document
from pytest_eagle_contract.run import Run


class Gather:
    """Hold the records of a run. Registered as a plugin by the controller alone."""

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self.config, self.run = config, run
        self.records: list[dict[str, Any]] = []
        self.engines: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.partial = bool(config.option.keyword or config.option.markexpr)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a contract's record, whichever process ran it."""
        record = getattr(report, RECORD, None)
        if record is None:
            return
        if "engine" in record:
            self.engines.append(record["engine"])
        else:
            self.records.append(record)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Remember that contracts were left out, so that a known failure may find no match."""
        self.partial = self.partial or bool(items)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge the known failures, and write the report files."""
        if self.config.option.collectonly:
            return
        # Workers of xdist finish in any order; reports must not depend on it.
        self.records.sort(key=_by_place)
        self.engines.sort(key=lambda e: (e["name"], e["version"], e["runner"] or ""))
        if not self.partial and exitstatus in (0, 1):
            outcomes = {(r["id"], r["subject"]): r["outcome"] for r in self.records}
            self.complaints = list(complaints(self.run.known, outcomes, datetime.date.today()))
            if self.complaints and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._write_files()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the closing section."""
        if self.records or self.engines or self.complaints:
            write(terminalreporter, self.records, self.engines, self.complaints)

    def _write_files(self) -> None:
        texts = {
            "json": lambda: (
                json.dumps(
                    document(self.records, self.engines, self.complaints),
                    indent=2,
                    ensure_ascii=False,
                )
                + "\n"
            ),
            "md": lambda: markdown(self.records, self.engines, self.complaints),
        }
        for kind, path in self.run.settings.get("report", ()):
            target = Path(path)
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(texts[kind](), encoding="utf-8")
            except OSError as error:
                raise pytest.UsageError(f"--eagle-report: {path}: {error.strerror}") from None
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary and (self.records or self.engines):
            with open(summary, "a", encoding="utf-8") as file:
                file.write(texts["md"]())


def _by_place(record: dict[str, Any]) -> tuple[bool, str]:
    return record["subject"] != "files", record["subject"]
