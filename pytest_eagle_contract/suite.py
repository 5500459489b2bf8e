"""The shipped contracts as pytest items."""

from __future__ import annotations

import datetime
import inspect
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_eagle_contract.assess import FILES, for_engine, judge_engine
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.catalogue import Contract
from pytest_eagle_contract.contracts.outcome import Outcome, failed
from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.engines.model import Engine
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.plugin import RUN
from pytest_eagle_contract.report.matrix import engine_row
from pytest_eagle_contract.report.text import failure_text
from pytest_eagle_contract.run import describe

FUNCTION = "eagle_map_draft_ids"


class ContractFailed(Exception):
    """Carry a failed contract's text to pytest's failure section."""


class Suite(pytest.Module):
    """Collect one item for each contract and subject."""

    def _getobj(self) -> ModuleType:
        return sys.modules[__name__]

    def collect(self) -> Iterator[pytest.Item]:
        """Yield files first, then engines, then the matrix, for each checkpoint."""
        run = self.config.stash[RUN]
        paths: list[str | None] = [*run.cases] or [None]
        extra = [c for found in self.ihook.pytest_eagle_contracts() for c in found]
        prompts = run.settings.get("prompts") is not None
        # Text to count is the user's offer; nothing is left open for those who make none.
        contracts = [c for c in (*shipped(), *extra) if prompts or "prompts" not in c.needs]
        for path in paths:
            prefix = f"{Path(path).name} " if path is not None and len(paths) > 1 else ""
            for contract in contracts:
                if contract.subject == "files":
                    yield self._item(contract, prefix + FILES, path, None)
            for engine in run.engines:
                for contract in contracts:
                    if contract.subject == "engine":
                        yield self._item(contract, prefix + engine.label, path, engine)
            for engine in run.judged:
                name = f"engines[{prefix}{engine.label}]"
                yield MatrixItem.from_parent(
                    self, name=name, callobj=engines, path=path, engine=engine
                )
        if self._overridden(FUNCTION):
            for contract in contracts:
                if contract.subject == "function":
                    yield self._item(contract, FUNCTION, None, None)

    def _item(
        self, contract: Contract, subject: str, path: str | None, engine: Engine | None
    ) -> pytest.Item:
        return ContractItem.from_parent(
            self,
            name=f"{contract.id}[{subject}]",
            callobj=contract.check,
            contract=contract,
            subject=subject,
            path=path,
            engine=engine,
        )

    def _overridden(self, fixture: str) -> bool:
        """Tell whether a conftest offers its own fixture in place of the plugin's."""
        found = self.session._fixturemanager.getfixturedefs(fixture, self)
        return found is not None and len(found) > 1


class ContractItem(pytest.Function):
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
        self.add_marker(pytest.mark.eagle_contract(contract.id, subject))
        self.extra_keyword_matches.update({contract.id, subject, *subject.split()})

    def runtest(self) -> None:
        """Check the contract; fail, skip as unverified, or skip as known."""
        wanted = inspect.signature(self.contract.check).parameters
        try:
            outcome = self.contract.check(**{name: self.funcargs[name] for name in wanted})
        except InputError as error:
            outcome = failed(str(error), "readable input", error.remedy)
        self.outcome = outcome
        self.status = str(outcome.status)
        self.user_properties += [
            ("eagle_contract", self.contract.id),
            ("eagle_subject", self.subject),
        ]
        if outcome.status == "failed":
            self._excuse()
        self.user_properties.append(("eagle_outcome", self.status))
        if self.status == "unverified":
            needs = f" (needs {', '.join(outcome.needs)})" if outcome.needs else ""
            pytest.skip(outcome.measured + needs)
        if self.status == "known":
            pytest.skip(self.known_reason)
        if self.status == "failed":
            raise ContractFailed(outcome.measured)

    def _excuse(self) -> None:
        today = datetime.date.today()
        for entry in self.config.stash[RUN].known:
            label = self.engine.label if self.engine else FILES
            if entry.matches(self.contract.id, label) and not entry.expired(today):
                self.status, self.known_reason = "known", str(entry)

    def record(self, call: pytest.CallInfo[None]) -> dict[str, Any] | None:
        """Return what reports need, as plain data; None for phases that decide nothing."""
        if call.when == "setup" and call.excinfo is not None:
            line = _line(call.excinfo)
            return self._record(failed(line, "readable input"), "failed")
        if call.when != "call":
            return None
        if self.outcome is None:
            crash = _line(call.excinfo) if call.excinfo else ""
            return self._record(
                failed(f"the contract itself crashed: {crash}", "an outcome"), "failed"
            )
        return self._record(self.outcome, self.status)

    def _record(self, outcome: Outcome, status: str) -> dict[str, Any]:
        contract = self.contract
        return {
            "id": contract.id,
            "subject": self.subject,
            "outcome": status,
            "measured": outcome.measured,
            "expected": outcome.expected or contract.promise,
            "why": contract.why,
            "fix": outcome.fix or contract.fix,
            "incident": contract.incident,
            "notes": list(outcome.notes),
            "needs": list(outcome.needs),
            "known": self.known_reason,
            "nodeid": self.nodeid,
            "repeat": repeat(self.config, contract.id),
            "checkpoint": self._summary(),
        }

    def _summary(self) -> dict[str, Any] | None:
        case = getattr(self, "funcargs", {}).get("eagle_case")
        if case is None:
            return None
        return dict(describe(self.path_given or str(case.draft.checkpoint.path), case))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Write a failed contract as a reader needs it; anything else as pytest does."""
        if isinstance(excinfo.value, ContractFailed) and self.outcome is not None:
            return failure_text(self._record(self.outcome, "failed"), self.contract.promise)
        if isinstance(excinfo.value, InputError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the contract's own place instead of pytest's call."""
        return Path(inspect.getfile(self.contract.check)), None, self.name


class MatrixItem(pytest.Function):
    """Say what one engine would do with the draft; this informs and cannot fail."""

    def __init__(self, *, path: str | None, engine: Engine, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.path_given, self.engine = path, engine
        self.row: dict[str, Any] | None = None
        self.extra_keyword_matches.update({"engines", *engine.label.split()})

    def runtest(self) -> None:
        """Judge the engine."""
        case = self.funcargs["eagle_case"]
        assert isinstance(case, Case)
        files = self.config.stash[RUN].judged_files(self.path_given, case)
        results = [*files, *judge_engine(case, self.engine)]
        self.row = engine_row(self.engine, results)

    def record(self, call: pytest.CallInfo[None]) -> dict[str, Any] | None:
        """Return the engine's row, as plain data."""
        if call.when != "call" or self.row is None:
            return None
        return {"outcome": "judged", "engine": self.row}


def engines(eagle_case: Case) -> None:
    """Give matrix items their fixture."""


def repeat(config: pytest.Config, contract: str) -> str:
    """Return the command that runs one contract of this run again."""
    args = [a for a in config.invocation_params.args if not str(a).startswith(("-n", "-q", "-v"))]
    return shlex.join(["pytest", *map(str, args), "-k", contract])


def case_of(node: pytest.Item, case: Case) -> Case:
    """Return the case as an item's engine sees it."""
    engine = getattr(node, "engine", None)
    return case if engine is None else for_engine(case, engine)


def _line(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    text = str(excinfo.value).strip()
    return text.splitlines()[0] if text else excinfo.typename
