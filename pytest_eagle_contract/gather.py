"""Gather contract records in the process that prints, and write the reports."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_eagle_contract.contracts.result import FILES
from pytest_eagle_contract.known import complaints
from pytest_eagle_contract.report.html import page
from pytest_eagle_contract.report.markdown import markdown
from pytest_eagle_contract.report.matrix import engine_row, recorded
from pytest_eagle_contract.report.terminal import write
from pytest_eagle_contract.report.text import Block, Crash
from pytest_eagle_contract.report.verdict import document, verdict
from pytest_eagle_contract.run import Run
from pytest_eagle_contract.stash import RECORD

PARTIAL, REFUSAL = "eagle_partial", "eagle_refusal"
FINISHED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


class Gather:
    """Hold the records of a run.

    Under xdist the controller gathers, and a worker only tells it that tests were left out.
    """

    def __init__(self, config: pytest.Config, run: Run) -> None:
        self.config, self.run = config, run
        self.records: list[dict[str, Any]] = []
        self.engines: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.errors: list[str] = []
        self.lost = False
        self.partial = bool(config.option.keyword or config.option.markexpr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a contract's record, whichever process ran it."""
        record = getattr(report, RECORD, None)
        if record is None:
            return
        if isinstance(report.longrepr, str):
            block: Any = Block(report.longrepr, Crash(record["measured"]))
            report.longrepr = block
        if "engine" in record:
            self.engines.append(record["engine"])
        else:
            self.records.append(record)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Remember that contracts were left out, so that a known failure may find no match."""
        self.partial = self.partial or bool(items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Hear from a worker of xdist whether it left tests out or could not start."""
        told = getattr(node, "workeroutput", {})
        self.partial = self.partial or told.get(PARTIAL, False)
        self.run.refusal = self.run.refusal or told.get(REFUSAL, "")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge the known failures, and write the report files of a run that came to its end."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput |= {PARTIAL: self.partial, REFUSAL: self.run.refusal}
            return
        if self.run.refusal and exitstatus != pytest.ExitCode.USAGE_ERROR:
            self.errors.append(self.run.refusal)
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        if self.config.option.collectonly or exitstatus not in FINISHED:
            return
        # Workers of xdist finish in any order; reports must not depend on it.
        self.records.sort(key=lambda r: r["place"])
        self.engines.sort(key=lambda e: e["place"])
        self._unite()
        stopped_early = session.shouldfail or session.shouldstop
        if self.records and not self.partial and not stopped_early:
            outcomes = [(r["id"], r["on"], r["outcome"]) for r in self.records]
            self.complaints = list(complaints(self.run.known, outcomes, datetime.date.today()))
        self._write_files()
        if session.exitstatus == pytest.ExitCode.OK:
            if self.lost:
                session.exitstatus = pytest.ExitCode.USAGE_ERROR
            elif self.complaints or self._lacks_verdict():
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _unite(self) -> None:
        """Take a fixture's draft for one, though each worker of xdist exported it anew."""
        mine = [r for r in self.records if not r["given"] and r["checkpoint"]]
        rows = [row for row in self.engines if not row["given"]]
        for record in mine:
            record["checkpoint"] = mine[0]["checkpoint"]
        place = mine[0]["checkpoint"]["path"] if mine else rows[0]["checkpoint"] if rows else ""
        for row in rows:
            row |= {"checkpoint": place, "label": place}

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        """Write the closing section."""
        if exitstatus in FINISHED and (self.records or self.engines):
            write(terminalreporter, self.records, self.engines, self.complaints)
        if self.partial and self.records:
            terminalreporter.write_line("note: contracts were left out, the verdict is of the rest")
        for line in dict.fromkeys(self.run.notes):
            terminalreporter.write_line(f"note: {line}")
        for line in self.errors:
            terminalreporter.write_line(f"ERROR: {line}", red=True)

    def _lacks_verdict(self) -> bool:
        """Tell whether a verdict was required and is open."""
        required = {name for names in self.run.settings.get("require", ()) for name in names}
        found = verdict(self.records, self.complaints) if self.records else ""
        if "verified" not in required or found != "unverified":
            return False
        self.errors.append("--eagle-require=verified: the verdict is UNVERIFIED")
        return True

    def _write_files(self) -> None:
        for kind, path in self.run.settings.get("report", ()):
            if not self._write(path, self._text(kind), "w", "--eagle-report"):
                self.lost = True
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary and (self.records or self.engines):
            self._write(summary, self._text("md"), "a", "GITHUB_STEP_SUMMARY")

    def _text(self, kind: str) -> str:
        pages = {"md": markdown, "html": page}
        if kind in pages:
            return pages[kind](self.records, self.engines, self.complaints)
        data = document(self.records, self.engines or self._held(), self.complaints)
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

    def _held(self) -> Iterator[dict[str, Any]]:
        """Sum up the engines that were named, from the records of their contracts."""
        paths = dict.fromkeys(r["checkpoint"]["path"] for r in self.records if r["checkpoint"])
        for path in paths:
            mine = [r for r in self.records if r["checkpoint"] and r["checkpoint"]["path"] == path]
            for engine in self.run.engines:
                seen = [recorded(r) for r in mine if r["on"] in (FILES, engine.label)]
                yield engine_row(engine, seen) | {"checkpoint": path}

    def _write(self, path: str, text: str, mode: Literal["w", "a"], source: str) -> bool:
        target = Path(path).expanduser()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # A file name that is no text becomes \udc80, which JSON reads back as the same name.
            with target.open(mode, encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            return True
        except (OSError, RuntimeError) as error:
            self.errors.append(f"{source}: {path}: {getattr(error, 'strerror', error)}")
            return False
