"""One item for each contract and subject, and one for each engine of the matrix."""

from __future__ import annotations

import datetime
import inspect
from pathlib import Path
from typing import Any

import pytest

from pytest_eagle_contract.assess import for_engine, judge_engine
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.catalogue import Contract
from pytest_eagle_contract.contracts.outcome import Outcome, failed, unverified
from pytest_eagle_contract.contracts.result import FILES
from pytest_eagle_contract.engines.model import Engine
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.report.command import repeat
from pytest_eagle_contract.report.matrix import engine_row, finding
from pytest_eagle_contract.report.text import failure_text
from pytest_eagle_contract.stash import RUN


class ContractFailed(Exception):
    """Carry a failed contract's text to pytest's failure section."""


class Item(pytest.Function):
    """Judge one draft: the one at `path_given`, or what a conftest's fixture returns."""

    path_given: str | None

    def setup(self) -> None:
        """Prepare the fixtures; a conftest that gives no draft is not asked again."""
        run = self.config.stash[RUN]
        asks = self.path_given is None and "eagle_case" in self.fixturenames
        if asks and run.unreadable:
            pytest.skip(f"there is no draft: {run.unreadable}")
        try:
            super().setup()
        except Exception as error:
            if asks and "eagle_case" not in self.funcargs:
                run.unreadable = _first_line(error)
            raise


class ContractItem(Item):
    """Run one contract on one subject and report its outcome."""

    def __init__(
        self,
        *,
        contract: Contract,
        subject: str,
        path: str | None,
        engine: Engine | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.contract, self.subject, self.path_given, self.engine = contract, subject, path, engine
        self.outcome: Outcome | None = None
        self.status: str = ""
        self.known_reason = ""
        self.place = 0
        self.user_properties += [("eagle_contract", contract.id), ("eagle_subject", subject)]
        self.add_marker(pytest.mark.eagle_contract(contract.id, subject))
        self.extra_keyword_matches.update({contract.id, subject, *subject.split()})

    def runtest(self) -> None:
        """Check the contract; fail, skip as unverified, or skip as known."""
        wanted = inspect.signature(self.contract.check).parameters
        try:
            outcome = self.contract.check(**{name: self.funcargs[name] for name in wanted})
        except InputError as error:
            outcome = failed(str(error), "readable input", error.remedy)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"{self.contract.id} returned {outcome!r:.80}, which is no Outcome")
        self.outcome = outcome
        self.status = str(outcome.status)
        if outcome.status == "failed":
            self._excuse()
        self.user_properties.append(("eagle_outcome", self.status))
        if self.status == "unverified":
            needs = " or ".join(need.how for need in outcome.needs)
            pytest.skip(outcome.measured + (f" (needs {needs})" if needs else ""))
        if self.status == "known":
            pytest.skip(self.known_reason)
        if self.status == "failed":
            raise ContractFailed(outcome.measured)

    def _excuse(self) -> None:
        today = datetime.date.today()
        for entry in self.config.stash[RUN].known:
            if entry.matches(self.contract.id, self._judged_on) and not entry.expired(today):
                self.status, self.known_reason = "known", entry.why

    @property
    def _judged_on(self) -> str:
        """Return the subject as known failures name it, whichever checkpoint it is."""
        return self.engine.label if self.engine else FILES

    def eagle_record(self, call: pytest.CallInfo[None]) -> dict[str, Any] | None:
        """Return what reports need, as plain data; None for phases that decide nothing."""
        if self.outcome is None and call.excinfo is not None and call.when in ("setup", "call"):
            outcome = self._without_outcome(call.excinfo, call.when)
            self.user_properties.append(("eagle_outcome", outcome.status))
            return self._record(outcome, outcome.status)
        if call.when != "call" or self.outcome is None:
            return None
        return self._record(self.outcome, self.status)

    def _without_outcome(self, excinfo: pytest.ExceptionInfo[BaseException], when: str) -> Outcome:
        """Return what pytest will make of a contract that came to no outcome of its own."""
        line = _first_line(excinfo.value)
        if isinstance(excinfo.value, pytest.skip.Exception):
            return unverified(line)
        if when == "setup":
            return failed(line, "readable input")
        return failed(f"the contract itself crashed: {line}", "an outcome")

    def _record(self, outcome: Outcome, status: str) -> dict[str, Any]:
        contract = self.contract
        return {
            "id": contract.id,
            "subject": self.subject,
            "on": self._judged_on,
            "place": self.place,
            "outcome": status,
            "loud": outcome.loud,
            "measured": outcome.measured,
            "expected": outcome.expected or contract.promise,
            "why": contract.why,
            "fix": outcome.fix or contract.fix,
            "incident": contract.incident,
            "notes": list(outcome.notes),
            "needs": [need.name for need in outcome.needs],
            "decided_by": [need.how for need in outcome.needs],
            "blocked_by": list(outcome.blocked_by),
            "undecided": outcome.undecided,
            "data": outcome.data,
            "reaches_engines": contract.reaches_engines,
            "known": self.known_reason,
            "nodeid": self.nodeid,
            "repeat": repeat(map(str, self.config.invocation_params.args), contract.id),
            "checkpoint": self._summary(),
            "given": self.path_given is not None,
        }

    def _summary(self) -> dict[str, Any] | None:
        case = getattr(self, "funcargs", {}).get("eagle_case")
        if case is None:
            return None
        path = self.path_given or str(case.draft.checkpoint.path)
        return self.config.stash[RUN].summary(path, case)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Write a failed contract as a reader needs it; anything else as pytest does."""
        if isinstance(excinfo.value, ContractFailed) and self.outcome is not None:
            return failure_text(self._record(self.outcome, "failed"), self.contract.promise)
        if isinstance(excinfo.value, InputError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the contract's own place instead of pytest's call.

        Pytest writes the dot of a name that ends the node id as `::`; the space keeps it.
        """
        title = f"{self.contract.id} [{self.subject}]"
        line = inspect.unwrap(self.contract.check).__code__.co_firstlineno - 1
        return Path(inspect.getfile(self.contract.check)), line, title


class MatrixItem(Item):
    """Say what one engine would do with the draft; this informs and cannot fail."""

    def __init__(self, *, path: str | None, engine: Engine, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.path_given, self.engine = path, engine
        self.row: dict[str, Any] | None = None
        self.place = 0
        self.extra_keyword_matches.update({"engines", *engine.label.split()})

    def runtest(self) -> None:
        """Judge the engine."""
        case = self.funcargs["eagle_case"]
        assert isinstance(case, Case)
        run = self.config.stash[RUN]
        files = run.judged_files(self.path_given, case)
        path = self.path_given or str(case.draft.checkpoint.path)
        results = [*files, *judge_engine(case, self.engine)]
        self.row = engine_row(self.engine, map(finding, results)) | {
            "checkpoint": path,
            "label": run.labels.get(path, path),
            "place": self.place,
            "given": self.path_given is not None,
        }

    def eagle_record(self, call: pytest.CallInfo[None]) -> dict[str, Any] | None:
        """Return the engine's row, as plain data."""
        if call.when != "call" or self.row is None:
            return None
        return {"outcome": "judged", "engine": self.row}


def engines(eagle_case: Case) -> None:
    """Give matrix items their fixture."""


def case_of(node: pytest.Item, case: Case) -> Case:
    """Return the case as an item's engine sees it."""
    engine = getattr(node, "engine", None)
    return case if engine is None else for_engine(case, engine)


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
