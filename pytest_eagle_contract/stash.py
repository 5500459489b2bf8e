"""Where the plugin keeps its state: keys of `config.stash`, and the attribute on a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_eagle_contract.settings import Settings

if TYPE_CHECKING:
    from pytest_eagle_contract.run import Run

SETTINGS = pytest.StashKey[Settings]()
RUN: pytest.StashKey[Run] = pytest.StashKey()
RECORD = "eagle_record"
