"""Find the config entries that make the chosen engines capture the intended states."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pytest_eagle_contract.boundaries import at, same, shown
from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.engines.resolve import captured_with
from pytest_eagle_contract.trainers.model import NESTED_IDS, TOP_IDS


def entries(case: Case) -> str:
    """Return the exact entries to write, tried against the engines' own rules.

    The first placement that serves every chosen engine wins; failing that, one that serves this
    engine, with the engines it does not serve named; failing that, what stands in the way.
    """
    wanted = at(case.intent.boundaries.value, case.layers)
    if not isinstance(wanted, tuple):
        return ""
    best: tuple[int, str] | None = None
    for written in _placements(wanted):
        config = _rewritten(case.draft.config, written)
        if not _serves(case, case.readings, config, wanted):
            continue
        unserved = [
            readings[0].label
            for readings in case.chosen
            if not _serves(case, readings, config, wanted)
        ]
        text = f"write {_entry(written)} in config.json"
        if unserved:
            text += f" (does not serve {', '.join(unserved)})"
        if best is None or len(unserved) < best[0]:
            best = (len(unserved), text)
    if best is not None:
        return best[1]
    return f"no entry makes this engine capture {shown(wanted)}: train on the states it captures"


def _placements(wanted: tuple[int, ...]) -> Iterator[Mapping[str, list[int] | None]]:
    """Yield ways to write the ids, plain ones first; None removes a key."""
    outputs, boundaries = [b - 1 for b in wanted], list(wanted)
    yield {NESTED_IDS: outputs, TOP_IDS: boundaries}
    yield {NESTED_IDS: outputs, TOP_IDS: None}
    yield {NESTED_IDS: None, TOP_IDS: boundaries}
    yield {NESTED_IDS: boundaries, TOP_IDS: None}
    yield {NESTED_IDS: boundaries, TOP_IDS: boundaries}
    yield {NESTED_IDS: None, TOP_IDS: outputs}


def _rewritten(config: Config, written: Mapping[str, list[int] | None]) -> Config:
    data = dict(config.data)
    nested = data.get("eagle_config")
    eagle = dict(nested) if isinstance(nested, dict) else {}
    key = TOP_IDS
    for place, ids in written.items():
        holder = data if place == TOP_IDS else eagle
        holder.pop(key, None)
        if ids is not None:
            holder[key] = ids
    data["eagle_config"] = eagle
    if not eagle:
        del data["eagle_config"]
    return Config(config.path, data)


def _serves(
    case: Case, readings: tuple[Resolution, ...], config: Config, wanted: tuple[int, ...]
) -> bool:
    captured = (captured_with(config, reading.semantics, case.layers) for reading in readings)
    return all(
        not c.error and not c.lost and same(wanted, c.boundaries, case.layers) for c in captured
    )


def _entry(written: Mapping[str, list[int] | None]) -> str:
    shown_entries = []
    if written[TOP_IDS] is not None:
        shown_entries.append(f'"{TOP_IDS}": {json.dumps(written[TOP_IDS])}')
    if written[NESTED_IDS] is not None:
        shown_entries.append(f'"eagle_config": {{"{TOP_IDS}": {json.dumps(written[NESTED_IDS])}}}')
    return ", ".join(shown_entries)
