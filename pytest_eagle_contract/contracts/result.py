"""An outcome with what it was judged on."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_eagle_contract.contracts.catalogue import Contract
from pytest_eagle_contract.contracts.outcome import Outcome

FILES = "files"


@dataclass(frozen=True, slots=True)
class Result:
    """Pair a contract's outcome with the subject it was checked on: `files` or an engine."""

    contract: Contract
    subject: str
    outcome: Outcome
