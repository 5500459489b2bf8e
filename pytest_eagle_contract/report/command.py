"""Write the command that repeats one contract of a run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

LOUDNESS = re.compile(r"-[qv]+|--quiet|--verbose|-[nk].+")
TAKES_VALUE = frozenset(
    {
        "-n",
        "-k",
        "--numprocesses",
        "--maxprocesses",
        "--dist",
        "--tx",
        "--verbosity",
        "--basetemp",
        "--eagle-report",
        "--junitxml",
        "--junit-xml",
    }
)
"""Options that say how a run is made or which files it writes, not what it judges."""


def repeat(arguments: Iterable[str], contract: str) -> str:
    """Return the command that runs one contract again, given the arguments of the whole run."""
    return shlex.join(["pytest", *_kept(arguments), "-k", contract])


def _kept(arguments: Iterable[str]) -> Iterator[str]:
    skip = False
    for argument in arguments:
        if skip or LOUDNESS.fullmatch(argument):
            skip = False
        elif argument.partition("=")[0] in TAKES_VALUE:
            skip = "=" not in argument
        else:
            yield argument
