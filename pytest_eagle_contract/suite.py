"""The shipped contracts as pytest items."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from types import ModuleType

import pytest

from pytest_eagle_contract.contracts.catalogue import Contract
from pytest_eagle_contract.contracts.result import FILES
from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.engines.model import Engine
from pytest_eagle_contract.items import ContractItem, MatrixItem, engines
from pytest_eagle_contract.stash import RUN

NAME = "eagle-contract"
CHECKPOINT = "eagle_checkpoint"
FUNCTION = "eagle_map_draft_ids"


class Here(pytest.Directory):
    """Stand for a directory whose tests are left alone, so that its conftest's fixtures count."""

    def collect(self) -> list[pytest.Collector]:
        """Collect nothing."""
        return []


class Suite(pytest.Module):
    """Collect one item for each contract and subject."""

    @classmethod
    def beside(cls, session: pytest.Session, items: Sequence[pytest.Item]) -> Suite:
        """Return the suite, within sight of the fixtures that all collected tests share."""
        parent = _shared(session, items) if items else _here(session)
        # The path decides which conftest's hooks the contracts run under: those of the tests.
        suite: Suite = cls.from_parent(parent, name=NAME, path=parent.path, nodeid=NAME)
        return suite

    def _getobj(self) -> ModuleType:
        return sys.modules[__name__]

    def items(self) -> list[pytest.Item]:
        """Return every item; contracts that cannot be run raise UsageError."""
        try:
            return self._numbered()
        except pytest.UsageError as error:
            # Workers of xdist raise this where nobody reads it.
            self.config.stash[RUN].refusal = str(error)
            raise

    def _numbered(self) -> list[pytest.Item]:
        self._require_sound(self._extra())
        if len(self.config.stash[RUN].labels) > 1 and self._overridden(CHECKPOINT):
            raise pytest.UsageError(
                f"--eagle-ckpt: several drafts are given, and a conftest.py overrides {CHECKPOINT} "
                "with one of its own: give none"
            )
        found = list(self.session.genitems(self))
        if not found:
            raise pytest.UsageError(
                f"no draft: give --eagle-ckpt or override the fixture {CHECKPOINT} in the "
                "conftest.py of the directory where pytest runs"
            )
        for place, item in enumerate(found):
            assert isinstance(item, (ContractItem, MatrixItem))
            item.place = place
            if hasattr(item, "id"):
                # Pytest 9.2 compares ids in parts (--lf), and only parsing parts name and subject.
                item._id = type(item.id).parse(item.nodeid)
            if len(self.config.stash[RUN].labels) > 1 and CHECKPOINT in item.fixturenames:
                raise pytest.UsageError(
                    f"contract {item.name} takes fixtures of one draft, and several are given: "
                    "let it take eagle_case"
                )
        return found

    def collect(self) -> Iterator[pytest.Item]:
        """Yield files first, then engines, then the matrix, for each checkpoint."""
        run = self.config.stash[RUN]
        # A conftest's own draft is judged in place of the one given, as pytest's users expect.
        paths: list[str | None] = [None] if self._overridden(CHECKPOINT) else [*run.labels]
        if run.labels and paths == [None]:
            run.notes += (f"a conftest's {CHECKPOINT} is judged, not --eagle-ckpt",)
        # Text and thresholds are the user's offer; nothing is left open for those who make none.
        contracts = [
            c
            for c in (*shipped(), *self._extra())
            if c.wanted(lambda option: run.settings.get(option) is not None)
        ]
        for path in paths:
            prefix = f"{run.labels[path]} " if path is not None and len(paths) > 1 else ""
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

    def _extra(self) -> list[Contract]:
        return [c for found in self.ihook.pytest_eagle_contracts() for c in found]

    def _require_sound(self, extra: Sequence[Contract]) -> None:
        for given in extra:
            if not isinstance(given, Contract):
                raise pytest.UsageError(
                    f"pytest_eagle_contracts returned {given!r:.80}, which is no contract: "
                    "make it with contracts.catalogue.contract"
                )
        counts = Counter((c.id, c.subject) for c in (*shipped(), *extra))
        for (id, subject), count in counts.items():
            if count > 1:
                raise pytest.UsageError(
                    f"pytest_eagle_contracts: {id} on {subject} is declared {count} times; "
                    "one id is one promise"
                )

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


def _shared(session: pytest.Session, items: Sequence[pytest.Item]) -> pytest.Collector:
    """Return the deepest directory that holds every item."""
    chains = [
        [n for n in item.listchain() if isinstance(n, (pytest.Session, pytest.Directory))]
        for item in items
    ]
    parent: pytest.Collector = session
    for level in zip(*chains, strict=False):
        if len(set(level)) > 1:
            break
        parent = level[0]
    return parent


def _here(session: pytest.Session) -> pytest.Collector:
    """Return the directory where pytest runs, below those from the root directory on.

    Pytest reads the fixtures of a directory's conftest when it reports what the directory holds.
    """
    root, here = session.config.rootpath, session.config.invocation_params.dir
    parent: pytest.Collector = session
    if here.is_relative_to(root):
        depth = len(here.relative_to(root).parts)
        for path in reversed([here, *here.parents][: depth + 1]):
            parent = Here.from_parent(parent, path=path)
            session.ihook.pytest_make_collect_report(collector=parent)
    return parent
