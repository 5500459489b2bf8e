from __future__ import annotations

from typing import Any

import pytest

from .helpers import OTHER, options, report

REPORT = "--eagle-report=json=report.json"


def written(pytester: pytest.Pytester, *args: str) -> dict[str, Any]:
    return report(pytester.runpytest_subprocess(*args, REPORT), pytester.path)


@pytest.mark.parametrize(
    "args",
    [
        [*options(engine="vllm==0.32.0:v2"), "--eagle-engine=sglang", f"--eagle-ckpt={OTHER}"],
        options(engine="", target=None),
    ],
    ids=["engines", "matrix"],
)
def test_report_is_the_same(pytester: pytest.Pytester, args: list[str]) -> None:
    assert written(pytester, *args, "-n2") == written(pytester, *args)


def test_summary_and_exit_code(pytester: pytest.Pytester) -> None:
    args = options(engine="vllm==0.32.0:v2")
    alone = pytester.runpytest_inprocess(*args)
    workers = pytester.runpytest_subprocess(*args, "-n2")
    assert alone.ret == workers.ret == 1
    assert alone.parseoutcomes() == workers.parseoutcomes()

    def section(result: pytest.RunResult) -> list[str]:
        start = next(i for i, line in enumerate(result.outlines) if "EAGLE-3 contracts" in line)
        return result.outlines[start : result.outlines.index("", start + 4)]

    assert section(alone) == section(workers)


def test_repeat_command_leaves_workers_out(pytester: pytest.Pytester) -> None:
    args = options(engine="vllm==0.32.0:v2")
    result = pytester.runpytest_subprocess("-n", "2", "-vv", *args, REPORT, "-k", "layers")
    result.stdout.fnmatch_lines([f"  repeat:   pytest {' '.join(args)} -k layers.engine"])
