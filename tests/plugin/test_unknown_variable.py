from __future__ import annotations

import pytest

from .helpers import options, refused


def test_a_mistyped_variable_is_refused(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAGLE_CONTRACT_ENGINES", "sglang")
    line = refused(pytester.runpytest_inprocess(*options(engine="")))
    assert line.startswith("EAGLE_CONTRACT_ENGINES: is no option")
