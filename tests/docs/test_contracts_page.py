"""The page of contracts is what the docstrings say."""

from __future__ import annotations

from pathlib import Path

from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.report.catalogue import page

PAGE = Path(__file__).parents[2] / "docs" / "contracts.md"


def test_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_contract_is_on_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for contract in shipped():
        assert f"### `{contract.id}`" in text
        assert contract.promise in text
