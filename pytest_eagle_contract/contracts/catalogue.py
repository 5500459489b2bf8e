"""Contracts as data: an id, what it promises, and the function that checks it.

The docstring of a check is the contract's text: the promise first, then the sections Why,
Incident, Fix and Since. Reports and documentation print it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from pytest_eagle_contract.contracts.outcome import Outcome

Subject = Literal["files", "engine", "function"]
Check = Callable[..., Outcome]
FAMILIES = ("mapping", "layers", "checkpoint", "forward", "acceptance")
ID = re.compile(r"^[a-z]+\.[a-z][a-z0-9-]*$")
SECTION = re.compile(r"^(Why|Incident|Fix|Since): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Contract:
    """Describe one contract.

    `subject` says what it is checked on: the checkpoint's files, each engine, or a mapping
    function. `check` takes fixtures by name and returns an Outcome. `reaches_engines` is false for
    files that no engine reads, or where each engine's own contract says what follows. `needs` are
    options without which it is not collected, and `torch` where it runs the draft; of
    `needs_one_of` one is enough.
    """

    id: str
    subject: Subject
    check: Check
    promise: str
    why: str
    incident: str
    fix: str
    since: str
    needs: tuple[str, ...] = ()
    needs_one_of: tuple[str, ...] = ()
    reaches_engines: bool = True

    def wanted(self, given: Callable[[str], bool]) -> bool:
        """Tell whether the options given call for it."""
        one = not self.needs_one_of or any(map(given, self.needs_one_of))
        return one and all(given(need) for need in self.needs if need != "torch")

    @property
    def static(self) -> bool:
        """Tell whether the files decide it, so that nothing is run."""
        return "torch" not in self.needs

    @property
    def family(self) -> str:
        """Return the part of the id before the dot."""
        return self.id.split(".", 1)[0]


def contract(
    id: str,
    *,
    subject: Subject = "files",
    needs: tuple[str, ...] = (),
    needs_one_of: tuple[str, ...] = (),
    reaches_engines: bool = True,
) -> Callable[[Check], Contract]:
    """Make a contract of a check function; its docstring must hold every section."""
    if not ID.match(id) or id.split(".", 1)[0] not in FAMILIES:
        raise ValueError(
            f"{id!r} is not a contract id: use one of {', '.join(FAMILIES)}, a dot, a name"
        )

    def register(check: Check) -> Contract:
        text = _sections(check.__doc__ or "", id)
        return Contract(
            id,
            subject,
            check,
            text["Promise"],
            text["Why"],
            text["Incident"],
            text["Fix"],
            text["Since"],
            needs,
            needs_one_of,
            reaches_engines,
        )

    return register


def contracts_in(module: ModuleType) -> Iterator[Contract]:
    """Yield a module's contracts in the order in which they are written."""
    for value in vars(module).values():
        if isinstance(value, Contract):
            yield value


def _sections(docstring: str, id: str) -> dict[str, str]:
    plain = "\n".join(line.strip() for line in docstring.strip().splitlines())
    promise, *rest = SECTION.split(plain)
    found = {"Promise": promise, **dict(zip(rest[::2], rest[1::2], strict=True))}
    missing = {"Why", "Incident", "Fix", "Since"} - set(found)
    if missing or not promise.strip():
        raise ValueError(
            f"contract {id}: the docstring lacks {', '.join(sorted(missing)) or 'a promise'}"
        )
    return {name: " ".join(text.split()) for name, text in found.items()}
