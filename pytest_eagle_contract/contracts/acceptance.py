"""Contracts on how many drafted tokens the target accepts, measured on given prompts."""

from __future__ import annotations

from typing import Protocol

from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.outcome import Outcome


class Judge(Protocol):
    """Judge what one engine accepts; the numeric level has the numbers."""

    def predicted(self) -> Outcome:
        """Compare the engine's wiring with the one trained."""

    def threshold(self) -> Outcome:
        """Compare what the engine accepts with the least that the user wants."""


@contract("acceptance.predicted", subject="engine", needs=("prompts", "torch"))
def predicted(eagle_judge: Judge) -> Outcome:
    """The engine's wiring accepts as many drafts as the wiring that the draft was trained with.

    Why: the output stays right whatever the draft says; only the accept length falls.
    Incident: tokenspeed#526, served at accept length 1.00 until someone looked, and at 2.39 with
    the layers that the draft was trained on.
    Fix: mend what the contracts on this engine name; the numbers say how much it costs.
    Since: 0.2.0
    """
    return eagle_judge.predicted()


@contract(
    "acceptance.threshold",
    subject="engine",
    needs=("prompts", "torch"),
    needs_one_of=("min_accept_length", "min_acceptance"),
)
def threshold(eagle_judge: Judge) -> Outcome:
    """The prediction reaches --eagle-min-accept-length and --eagle-min-acceptance.

    Why: below it speculation costs more than it saves.
    Incident: sglang#25454, where drafts counted layer outputs or layer inputs under one key; read
    the wrong way, kimi-k2.5-eagle3-mla lost about 0.10 of accept length.
    Fix: look at acceptance.predicted first: a wiring that differs from the training's comes before
    more training.
    Since: 0.2.0
    """
    return eagle_judge.threshold()
