"""Contracts on the target states that a draft is fed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_eagle_contract.boundaries import Boundaries, at, shown
from pytest_eagle_contract.contracts.case import Case, across, sourced
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.layer_capture import captures, deciders, decisive
from pytest_eagle_contract.contracts.needs import TARGET
from pytest_eagle_contract.contracts.outcome import (
    Outcome,
    blocked,
    failed,
    passed,
    refused,
    unverified,
    verdict,
)
from pytest_eagle_contract.contracts.remedies import count_fix
from pytest_eagle_contract.engines.resolution import Resolution
from pytest_eagle_contract.trainers.layer_ids import written_ids


@contract("layers.declared")
def declared(eagle_case: Case) -> Outcome:
    """The config names the captured layers once, or twice with one meaning.

    Why: each engine reads another key, so two lists that disagree give each engine another draft.
    Incident: sglang#25454, where drafts counted layer outputs or layer inputs under one key; read
    the wrong way, kimi-k2.5-eagle3-mla lost about 0.10 of accept length.
    Fix: keep one list, or write boundaries at top level and boundary - 1 under eagle_config.
    Since: 0.1.0
    """
    intent = eagle_case.intent
    if intent.contradiction:
        readings = "; ".join(f"{name}: {shown(b)}" for name, b in intent.readings.items())
        return failed(
            f"{intent.contradiction} ({readings})",
            "one list, or two with the same meaning",
            "say which one the draft was trained on with --eagle-aux-layers, then keep only that",
        )
    if intent.boundaries.value is None:
        readings = "; ".join(f"{name}: {shown(b)}" for name, b in intent.readings.items())
        return unverified(f"{intent.boundaries.reason} ({readings})", *deciders(eagle_case))
    return passed(f"{shown(intent.boundaries.value)}: {intent.boundaries.reason}")


@contract("layers.range")
def in_range(eagle_case: Case) -> Outcome:
    """Every layer id names a state that the target has.

    Why: an engine drops a state it does not reach without a word, and fc gets another width.
    Incident: sglang#32334, where [24, 30, 36] were shifted past the last of 36 layers: 2 states of
    3, and a crash in fc.
    Fix: write ids whose boundaries lie between 0 (embedding) and the target's layer count.
    Since: 0.1.0
    """
    written, layers = written_ids(eagle_case.draft.config), eagle_case.layers
    if not written:
        return passed("no layer ids are written")
    problems = []
    for located in written:
        lowest = _lowest(located.value, eagle_case)
        outside = [i for i in located.value if i < lowest or (layers is not None and i > layers)]
        if outside:
            limit = "" if layers is None else f" of a target of {layers} layers"
            problems.append(f"{located.where} holds {outside}{limit}")
    if problems:
        return failed("; ".join(problems), f"boundaries from 0 to {layers if layers else 'L'}")
    if layers is None:
        return unverified("the target's layer count is not known", TARGET)
    return passed(f"all ids lie within the target's {layers} layers")


def _lowest(ids: tuple[int, ...], case: Case) -> int:
    """Return the least id that names a state: 0 where boundaries are counted, else -1."""
    meant = case.intent.boundaries.value
    counts_boundaries = isinstance(meant, tuple) and sorted(meant) == sorted(ids)
    return 0 if counts_boundaries else -1


@contract("layers.count")
def count(eagle_case: Case) -> Outcome:
    """The config's counts of captured states agree, and no state is listed twice.

    Why: engines size fc from one key and capture from another, and they drop repeated ids.
    Incident: vllm#50514, where a review notes that ids are sorted and repeats dropped before
    capture; measured on vLLM 0.32, a repeated id stops the server with a shape error.
    Fix: list each layer once and set num_aux_hidden_states to the length of the list.
    Since: 0.1.0
    """
    config = eagle_case.draft.config
    problems, lengths = [], {}
    for located in written_ids(config):
        lengths[located.where] = len(located.value)
        if not located.value and eagle_case.intent.boundaries.value != ():
            problems.append(f"{located.where} lists no layer")
        if len(set(located.value)) != len(located.value):
            problems.append(f"{located.where} {list(located.value)} repeats an id")
    stated = config.integer("num_aux_hidden_states")
    if stated is not None and stated.value < 1:
        problems.append(f"{stated.where} is {stated.value}")
    elif stated is not None:
        lengths[stated.where] = stated.value
    if len(set(lengths.values())) > 1:
        problems.append(", ".join(f"{where} says {n}" for where, n in lengths.items()))
    listed = ", ".join(f"{n} by {where}" for where, n in lengths.items()) or "no count is written"
    return verdict(problems, "one count, each layer once", listed)


@contract("layers.fc-width")
def fc_width(eagle_case: Case) -> Outcome:
    """fc takes exactly the captured states: its input is their number times the target's width.

    Why: a wrong width is a shape error in most engines; where one state as wide as the draft
    arrives, SGLang skips fc without a word.
    Incident: vllm#18906, where a Llama-3.3-70B draft with another hidden_size than its target
    stopped on a width assertion.
    Fix: write target_hidden_size where it differs from hidden_size; list as many ids as fc takes.
    Since: 0.1.0
    """
    draft, width = eagle_case.draft, eagle_case.target_width
    fc = draft.tensors.get("fc.weight")
    if fc is None:
        return passed("no fc: one state is used as it is")
    if width is None:
        return unverified("the config states no hidden_size", TARGET)
    states = draft.aux_states(width)
    if not states:
        return failed(f"fc.weight {list(fc.shape)}", f"[hidden, n × {width}]")
    counts = {len(located.value) for located in written_ids(draft.config) if located.value}
    stated = draft.config.integer("num_aux_hidden_states")
    if not counts and stated is not None and stated.value > 0:
        counts = {stated.value}
    if len(counts) == 1 and states not in counts:
        return failed(
            f"fc.weight {list(fc.shape)} takes {states} states of {width}",
            f"{counts.pop()} states, as many as the config lists or counts",
        )
    return passed(f"fc.weight {list(fc.shape)} takes {states} states of {width}")


@contract("layers.fc-width", subject="engine")
def engine_fc_width(eagle_case: Case) -> Outcome:
    """The engine builds fc for as many states as the checkpoint's fc takes.

    Why: engines count states from different keys; a miss is a shape error at start.
    Incident: sglang#24663, before which SGLang built fc for 3 states whatever the draft was trained
    with; vLLM did until 0.22, by its source.
    Fix: write num_aux_hidden_states, or use an engine version that reads the count.
    Since: 0.1.0
    """
    states = eagle_case.draft.aux_states(eagle_case.target_width)
    if states is None and eagle_case.target_width is None:
        return unverified("the width of the target's states is not known", TARGET)
    if states is None:
        odd = "fc's own width is not a whole number of target states"
        return blocked("layers.fc-width", odd, loud=True)

    def judge(reading: Resolution) -> Outcome:
        narrow = _narrow(eagle_case, reading) if states else ""
        if narrow:
            stated = refused(narrow, "states of target_hidden_size, as stored")
            return sourced(stated, reading, "target_hidden_size")
        if states in (0, reading.width.states):
            return passed(f"{states} states")
        stated = refused(
            f"builds fc for {reading.width.states} states ({reading.width.where})",
            f"{states} states, as stored",
            count_fix(reading.semantics, states),
        )
        read = "aux_count_keys" if reading.semantics.aux_count_keys else "aux_count_fixed"
        return sourced(stated, reading, read)

    return across(eagle_case, judge)


def _narrow(case: Case, reading: Resolution) -> str:
    """Say how an engine fails where the target's states are not as wide as the draft's."""
    effect, own = reading.semantics.target_hidden_size, case.draft.geometry.hidden_size
    if effect == "honoured" or own is None or case.target_width == own.value:
        return ""
    if effect == "error":
        return f"fails before it runs: feeds fc states of hidden_size, {own.value:,}"
    return "builds fc for states of hidden_size"


@contract("layers.engine", subject="engine")
def engine(eagle_case: Case) -> Outcome:
    """The engine captures the target states that the draft was trained on.

    Why: any other layer leaves the output right and only lowers the accept length.
    Incident: tokenspeed#526, where the default was captured instead of the draft's [24, 30, 36]:
    accept length 1.00, and 2.39 with the draft's own.
    Fix: write the ids where this engine reads them, in its own counting.
    Since: 0.1.0
    """

    def judge(reading: Resolution) -> Outcome:
        return sourced(captures(eagle_case, reading), reading, *decisive(reading))

    return across(eagle_case, judge)


@contract("layers.order", subject="engine")
def engine_order(eagle_case: Case) -> Outcome:
    """The engine concatenates the captured states in the order in which fc was trained.

    Why: each column block of fc belongs to one state; swapped blocks give the draft noise.
    Incident: vllm#50514, where a review notes that ids are sorted before capture; measured on vLLM
    0.32, fc's blocks reversed take accept length from 3.97 to 3.07, a sensitive draft's to 1.00.
    Fix: train and write the ids in ascending order, or permute fc's column blocks to match.
    Since: 0.1.0
    """
    return across(eagle_case, lambda reading: _keeps_order(eagle_case, reading), "aux_order")


def _tuples(boundaries: Iterable[Boundaries]) -> Iterator[tuple[int, ...]]:
    return (b for b in boundaries if isinstance(b, tuple))


def _keeps_order(case: Case, reading: Resolution) -> Outcome:
    intent, captured = case.intent, at(reading.captured.boundaries, case.layers)
    wanted = at(intent.boundaries.value, case.layers)
    if intent.order.value is None:
        if isinstance(captured, tuple) and list(captured) == sorted(captured):
            got = f"sorts the states to {shown(captured)}"
        else:
            got = "keeps the order listed"
        return unverified(f"{got}; {intent.order.reason}", *deciders(case))
    if wanted is None and any(list(b) != sorted(b) for b in _tuples(intent.readings.values())):
        return unverified(f"concatenates {shown(captured)}; the ids do not ascend", *deciders(case))
    if not isinstance(captured, tuple) or not isinstance(wanted, tuple):
        return passed("both use layer order")
    if sorted(captured) != sorted(wanted) or captured == wanted:
        return passed(f"concatenates {shown(captured)}")
    if not intent.order.certain:
        expected = f"{shown(wanted)}: {intent.order.reason}"
        got = f"concatenates {shown(captured)}"
        return unverified(got, *deciders(case), expected=expected)
    return failed(
        f"concatenates {shown(captured)}",
        f"{shown(wanted)}: {intent.order.reason}",
        "permute fc.weight's column blocks to ascending layers and list the ids ascending",
    )
