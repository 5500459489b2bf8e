"""Judge predicted accept lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_eagle_contract.acceptance.interval import Interval, accept_length, difference
from pytest_eagle_contract.acceptance.predict import Prediction
from pytest_eagle_contract.boundaries import shown
from pytest_eagle_contract.contracts.needs import Need
from pytest_eagle_contract.contracts.outcome import Outcome, blocked, failed, passed, unverified
from pytest_eagle_contract.draft.wire import Open, declared, served
from pytest_eagle_contract.draft.wiring import Wiring

if TYPE_CHECKING:
    from pytest_eagle_contract.acceptance.session import Acceptance
    from pytest_eagle_contract.contracts.case import Case

SHORT = "the continuations are too short for one verify step"
PROMPTS = Need("prompts", "more prompts in --eagle-prompts")


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge one engine's wiring by what it accepts.

    `unmodelled` are failing contracts whose faults the reference draft cannot be wired with.
    """

    acceptance: Acceptance
    case: Case
    unmodelled: tuple[str, ...]

    def predicted(self) -> Outcome:
        """Compare the engine's wiring with the one trained."""
        try:
            trained, used = declared(self.case), self._used()
        except Open as left:
            return blocked(left.by, left.says)
        mine = self.acceptance.predict(used)
        if not mine.total.drafts:
            return unverified(SHORT, PROMPTS)
        found = self._beside(mine, used, trained)
        return replace(found, data=numbers(mine), notes=(*found.notes, *_doubts(mine)))

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

    def threshold(self, least: float) -> Outcome:
        """Compare the engine's accept length with the least that the user wants."""
        try:
            prediction = self.acceptance.predict(self._used())
        except Open as left:
            return blocked(left.by, left.says)
        if not prediction.total.drafts:
            return unverified(SHORT, PROMPTS)
        length = accept_length(prediction.counts)
        if length.low >= least:
            return passed(told(prediction))
        if length.high < least:
            return failed(told(prediction), f"at least {least:g}")
        more = prompts_needed(length, least, len(prediction.counts))
        return unverified(
            f"{told(prediction)}: {least:g} lies within the spread; about {more} prompts decide",
            PROMPTS,
            expected=f"at least {least:g}",
        )

    def _used(self) -> Wiring:
        if self.unmodelled:
            raise Open("another contract names what keeps it from running", *self.unmodelled)
        wirings = {served(self.case, reading) for reading in self.case.readings}
        if len(wirings) > 1:
            raise Open("depends on the target's family", "layers.engine")
        return wirings.pop()


def _doubts(prediction: Prediction) -> tuple[str, ...]:
    count = prediction.unlike
    text = f"{count} continuation tokens are not the target's greedy choice: no exact prediction"
    return (text,) if count else ()


def told(prediction: Prediction) -> str:
    """Write a prediction: accept length with its interval, and acceptance by place."""
    total = prediction.total
    places = ", ".join(f"{n / total.drafts:.1%}" for n in total.per_position)
    return f"accept length {accept_length(prediction.counts)} ({places} by place)"


def numbers(prediction: Prediction) -> dict[str, object]:
    """Return a prediction for the JSON report: accept length, acceptance by place, interval."""
    total, length = prediction.total, accept_length(prediction.counts)
    return {
        "accept_length": round(length.value, 4),
        "per_position": [round(n / total.drafts, 4) for n in total.per_position],
        "ci95": [round(length.low, 4), round(length.high, 4)],
        "drafts": total.drafts,
        "accepted": total.accepted,
    }


def unlike(used: Wiring, trained: Wiring) -> str:
    """Say in what two wirings differ."""
    names = (
        "norm_before_residual",
        "norm_before_fc",
        "fc_norm",
        "norm_output",
        "later_norm",
        "embedding",
    )
    parts = [
        f"{name} {getattr(used, name)} for {getattr(trained, name)}"
        for name in names
        if getattr(used, name) != getattr(trained, name)
    ]
    if used.boundaries != trained.boundaries:
        parts.insert(0, f"fed {shown(used.boundaries)} for {shown(trained.boundaries)}")
    if used.token_map != trained.token_map:
        parts.append("another map")
    if used.without:
        parts.append(f"without {', '.join(sorted(used.without))}")
    return "; ".join(parts)


def prompts_needed(length: Interval, least: float, prompts: int) -> int:
    """Return about how many prompts would set an accept length apart from a threshold.

    The interval narrows with the root of their number.
    """
    half, gap = (length.high - length.low) / 2, abs(length.value - least)
    return max(prompts + 1, min(round(prompts * (half / max(gap, 1e-6)) ** 2), 10**6))
