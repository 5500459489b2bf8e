"""Judge predicted accept lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_eagle_contract.acceptance.floors import Floors, reached
from pytest_eagle_contract.acceptance.interval import accept_length, difference
from pytest_eagle_contract.acceptance.predict import Prediction
from pytest_eagle_contract.acceptance.signature import signatures
from pytest_eagle_contract.acceptance.tell import numbers, told, unlike
from pytest_eagle_contract.contracts.needs import MORE_PROMPTS
from pytest_eagle_contract.contracts.outcome import Outcome, blocked, failed, passed, unverified
from pytest_eagle_contract.draft.wire import Open, declared, served
from pytest_eagle_contract.draft.wiring import Wiring

if TYPE_CHECKING:
    from pytest_eagle_contract.acceptance.session import Acceptance
    from pytest_eagle_contract.contracts.case import Case

SHORT = "the continuations are too short for one verify step"


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge one engine's wiring by what it accepts.

    `unmodelled` are failing contracts whose faults the reference draft cannot be wired with.
    `floors` are what the user wants at least.
    """

    acceptance: Acceptance
    case: Case
    unmodelled: tuple[str, ...]
    floors: Floors

    def predicted(self) -> Outcome:
        """Compare the engine's wiring with the one trained."""
        try:
            trained, used = declared(self.case), self._used()
        except Open as left:
            return blocked(left.by, left.says)
        mine = self.acceptance.predict(used)
        if not mine.total.drafts:
            return unverified(SHORT, MORE_PROMPTS)
        found = self._beside(mine, used, trained)
        return replace(found, data=numbers(mine), notes=(*found.notes, *_notes(mine)))

    def _beside(self, mine: Prediction, used: Wiring, trained: Wiring) -> Outcome:
        text = told(mine)
        if used == trained:
            return passed(text)
        theirs = self.acceptance.predict(trained)
        gap = difference(mine.counts, theirs.counts)
        wanted = f"{told(theirs)}, as trained"
        if gap.high < 0:
            return failed(f"{text}, {unlike(used, trained)}", wanted)
        return passed(f"{text}; as trained {accept_length(theirs.counts)}")

    def threshold(self) -> Outcome:
        """Compare what the engine accepts with the least that the user wants."""
        try:
            prediction = self.acceptance.predict(self._used())
        except Open as left:
            return blocked(left.by, left.says)
        if not prediction.total.drafts:
            return unverified(SHORT, MORE_PROMPTS)
        found = reached(prediction, self.floors)
        return found if found.status == "passed" else replace(found, notes=_notes(prediction))

    def _used(self) -> Wiring:
        if self.unmodelled:
            raise Open("another contract names what keeps it from running", *self.unmodelled)
        wirings = {served(self.case, reading) for reading in self.case.readings}
        if len(wirings) > 1:
            raise Open("depends on the target's family", "layers.engine")
        return wirings.pop()


def _notes(prediction: Prediction) -> tuple[str, ...]:
    count = prediction.unlike
    text = f"{count} continuation tokens are not the target's greedy choice: no exact prediction"
    shapes = signatures(prediction.total, [right[0] for right in prediction.right])
    return (*((text,) if count else ()), *shapes)
