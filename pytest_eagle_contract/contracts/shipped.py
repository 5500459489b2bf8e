"""The list of shipped contracts."""

from __future__ import annotations

from pytest_eagle_contract.contracts import (
    acceptance,
    layers,
    mapping,
    mapping_files,
    mapping_function,
    ownership,
    positions,
    settings,
    target,
    values,
    weights,
)
from pytest_eagle_contract.contracts.catalogue import FAMILIES, Contract, contracts_in

MODULES = (
    mapping,
    mapping_files,
    mapping_function,
    layers,
    settings,
    positions,
    weights,
    values,
    ownership,
    target,
    acceptance,
)


def shipped() -> tuple[Contract, ...]:
    """Return every shipped contract, family by family in reading order."""
    found = [contract for module in MODULES for contract in contracts_in(module)]
    return tuple(sorted(found, key=lambda c: FAMILIES.index(c.family)))
