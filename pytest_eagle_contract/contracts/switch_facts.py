"""Compare switches with tensors, and with what an engine does about them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_eagle_contract.checkpoint.switches import (
    BIASES,
    SWITCHES,
    TENSOR_OF,
    controlling_switch,
    switch_places,
)
from pytest_eagle_contract.contracts.case import Case, sourced
from pytest_eagle_contract.contracts.map_facts import sample
from pytest_eagle_contract.contracts.needs import SWITCH, TRAINER
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, refused, unverified
from pytest_eagle_contract.contracts.remedies import switch_fix, word
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.pair import Draft

MOST_BIAS = 2**20
"""Values of one bias: a vector as wide as a layer."""


def contradictions(case: Case) -> list[str]:
    """Return what config and tensors of one draft, and its trainer, say against each other."""
    draft = case.draft
    found = (
        _null(draft),
        _written_twice(draft),
        _without_tensor(draft),
        _unused_fc(draft),
        _never_written(case),
    )
    return list(dict.fromkeys(problem for problems in found for problem in problems))


def _null(draft: Draft) -> Iterator[str]:
    """Yield booleans written as null, which strict loaders refuse and others read as false."""
    for name in (*SWITCHES, "tie_word_embeddings", "use_cache"):
        for place in switch_places(name):
            if draft.config.raw(place) is None:
                yield f"{place} is null, not true or false"


def _written_twice(draft: Draft) -> Iterator[str]:
    for name in dict.fromkeys((*SWITCHES, *TENSOR_OF)):
        found = [draft.config.flag(place) for place in switch_places(name)]
        values = {f.where: f.value for f in found if f is not None}
        if len(set(values.values())) > 1:
            yield ", ".join(f"{where} is {str(v).lower()}" for where, v in values.items())


def _without_tensor(draft: Draft) -> Iterator[str]:
    for name, tensor in TENSOR_OF.items():
        written = draft.config.flag(*switch_places(name))
        stored = any(controlling_switch(n) == name for n in draft.tensors)
        if written is not None and written.value and not stored and name != "bias":
            yield f"{written.where} is true and {tensor} is not stored"
        elif written is not None and not written.value and stored:
            yield f"{written.where} is false and {tensor} is stored"


def _unused_fc(draft: Draft) -> Iterator[str]:
    off = draft.config.flag(*switch_places("use_aux_hidden_state"))
    if off is not None and not off.value and "fc.weight" in draft.tensors:
        yield f"{off.where} is false and fc.weight is stored"


def _never_written(case: Case) -> Iterator[str]:
    """Yield tensors that call for a switch with which the trainer does not train."""
    for name, stated in case.intent.switches.items():
        tensor = TENSOR_OF.get(name)
        written = case.draft.config.flag(*switch_places(name))
        if tensor in case.draft.tensors and stated.value is False and written is None:
            yield f"{tensor} is stored, and {stated.reason}"


def compared(case: Case, reading: Resolution) -> Outcome:
    """Return whether an engine computes with the switches that were intended."""
    certain: list[str] = []
    doubtful: list[str] = []
    wanted: dict[str, str] = {}
    fixes: list[str] = []
    loud = False
    for name, stated in case.intent.switches.items():
        use = reading.switches.get(name)
        if use is None or stated.value is None or use.value == stated.value:
            continue
        read = use.where in reading.semantics.switches[name].places
        where = f"config.json: {use.where}" if read else use.where
        text = f"computes with {name} {word(use.value)} ({where})"
        if not stated.certain:
            doubtful.append(f"{text}, intended {word(stated.value)}: {stated.reason}")
            continue
        certain.append(text)
        wanted[name] = f"{name} {word(stated.value)} ({stated.reason})"
        fixes.append(switch_fix(reading, name, stated.value))
        loud = loud or use.effect == "error" or _refuses(case, reading, name)
    for name, text in _lost_biases(case, reading):
        certain.append(text)
        loud = loud or _refuses(case, reading, name)
        wanted.setdefault(name, f"{name} true (its tensors are stored)")
        fixes.append(switch_fix(reading, name, True))
    if certain:
        say = refused if loud else failed
        fix = "; ".join(dict.fromkeys(filter(None, fixes)))
        outcome = say("; ".join(certain), "; ".join(wanted.values()), fix)
        return sourced(outcome, reading, *(f"switches.{name}" for name in wanted))
    unknown = [n for n, s in case.intent.switches.items() if s.value is None]
    if doubtful or unknown:
        reasons = doubtful + [f"{n}: {case.intent.switches[n].reason}" for n in unknown]
        need = SWITCH if case.intent.trainer_named else TRAINER
        return unverified("; ".join(reasons), need)
    return passed("all switches as intended")


def _refuses(case: Case, reading: Resolution, switch: str) -> bool:
    """Tell whether an engine stops at a stored tensor that a switch calls for."""
    facts, stored = reading.semantics, {i.name: short for short, i in case.draft.tensors.items()}
    mine = (n for n in reading.tensors.unknown if controlling_switch(stored[n]) == switch)
    return facts.unknown == "error" and any(not n.endswith(facts.unknown_dropped) for n in mine)


def _adds(draft: Draft, name: str) -> bool:
    """Tell whether a bias holds anything but zeros, or too much to look at."""
    size = math.prod(draft.checkpoint.tensors[name].shape)
    return size > MOST_BIAS or bool(draft.checkpoint.read_flat(name, 0, size).any())


def _lost_biases(case: Case, reading: Resolution) -> Iterator[tuple[str, str]]:
    """Yield the switches whose tensors the engine has no place for, with what it does.

    The two norms before fc are compared as switches already.
    """
    stored = {info.name: short for short, info in case.draft.tensors.items()}
    lost: dict[str, list[str]] = {}
    for name in reading.tensors.unknown:
        switch = controlling_switch(stored[name])
        if switch in BIASES and (_refuses(case, reading, switch) or _adds(case.draft, name)):
            lost.setdefault(switch, []).append(name)
    for switch, names in lost.items():
        does = "refuses" if _refuses(case, reading, switch) else "drops"
        yield switch, f"{does} {sample(names)} ({switch})"
