from __future__ import annotations

import json
import shutil

import pytest

from .helpers import DRAFT, TARGET, failing, options, outcomes, report

REPORT = "--eagle-report=json=report.json"


def test_decides_what_the_draft_leaves_open(pytester: pytest.Pytester) -> None:
    without = report(pytester.runpytest_inprocess(*options(target=None), REPORT), pytester.path)
    assert outcomes(without)["layers.range", "files"] == "unverified"
    given = report(pytester.runpytest_inprocess(*options(), REPORT), pytester.path)
    assert outcomes(given)["layers.range", "files"] == "passed"


def test_of_another_width_fails(pytester: pytest.Pytester) -> None:
    other = shutil.copytree(TARGET, pytester.path / "target")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"vocab_size": 640}))
    result = pytester.runpytest_inprocess(*options(target=other), REPORT)
    assert result.ret == 1
    assert ("checkpoint.target", "files") in failing(report(result, pytester.path))


def test_with_weights_that_are_broken_is_said_and_leaves_the_verdict(
    pytester: pytest.Pytester,
) -> None:
    broken = shutil.copytree(TARGET, pytester.path / "target")
    (broken / "model.safetensors").write_bytes(b"\x08")
    draft = DRAFT.with_name("specforge-hf")
    result = pytester.runpytest_inprocess(*options(draft, target=broken), REPORT)
    assert result.ret == 0
    document = report(result, pytester.path)
    assert outcomes(document)["checkpoint.embedding", "files"] == "unverified"
    assert document["verdict"] == "pass"
    result.stdout.fnmatch_lines(
        ["  checkpoint.embedding *model.safetensors: header: is cut off*readable target weights"]
    )
