"""Every option: its name, its value and where the value came from (CLI > environment > ini)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

ENVIRONMENT = "EAGLE_CONTRACT_"
SEPARATOR = re.compile(r"[;\n]")
"""Between several values in one environment variable; a colon is part of `vllm:v2` and `hf://`."""

LENGTH = re.compile(r"\d{1,4}(\.\d{1,6})?")
DEVICE = re.compile(r"cpu|cuda(:\d{1,3})?")


def _text(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


@dataclass(frozen=True, slots=True)
class Option:
    """Declare one option. `repeat` collects values; `convert` refuses a bad one with ValueError.

    `path` says that the value names a file, as `FILE` or `kind=FILE`.
    """

    name: str
    metavar: str
    help: str
    repeat: bool = False
    flag: bool = False
    path: bool = False
    convert: Callable[[str], object] = _text

    @property
    def cli(self) -> str:
        """Return the command-line spelling."""
        return "--eagle-" + self.name.replace("_", "-")

    @property
    def ini(self) -> str:
        """Return the ini key."""
        return f"eagle_{self.name}"

    @property
    def ini_type(self) -> Literal["bool", "linelist", "string"]:
        """Return the type under which the ini key is registered."""
        return "bool" if self.flag else "linelist" if self.repeat else "string"

    @property
    def env(self) -> str:
        """Return the environment variable."""
        return ENVIRONMENT + self.name.upper()


def _layers(text: str) -> tuple[int, ...]:
    """Read `b:2,16,29` (boundaries) or `out:1,15,28` (layer outputs) as boundaries."""
    base, _, numbers = text.rpartition(":")
    shift = {"b": 0, "out": 1}.get(base.strip())
    if shift is None or not numbers.strip():
        raise ValueError("write b:2,16,29 for boundaries or out:1,15,28 for layer outputs")
    try:
        ids = tuple(int(part) + shift for part in numbers.split(","))
    except ValueError:
        raise ValueError("list whole numbers, as in b:2,16,29") from None
    if len(set(ids)) < len(ids):
        raise ValueError("name each layer once")
    if min(ids) < 0:
        raise ValueError("no boundary is below 0, the embedding's output")
    return ids


def _report(text: str) -> tuple[str, str]:
    kind, _, path = text.partition("=")
    if kind not in ("json", "md", "html") or not path:
        raise ValueError("write json=FILE, md=FILE or html=FILE")
    return kind, path


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ValueError("give a whole number from 1")
    return int(text)


def _length(text: str) -> float:
    if not LENGTH.fullmatch(text.strip()) or float(text) < 1:
        raise ValueError("give an accept length from 1, such as 2.5")
    return float(text)


def _device(text: str) -> str:
    if not DEVICE.fullmatch(text.strip()):
        raise ValueError("write cpu, cuda or cuda:N")
    return text.strip()


def _capabilities(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [n for n in names if n not in CAPABILITIES]
    if unknown or not names:
        raise ValueError(f"choose from {', '.join(CAPABILITIES)}")
    return names


CAPABILITIES = ("torch", "target", "engine", "gpu", "verified")

OPTIONS = (
    Option("ckpt", "PATH_OR_HF_URI", "EAGLE-3 draft checkpoint to judge", repeat=True, path=True),
    Option(
        "target",
        "PATH_OR_HF_URI",
        "the target model's directory; its config.json is enough",
        path=True,
    ),
    Option("trainer", "NAME", "who trained the draft; default: recognise it from the files"),
    Option("engine", "NAME[==VERSION][:RUNNER]", "engine that must serve the draft", repeat=True),
    Option(
        "token_map", "PATH", "mapping side file or speculative token map", repeat=True, path=True
    ),
    Option(
        "aux_layers",
        "b:IDS|out:IDS",
        "the layers trained on, when no file says so",
        convert=_layers,
    ),
    Option(
        "prompts",
        "FILE",
        "token ids of text as served, a JSON list a line, for vocabulary coverage",
        path=True,
    ),
    Option("num_steps", "K", "drafts in a chain (vLLM's num_speculative_tokens)", convert=_count),
    Option("new_tokens", "N", "tokens that the target writes for each prompt", convert=_count),
    Option(
        "min_accept_length", "X", "least accept length that each engine must reach", convert=_length
    ),
    Option("device", "cpu|cuda|cuda:N", "where draft and target run", convert=_device),
    Option(
        "require",
        "CAP[,CAP]",
        "error instead of unverified when missing",
        repeat=True,
        convert=_capabilities,
    ),
    Option("known_failures", "FILE", "TOML file of failures that are known", path=True),
    Option(
        "report",
        "json=FILE|md=FILE|html=FILE",
        "write a report",
        repeat=True,
        path=True,
        convert=_report,
    ),
    Option("max_examples", "N", "examples of each property-based contract", convert=_count),
    Option("full_scan", "", "read every weight instead of a bounded sample", flag=True),
    Option("suite", "", "add the shipped contracts to the tests given as arguments", flag=True),
)


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
    return Settings(values, sources, written)


def _require_apart(reports: Any, source: str) -> None:
    """Refuse two reports in one file, of which the second would be all that is left."""
    places = [os.path.abspath(os.path.expanduser(path)) for _, path in reports]
    twice = next((path for path in places if places.count(path) > 1), None)
    if twice is not None:
        raise pytest.UsageError(f"{source}: {twice} is named twice; give each report its own file")


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
    kind, equals, path = ini.partition("=") if option.convert is _report else ("", "", ini)
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
