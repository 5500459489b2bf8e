"""Every option: its name, what it takes, and how its text is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

ENVIRONMENT = "EAGLE_CONTRACT_"
LENGTH = re.compile(r"\d{1,4}(\.\d{1,6})?")
SHARE = re.compile(r"[01](\.\d{1,6})?")
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


def report(text: str) -> tuple[str, str]:
    """Read `kind=FILE`; ValueError for anything else."""
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


def _shares(text: str) -> tuple[float, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(SHARE.fullmatch(part) and float(part) <= 1 for part in parts):
        raise ValueError("give a share from 0 to 1 for each place, such as 0.7,0.5,0.3")
    return tuple(map(float, parts))


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


STEPS = 3
"""Drafts in a chain where --eagle-num-steps does not say."""

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
    Option(
        "min_acceptance",
        "X1[,X2…]",
        "least share of verify steps that must accept each place of the chain",
        convert=_shares,
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
        convert=report,
    ),
    Option("max_examples", "N", "examples of each property-based contract", convert=_count),
    Option("full_scan", "", "read every weight instead of a bounded sample", flag=True),
    Option("suite", "", "add the shipped contracts to the tests given as arguments", flag=True),
)
