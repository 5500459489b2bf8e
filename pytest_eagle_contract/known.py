"""Failures that a team knows of: a TOML file with reasons and dates, never a silent list."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from pytest_eagle_contract.checkpoint.files import read_bounded
from pytest_eagle_contract.contracts.catalogue import ID
from pytest_eagle_contract.engines.registry import PROFILES
from pytest_eagle_contract.errors import InputError, one_line

MAX_BYTES = 1024 * 1024
KEYS = frozenset({"contract", "engine", "reason", "issue", "expires"})
ENGINE = re.compile(r"(?P<name>[a-z][a-z0-9.-]*)\s*(?P<versions>[<>=!~].*)?")
NAMES = frozenset(profile.name for profile in PROFILES)
REMEDY = "write [[known]] tables with contract, reason, and optionally engine, issue, expires"


@dataclass(frozen=True, slots=True)
class Known:
    """State one known failure. `engine` is a name with an optional version specifier."""

    contract: str
    reason: str
    engine: str = ""
    issue: str = ""
    expires: datetime.date | None = None

    def matches(self, contract: str, subject: str) -> bool:
        """Tell whether this entry speaks of a contract on a subject (`sglang 0.5.23`, `files`)."""
        return contract == self.contract and _names(self.engine, subject)

    def expired(self, today: datetime.date) -> bool:
        """Tell whether the date has passed; the entry then excuses nothing."""
        return self.expires is not None and today > self.expires

    @property
    def why(self) -> str:
        """Return the reason and the issue, in one line."""
        return one_line(f"{self.reason}; {self.issue}" if self.issue else self.reason)

    def __str__(self) -> str:
        where = f" on {self.engine}" if self.engine else ""
        return f"{self.contract}{where} ({self.why})"


def read_known(path: str | None) -> tuple[Known, ...]:
    """Read a known-failures file; anything malformed raises InputError."""
    if path is None:
        return ()
    file = Path(path)
    try:
        data = tomllib.loads(read_bounded(file, MAX_BYTES).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(file, "", f"is not TOML: {error}", REMEDY) from None
    entries = data.get("known", [])
    if not isinstance(entries, list) or set(data) - {"known"}:
        raise InputError(file, "", "holds something else than [[known]]", REMEDY)
    return tuple(_entry(file, number, entry) for number, entry in enumerate(entries, 1))


def complaints(
    known: Iterable[Known], outcomes: Sequence[tuple[str, str, str]], today: datetime.date
) -> Iterator[str]:
    """Yield what is wrong with entries after a full run: expired, unmatched or stale ones.

    `outcomes` are (contract, subject, outcome), the subject without the checkpoint's name.
    """
    for entry in known:
        mine = [o for c, s, o in outcomes if entry.matches(c, s)]
        if entry.expired(today):
            yield f"expired on {entry.expires}: {entry}"
        elif not mine and _judged(entry, outcomes):
            yield f"matches no contract of this run: {entry}"
        elif mine and set(mine) == {"passed"}:
            yield f"stale, it no longer fails: {entry}"


def _judged(entry: Known, outcomes: Sequence[tuple[str, str, str]]) -> bool:
    """Tell whether a run judged an engine that the entry names; one file may serve several jobs."""
    return not entry.engine or any(_names(entry.engine, s) for _, s, _ in outcomes)


def _names(engine: str, subject: str) -> bool:
    if not engine:
        return True
    match = ENGINE.fullmatch(engine)
    name, version = (*subject.split(), "")[:2]
    if match is None or match["name"] != name:
        return False
    return not match["versions"] or SpecifierSet(match["versions"]).contains(
        version, prereleases=True
    )


def _entry(file: Path, number: int, entry: Any) -> Known:
    field = f"known[{number}]"
    if not isinstance(entry, dict) or set(entry) - KEYS:
        raise InputError(file, field, "holds unknown keys", REMEDY)
    for key in ("contract", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(file, f"{field}.{key}", "is missing", REMEDY)
    if not ID.match(entry["contract"]):
        raise InputError(
            file, f"{field}.contract", f"{entry['contract']!r} is no contract id", REMEDY
        )
    _require_engine(file, f"{field}.engine", entry.get("engine", ""))
    expires = entry.get("expires")
    if expires is not None and type(expires) is not datetime.date:
        raise InputError(file, f"{field}.expires", "is no date", "write expires = 2027-01-31")
    return Known(
        entry["contract"],
        entry["reason"],
        str(entry.get("engine", "")),
        str(entry.get("issue", "")),
        expires,
    )


def _require_engine(file: Path, field: str, engine: object) -> None:
    match = ENGINE.fullmatch(engine) if isinstance(engine, str) else None
    try:
        SpecifierSet((match and match["versions"]) or "")
    except InvalidSpecifier:
        match = None
    if engine and (match is None or match["name"] not in NAMES):
        raise InputError(file, field, f"{engine!r} names no engine", "write sglang or vllm>=0.30")
