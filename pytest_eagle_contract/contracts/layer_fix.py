"""Find the config entries that make the chosen engines capture the intended states."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pytest_eagle_contract.boundaries import at, same, shown
from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.checkpoint.geometry import EAGLE
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS, TOP_IDS
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.engines.resolve import captured_with
from pytest_eagle_contract.trainers.layer_ids import intended_layers


def entries(case: Case) -> str:
    """Return the exact entries to write, tried against the engines' own rules.

    The best placement is one from which the trained states are read again, and which serves the
    most of the chosen engines; those that it does not serve are named. Where none serves this
    engine, what stands in the way is said.
    """
    wanted = at(case.intent.boundaries.value, case.layers)
    if not isinstance(wanted, tuple):
        return ""
    found: list[tuple[tuple[int, int], str]] = []
    for written in _placements(wanted):
        config = _rewritten(case.draft.config, written)
        if not _serves(case, case.readings, config, wanted):
            continue
        unserved = [
            readings[0].label
            for readings in case.chosen
            if not _serves(case, readings, config, wanted)
        ]
        text = f"write {_entry(written)} in config.json{_removed(case.draft.config, written)}"
        if unserved:
            text += f" (does not serve {', '.join(unserved)})"
        found.append(((_misread(case, config, wanted), len(unserved)), text))
    if found:
        return min(found, key=lambda item: item[0])[1]
    return f"no entry makes this engine capture {shown(wanted)}: train on the states it captures"


def _misread(case: Case, config: Config, wanted: tuple[int, ...]) -> int:
    """Rank how a rewritten config would be read: 0 as meant, 1 as undecided, 2 as something else.

    The next run of this plugin reads it so, and so does the next person.
    """
    read = intended_layers(config, case.author, case.layers, None)
    if read.contradiction:
        return 2
    agrees = same(wanted, read.boundaries.value, case.layers)
    return 1 if agrees is None else 2 * (not agrees)


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
    nested = data.get(EAGLE)
    eagle = dict(nested) if isinstance(nested, dict) else {}
    key = TOP_IDS
    for place, ids in written.items():
        holder = data if place == TOP_IDS else eagle
        holder.pop(key, None)
        if ids is not None:
            holder[key] = ids
    data[EAGLE] = eagle
    if not eagle:
        del data[EAGLE]
    return Config(config.path, data)


def _serves(
    case: Case, readings: tuple[Resolution, ...], config: Config, wanted: tuple[int, ...]
) -> bool:
    captured = (captured_with(config, reading.semantics, case.layers) for reading in readings)
    return all(
        not c.error and not c.lost and same(wanted, c.boundaries, case.layers) for c in captured
    )


def _removed(config: Config, written: Mapping[str, list[int] | None]) -> str:
    gone = [place for place, ids in written.items() if ids is None and config.has(place)]
    return f" and remove {' and '.join(gone)}" if gone else ""


def _entry(written: Mapping[str, list[int] | None]) -> str:
    shown_entries = []
    if written[TOP_IDS] is not None:
        shown_entries.append(f'"{TOP_IDS}": {json.dumps(written[TOP_IDS])}')
    if written[NESTED_IDS] is not None:
        shown_entries.append(f'"{EAGLE}": {{"{TOP_IDS}": {json.dumps(written[NESTED_IDS])}}}')
    return ", ".join(shown_entries)
