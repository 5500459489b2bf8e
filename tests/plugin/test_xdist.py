from __future__ import annotations

import pytest

from .helpers import OTHER, options, report

REPORT = "--eagle-report=json=report.json"


CRASHES = """
from pytest_eagle_contract.contracts.catalogue import contract

def check(eagle_case):
    raise RuntimeError("oh")

check.__doc__ = "It holds.\\n\\nWhy: a.\\nIncident: b.\\nFix: c.\\nSince: 1.0\\n"

def pytest_eagle_contracts():
    return [contract("checkpoint.crash")(check)]
"""


def section(result: pytest.RunResult) -> list[str]:
    """Return the closing section, which may not depend on the workers."""
    start = next(i for i, line in enumerate(result.outlines) if "EAGLE-3 contracts" in line)
    stop = next(i for i, line in enumerate(result.outlines) if line.startswith("VERDICT: "))
    return result.outlines[start : stop + 1]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ([*options(engine="vllm==0.32.0:v2"), "--eagle-engine=sglang", f"--eagle-ckpt={OTHER}"], 1),
        (options(engine="", target=None), 1),
    ],
    ids=["engines", "matrix"],
)
def test_everything_is_as_without(pytester: pytest.Pytester, args: list[str], code: int) -> None:
    pytester.makeconftest(CRASHES)
    alone = pytester.runpytest_inprocess(*args, REPORT)
    written = report(alone, pytester.path)
    workers = pytester.runpytest_subprocess(*args, REPORT, "-n2")
    assert report(workers, pytester.path) == written
    assert alone.ret == workers.ret == code
    assert alone.parseoutcomes() == workers.parseoutcomes()
    assert section(alone) == section(workers)
    crashed = [c for c in written["contracts"] if c["id"] == "checkpoint.crash"]
    assert {c["outcome"] for c in crashed} == {"failed"}


@pytest.mark.parametrize("engine", ["sglang", ""], ids=["engine", "matrix"])
def test_draft_that_each_worker_exports_is_one(pytester: pytest.Pytester, engine: str) -> None:
    pytester.makeconftest(
        f"""
        import shutil, pytest

        @pytest.fixture(scope="session")
        def eagle_checkpoint(tmp_path_factory):
            return shutil.copytree({str(OTHER)!r}, tmp_path_factory.mktemp("export") / "draft")
        """
    )
    args = options(None, "--eagle-suite", REPORT, "-n2", engine=engine)
    document = report(pytester.runpytest_subprocess(*args), pytester.path)
    (draft,) = document["checkpoints"]
    assert {c["checkpoint"] for c in document["contracts"]} == {draft["path"]}
    assert {e["checkpoint"] for e in document["engines"]} == {draft["path"]}
    assert len(document["engines"]) == (1 if engine else 9)
