"""Compare the states that an engine captures with those that a draft was trained on."""

from __future__ import annotations

from pytest_eagle_contract.boundaries import at, ids_for, same, shown
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.layer_fix import entries
from pytest_eagle_contract.contracts.needs import (
    AUX_LAYERS,
    TARGET_LAYERS,
    TRAINER,
    Need,
    argument,
)
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    blocked,
    failed,
    passed,
    refused,
    unverified,
)
from pytest_eagle_contract.engines.resolution import Resolution


def captures(case: Case, reading: Resolution) -> Outcome:
    """Judge whether an engine captures the trained states, in any order."""
    captured, layers, intent = reading.captured, case.layers, case.intent
    if captured.error:
        return refused(captured.error, shown(at(intent.boundaries.value, layers)))
    if captured.boundaries is None:
        depends = "the rule for these ids depends on the target"
        return unverified(depends, TARGET_LAYERS)
    meant = at(intent.boundaries.value, layers)
    if isinstance(meant, tuple) and layers and any(not 0 <= b <= layers for b in meant):
        return blocked("layers.range", f"the ids mean {shown(meant)} of {layers} layers")
    got = f"captures {shown(captured.boundaries)} ({captured.where})"
    if captured.lost:
        got += f", silently without {shown(captured.lost)}"
    if intent.boundaries.value is None:
        return _undecided(case, reading, got)
    wanted = f"{shown(at(intent.boundaries.value, layers))}: {intent.boundaries.reason}"
    if intent.boundaries.value == () and captured.boundaries != ():
        return blocked("checkpoint.switches", f"{got}; the draft takes the final state alone")
    agree = same(intent.boundaries.value, captured.boundaries, layers)
    if agree and not captured.lost:
        return passed(got)
    if agree is None:
        return unverified(f"{got}; not compared", TARGET_LAYERS)
    if captured.argument:
        return _by_argument(case, reading, got)
    if not intent.boundaries.certain:
        return _undecided(case, reading, got)
    # fc then gets fewer columns than it has: the first step is a shape error.
    say = refused if captured.lost else failed
    return say(got, wanted, entries(case))


def _by_argument(case: Case, reading: Resolution, got: str) -> Outcome:
    """Leave open what the engine takes from its command line, and say what must stand there."""
    wanted, given = at(case.intent.boundaries.value, case.layers), reading.captured.argument
    text = f"{got}; the draft was trained on {shown(wanted)}"
    if not isinstance(wanted, tuple):
        return unverified(text, argument(given))
    ids = ids_for(wanted, reading.semantics.aux_rule, case.layers)
    return unverified(text, argument(given), fix=f"start with {given} = {list(ids or wanted)}")


def _undecided(case: Case, reading: Resolution, got: str) -> Outcome:
    """Judge an engine by every meaning that the ids may have; one that fits none is wrong."""
    readings, stated = case.intent.readings, case.intent.boundaries
    fits = {
        name: same(boundaries, reading.captured.boundaries, case.layers)
        for name, boundaries in readings.items()
    }
    listed = "; ".join(f"{shown(b)} if read {name}" for name, b in readings.items())
    if fits and all(fit is False for fit in fits.values()):
        fix = f"if trained on {shown(stated.value)}: {entries(case)}" if stated.value else ""
        return failed(got, f"{listed}: no reading of the ids gives what is captured", fix)
    right = [name for name, fit in fits.items() if fit]
    effect = f"right only if read {right[0]}" if right else "not decided"
    wanted = listed or f"{shown(at(stated.value, case.layers))}: {stated.reason}"
    return unverified(f"{got}: {effect}; {stated.reason}", *deciders(case), expected=wanted)


def decisive(reading: Resolution) -> tuple[str, ...]:
    """Return the facts on which the captured states rest."""
    captured, facts = reading.captured, reading.semantics
    if facts.aux_nothing:
        return ("aux_nothing",)
    if captured.lost:
        return ("aux_below", "aux_above")
    if captured.error:
        return ()
    return ("aux_keys", "aux_rule" if captured.where in facts.aux_keys else "aux_default")


def deciders(case: Case) -> tuple[Need, ...]:
    """Return what the user can state where the files leave the layers open."""
    return (AUX_LAYERS,) if case.intent.trainer_named else (TRAINER, AUX_LAYERS)
