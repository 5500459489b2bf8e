"""Hold what is accepted to the least that the user wants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_eagle_contract.acceptance.interval import Interval, accept_length, acceptance
from pytest_eagle_contract.acceptance.predict import Prediction
from pytest_eagle_contract.acceptance.tell import told
from pytest_eagle_contract.contracts.needs import MORE_PROMPTS
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, unverified


@dataclass(frozen=True, slots=True)
class Floors:
    """State the least accept length, and the least share of verify steps that accept each place."""

    length: float | None = None
    places: tuple[float, ...] = ()

    def __str__(self) -> str:
        wanted = [f"accept length {self.length:g}"] if self.length is not None else []
        wanted += [f"{share:.1%} at place {n}" for n, share in enumerate(self.places, 1)]
        return f"at least {', '.join(wanted)}"


def reached(prediction: Prediction, floors: Floors) -> Outcome:
    """Return a pass where every floor lies below its interval, a failure where one lies above.

    Anything else is left open, with the number of prompts that would decide.
    """
    judged = list(_judged(prediction, floors))
    measured = told(prediction)
    if any(seen.high < least for seen, least in judged):
        return failed(measured, str(floors))
    close = [(seen, least) for seen, least in judged if seen.low < least]
    if not close:
        return passed(measured)
    more = max(prompts_needed(seen, least, len(prediction.counts)) for seen, least in close)
    return unverified(
        f"{measured}: the least lies within the spread; about {more} prompts decide",
        MORE_PROMPTS,
        expected=str(floors),
    )


def _judged(prediction: Prediction, floors: Floors) -> Iterator[tuple[Interval, float]]:
    if floors.length is not None:
        yield accept_length(prediction.counts), floors.length
    for place, least in enumerate(floors.places[: len(prediction.total.per_position)]):
        yield acceptance(prediction.counts, place), least


def prompts_needed(seen: Interval, least: float, prompts: int) -> int:
    """Return about how many prompts would set a figure apart from a threshold.

    The interval narrows with the root of their number.
    """
    half, gap = (seen.high - seen.low) / 2, abs(seen.value - least)
    return max(prompts + 1, min(round(prompts * (half / max(gap, 1e-6)) ** 2), 10**6))
