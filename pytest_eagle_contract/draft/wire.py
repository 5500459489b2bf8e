"""Say how a draft was wired in training, and how an engine wires it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pytest_eagle_contract.boundaries import at
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.draft.wiring import Wiring
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.token_map import TokenMap, as_integers

SWITCHES = ("norm_before_residual", "norm_before_fc", "fc_norm", "norm_output")


class Open(Exception):
    """Say that a wiring is not known; `by` are the contracts that say why."""

    def __init__(self, says: str, *by: str) -> None:
        super().__init__(says)
        self.says, self.by = says, by


def declared(case: Case) -> Wiring:
    """Return the wiring that the draft was trained with; Open where its files leave it open."""
    intent = case.intent
    boundaries = at(intent.boundaries.value, case.layers)
    if not isinstance(boundaries, tuple):
        raise Open(intent.boundaries.reason, "layers.declared")
    switches = {}
    for name in SWITCHES:
        stated = intent.switches[name]
        if stated.value is None:
            raise Open(f"{name}: {stated.reason}", "checkpoint.switches")
        switches[name] = stated.value
    token_map = intent.token_map.value
    if token_map is None and case.draft.stored_map is not None:
        raise Open(intent.token_map.reason, "mapping.offsets", "mapping.mask")
    if token_map is None:
        token_map = _prefix(case)
        if len(token_map) != case.vocab_size:
            raise Open("no map is stored", "mapping.present")
    ships = "embed_tokens.weight" in case.draft.tensors
    wiring = Wiring(boundaries, token_map, embedding="draft's" if ships else "target's")
    return switched(wiring, switches)


def served(case: Case, reading: Resolution) -> Wiring:
    """Return the wiring that an engine uses; Open where it refuses or cannot be told."""
    captured, facts = reading.captured, reading.semantics
    boundaries = at(captured.boundaries, case.layers)
    if captured.error or not isinstance(boundaries, tuple):
        raise Open(captured.error or "the captured states are not known", "layers.engine")
    ships = "embed_tokens.weight" in case.draft.tensors
    kept = ships and facts.embedding != "target's"
    uses = {name: reading.switches[name].value for name in SWITCHES if name in reading.switches}
    wiring = Wiring(
        boundaries,
        _used_map(case, reading),
        # Of one layer it says nothing, and must not tell two wirings apart.
        later_norm=(case.draft.layers > 1 and facts.later_layer_norm) or "input_layernorm",
        embedding="draft's" if kept else "target's",
        without=_lost_biases(case, reading),
    )
    return switched(wiring, uses)


def _lost_biases(case: Case, reading: Resolution) -> frozenset[str]:
    stored = {info.name: short for short, info in case.draft.tensors.items()}
    lost = (stored[name] for name in reading.tensors.unknown)
    return frozenset(name for name in lost if name.endswith(".bias"))


def switched(wiring: Wiring, switches: Mapping[str, bool]) -> Wiring:
    """Return a wiring with switches set by name."""
    return replace(wiring, **dict(switches))  # type: ignore[arg-type]


def _used_map(case: Case, reading: Resolution) -> TokenMap:
    kind, stored = reading.token_map.kind, case.draft.stored_map
    if kind in ("error", "unsized"):
        raise Open(reading.token_map.detail, "mapping.engine")
    if kind == "stored" and stored is not None:
        values = as_integers(stored.values)
        if values is None or len(stored) != case.draft.head_rows:
            raise Open("the stored map cannot be followed", "mapping.dtype", "mapping.length")
        return TokenMap.from_offsets(values, case.vocab_size or len(stored))
    prefix = _prefix(case)
    return TokenMap(0 * prefix.targets, prefix.vocab_size) if kind == "zeros" else prefix


def _prefix(case: Case) -> TokenMap:
    """Return the map that takes draft ids for target ids."""
    rows = case.draft.head_rows or 0
    return TokenMap(np.arange(rows), case.vocab_size or rows)
