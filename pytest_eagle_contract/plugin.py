"""The pytest hooks. Imports pytest and the standard library only; everything else is lazy."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_eagle_contract.settings import add_options, is_typed, read_settings
from pytest_eagle_contract.stash import RECORD, RUN, SETTINGS

pytest_plugins = ("pytest_eagle_contract.fixtures",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the `--eagle-*` options."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Offer the hooks of hookspec.py to third parties."""
    from pytest_eagle_contract import hookspec

    pluginmanager.add_hookspecs(hookspec)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings; a draft that was typed without test paths is judged and nothing else."""
    config.addinivalue_line(
        "markers", "eagle_contract(id, subject): an EAGLE-3 contract; select with -m eagle_contract"
    )
    config.stash[SETTINGS] = read_settings(config)
    if not _paths_typed(config) and any(is_typed(config, n) for n in ("ckpt", "suite")):
        config.args = []


def _paths_typed(config: pytest.Config) -> bool:
    return config.args_source is pytest.Config.ArgsSource.ARGS


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Open the checkpoints, so that unusable input stops the run with one line and exit code 4."""
    config = session.config
    if config.stash[SETTINGS]:
        from pytest_eagle_contract.gather import Gather
        from pytest_eagle_contract.run import start

        config.stash[RUN] = start(config.stash[SETTINGS], fetch=not config.option.collectonly)
        config.pluginmanager.register(Gather(config, config.stash[RUN]), "eagle_contract_gather")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put the shipped contracts before the collected tests, in time for -k and -m."""
    settings = config.stash[SETTINGS]
    judges = settings.get("suite") or (settings.get("ckpt") and not _paths_typed(config))
    if RUN in config.stash and judges:
        from pytest_eagle_contract.suite import Suite

        items[:0] = Suite.beside(session, items).items()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that use `eagle_checkpoint` or `eagle_case` once for each checkpoint given."""
    run = metafunc.config.stash.get(RUN, None)
    if run is None or len(run.labels) < 2:
        return
    names = ("eagle_checkpoint", "eagle_case")
    used = next((name for name in names if name in metafunc.fixturenames), None)
    if used is not None and _takes_paths(metafunc):
        metafunc.parametrize(used, [*run.labels], indirect=True, ids=run.labels.get)


def _takes_paths(metafunc: pytest.Metafunc) -> bool:
    """Tell whether the checkpoint's fixture can hear of a path: a conftest's own may not ask."""
    node = metafunc.definition
    found = node.session._fixturemanager.getfixturedefs("eagle_checkpoint", node) or ()
    return any(
        {"request", "eagle_checkpoint"} & {*definition.argnames} for definition in found[-1:]
    )


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Show every option that was given, with its source."""
    settings = config.stash[SETTINGS]
    lines = [
        f"eagle: {name} = {text} ({settings.sources[name]})"
        for name, text in settings.written.items()
    ]
    if settings and not (settings.get("ckpt") or settings.get("suite")):
        lines.append("eagle: no contract is checked: give --eagle-ckpt, or --eagle-suite")
    return lines


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put a contract's record on its report, as plain data that survives xdist."""
    report = yield
    recorder = getattr(item, RECORD, None)
    if recorder is not None:
        from pytest_eagle_contract.errors import InputError

        record = recorder(call)
        if record is not None:
            setattr(report, RECORD, record)
        if call.excinfo is not None and isinstance(call.excinfo.value, InputError):
            report.longrepr = str(call.excinfo.value)  # of a fixture: one line, no traceback
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Show unverified, known and matrix outcomes as what they are, never as a pass or a skip."""
    record: dict[str, Any] | None = getattr(report, RECORD, None)
    return None if record is None else WORDS.get(record["outcome"])


WORDS = {
    "unverified": ("unverified", "u", "UNVERIFIED"),
    "known": ("known", "k", "KNOWN"),
    "judged": ("judged", "j", "JUDGED"),
}
