"""Everything that the static contracts of one subject look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from pytest_eagle_contract.checkpoint.target_weights import TargetWeights
from pytest_eagle_contract.contracts.needs import ARCHITECTURES, TARGET_FAMILY
from pytest_eagle_contract.contracts.outcome import SEVERITY, Outcome, blocked
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.intent import Intent
from pytest_eagle_contract.pair import Draft, Target, is_eagle3
from pytest_eagle_contract.token_map import StoredMap
from pytest_eagle_contract.trainers.layer_ids import Author


@dataclass(frozen=True, slots=True)
class Case:
    """Bring together a draft, its target, the trainer's intent and one engine's readings.

    `author` is the trainer whose habits the intent was read by.

    `readings` are empty for the files alone, and several where an unknown target decides what the
    engine does. `chosen` are the readings of every engine the user named, for fixes that must
    serve all of them. `tokens` are ids of text like the served one. `full_scan` reads every weight
    instead of a bounded sample.
    """

    draft: Draft
    target: Target | None
    target_weights: TargetWeights | None
    intent: Intent
    author: Author
    side_maps: tuple[StoredMap, ...] = ()
    tokens: tuple[int, ...] = ()
    readings: tuple[Resolution, ...] = ()
    chosen: tuple[tuple[Resolution, ...], ...] = ()
    full_scan: bool = False

    @property
    def layers(self) -> int | None:
        """Return the target's layer count L, where a target was given."""
        return self.target.layers if self.target else None

    @property
    def target_width(self) -> int | None:
        """Return the width of one target state: the target's own, else what the draft states."""
        if self.target is not None and self.target.geometry.hidden_size is not None:
            return self.target.geometry.hidden_size.value
        return self.draft.geometry.target_width

    @property
    def vocab_size(self) -> int | None:
        """Return the target vocabulary's size as the draft states it."""
        located = self.draft.geometry.vocab_size
        return located.value if located else None


def across(
    case: Case, judge: Callable[[Resolution], Outcome], *facts: str, read: bool = True
) -> Outcome:
    """Judge each reading of an engine; readings that disagree leave it open.

    Only an unknown target gives several readings, so the target is what decides. `facts` are the
    fields of Semantics on which every failure rests. With `read`, an engine that does not read the
    format is judged no further: one contract says so.
    """
    if not is_eagle3(case.draft):
        return blocked("checkpoint.architecture", "this is no EAGLE-3 draft")
    outcomes = [
        (
            reading,
            (unread(case, reading) if read else None) or sourced(judge(reading), reading, *facts),
        )
        for reading in case.readings
    ]
    statuses = {outcome.status for _, outcome in outcomes}
    worst = max((o for _, o in outcomes), key=lambda o: SEVERITY[o.status])
    if len(statuses) == 1:
        return worst
    said: dict[str, list[str]] = {}
    for reading, outcome in outcomes:
        said.setdefault(f"{outcome.status} ({outcome.measured})", []).append(reading.targets)
    split = "; ".join(f"{what} for {' or '.join(which)}" for what, which in _rare_first(said))
    return replace(
        worst,
        status="unverified",
        measured=f"depends on the target: {split}",
        needs=(ARCHITECTURES if case.target else TARGET_FAMILY,),
        blocked_by=(),
        loud=False,
    )


def _rare_first(said: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield what is said of few target families by their names, and of the rest as others."""
    *rare, (common, which) = sorted(said.items(), key=lambda item: len(item[1]))
    yield from rare
    yield common, which if len(which) == 1 else ["other targets"]


def unread(case: Case, reading: Resolution) -> Outcome | None:
    """Leave open what an engine would do with a format that it does not read."""
    if case.draft.nested and not reading.semantics.speculators_format:
        return blocked("checkpoint.engine", "does not read this format")
    return None


def sourced(outcome: Outcome, reading: Resolution, *facts: str) -> Outcome:
    """Note where in the engine's source the facts behind a failure were read."""
    found = dict.fromkeys(reading.sources[fact] for fact in facts if fact in reading.sources)
    head = f"{reading.label} source: "
    noted = any(note.startswith(head) for note in outcome.notes)
    if outcome.status != "failed" or noted or not found:
        return outcome
    return replace(outcome, notes=(*outcome.notes, head + "; ".join(found)))
