"""The value of every option and where it came from (CLI > environment > ini)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_eagle_contract.options import ENVIRONMENT, OPTIONS, STEPS, Option, report

SEPARATOR = re.compile(r"[;\n]")
"""Between several values in one environment variable; a colon is part of `vllm:v2` and `hf://`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Hold the value of every option that was given, where it came from, and how it was written."""

    values: Mapping[str, Any]
    sources: Mapping[str, str]
    written: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.values)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an option's value, `default` where it was not given."""
        return self.values.get(name, default)


def add_options(parser: pytest.Parser) -> None:
    """Add every option in one group, with its ini key."""
    group = parser.getgroup("eagle", "EAGLE-3 contracts")
    for option in OPTIONS:
        dest = f"eagle_{option.name}"
        if option.flag:
            group.addoption(
                option.cli, dest=dest, action="store_true", default=None, help=option.help
            )
        else:
            action = "append" if option.repeat else "store"
            group.addoption(
                option.cli, dest=dest, action=action, metavar=option.metavar, help=option.help
            )
        parser.addini(option.ini, option.help, type=option.ini_type, default=None)


def read_settings(config: pytest.Config) -> Settings:
    """Read all options; a value that cannot be used raises UsageError with the option's name."""
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    written: dict[str, str] = {}
    for option in OPTIONS:
        found = _given(option, config)
        if found is None:
            continue
        raw, source = found
        values[option.name] = _converted(option, raw, source)
        sources[option.name] = source
        written[option.name] = ", ".join(map(str, raw)) if isinstance(raw, list) else str(raw)
    _require_apart(values.get("report", ()), sources.get("report", ""))
    _require_places(values, sources)
    return Settings(values, sources, written)


def _require_apart(reports: Any, source: str) -> None:
    """Refuse two reports in one file, of which the second would be all that is left."""
    places = [os.path.abspath(os.path.expanduser(path)) for _, path in reports]
    twice = next((path for path in places if places.count(path) > 1), None)
    if twice is not None:
        raise pytest.UsageError(f"{source}: {twice} is named twice; give each report its own file")


def _require_places(values: Mapping[str, Any], sources: Mapping[str, str]) -> None:
    """Refuse a floor for a place that no chain has, which would never be held to."""
    wanted, steps = len(values.get("min_acceptance", ())), values.get("num_steps", STEPS)
    if wanted > steps:
        raise pytest.UsageError(
            f"{sources['min_acceptance']}: names {wanted} places, and a chain has {steps}; "
            "name fewer, or give --eagle-num-steps"
        )


def is_typed(config: pytest.Config, name: str) -> bool:
    """Tell whether an option was typed for this run, instead of set for all in ini or environment.

    What `addopts` holds looks like the command line to everyone else.
    """
    option = next(option for option in OPTIONS if option.name == name)
    written = [str(argument) for argument in config.invocation_params.args]
    typed = any(a.partition("=")[0] == option.cli or a.startswith("@") for a in written)
    return typed and config.getoption(f"eagle_{name}") is not None


def unknown_variables() -> list[str]:
    """Return environment variables that look like options of ours and are none."""
    known = {option.env for option in OPTIONS}
    return sorted(n for n in os.environ if n.startswith(ENVIRONMENT) and n not in known)


def _given(option: Option, config: pytest.Config) -> tuple[Any, str] | None:
    cli = config.getoption(f"eagle_{option.name}")
    if cli is not None:
        return cli, option.cli
    env = os.environ.get(option.env)
    if env and env.strip():
        values = [part.strip() for part in SEPARATOR.split(env) if part.strip()]
        return (values if option.repeat else env), option.env
    source = f"{option.ini} in {config.inipath.name if config.inipath else 'ini'}"
    try:
        ini = config.getini(option.ini)
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise pytest.UsageError(f"{source}: {error}") from None
    if not ini or config.inipath is None:
        return (ini, source) if ini else None
    return _beside(option, ini, config.inipath.parent), source


def _beside(option: Option, ini: Any, directory: Path) -> Any:
    """Take the relative paths of an ini file from where it lies, as pytest does with its own."""
    if not option.path:
        return ini
    if isinstance(ini, list):
        return [_beside(option, value, directory) for value in ini]
    kind, equals, path = ini.partition("=") if option.convert is report else ("", "", ini)
    if not path or "://" in path or path.startswith("~"):
        return ini
    return f"{kind}{equals}{directory / path}"


def _converted(option: Option, raw: Any, source: str) -> object:
    if option.flag:
        return _truth(raw, source)
    given = raw if isinstance(raw, list) else [raw]
    try:
        converted = tuple(option.convert(str(value)) for value in given)
    except ValueError as error:
        shown = ", ".join(map(str, given))
        raise pytest.UsageError(f"{source}: {shown!r} cannot be used: {error}") from None
    return converted if option.repeat else converted[0]


def _truth(raw: object, source: str) -> bool:
    if isinstance(raw, bool):
        return raw
    word = str(raw).lower()
    if word not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        raise pytest.UsageError(f"{source}: {raw!r} cannot be used: write true or false")
    return word in ("1", "true", "yes", "on")
