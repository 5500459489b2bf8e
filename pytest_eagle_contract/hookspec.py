"""Hooks that third parties may implement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_eagle_contract.contracts.catalogue import Contract


def pytest_eagle_contracts() -> Sequence[Contract]:  # type: ignore[empty-body]
    """Return contracts of your own, made with `contracts.catalogue.contract`."""
