"""Run child processes side by side and account for time, memory and bytes read."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ran:
    """Hold one finished process.

    `seconds` went by on the clock and `busy` on the processors; `peak` is resident memory and
    `read` what read() returned, both in bytes. Linux counts this process's own memory into the
    peak of a child that it starts, so `peak` is an upper bound.
    """

    seconds: float
    busy: float
    peak: int
    read: int
    code: int
    output: str


def environment() -> dict[str, str]:
    """Return the environment of a user: byte code is kept, and no option comes from outside.

    pytest rewrites a plugin's asserts on import and keeps the result as byte code; without that
    every run would compile the whole package again.
    """
    hidden = ("PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "GITHUB_STEP_SUMMARY")
    return {
        name: value
        for name, value in os.environ.items()
        if name not in hidden and not name.startswith("EAGLE_CONTRACT_")
    }


def pytest_in(*args: str | Path) -> list[str]:
    """Return the command of a pytest run."""
    return [sys.executable, "-m", "pytest", *map(str, args)]


def run(command: Sequence[str], cwd: Path) -> Ran:
    """Run a command to its end.

    `read` is rchar of /proc/PID/io, every byte that read() returned. The process is waited for
    without being reaped, because its account goes with it.
    """
    begin = time.perf_counter()
    with subprocess.Popen(
        command, cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        assert child.stdout is not None
        output = child.stdout.read().decode()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.perf_counter() - begin
        read = _account(Path(f"/proc/{child.pid}/io"))["rchar"]
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    busy = usage.ru_utime + usage.ru_stime
    return Ran(seconds, busy, usage.ru_maxrss * 1024, read, child.returncode, output)


def side_by_side(
    commands: Mapping[str, Sequence[str]], cwd: Path, rounds: int
) -> dict[str, list[Ran]]:
    """Run the commands in turn, `rounds` times, after one round that only warms caches."""
    ran: dict[str, list[Ran]] = {name: [] for name in commands}
    for count in range(rounds + 1):
        for name, command in commands.items():
            result = run(command, cwd)
            if count:
                ran[name].append(result)
    return ran


def seconds(ran: Sequence[Ran]) -> float:
    """Return the median time."""
    return statistics.median(r.seconds for r in ran)


def busier(one: Sequence[Ran], other: Sequence[Ran]) -> float:
    """Return the median of the rounds' differences in processor time, where drift cancels."""
    return statistics.median(a.busy - b.busy for a, b in zip(one, other, strict=True))


def _account(path: Path) -> dict[str, int]:
    lines = (line.split(": ") for line in path.read_text(encoding="ascii").splitlines())
    return {name: int(value) for name, value in lines}
