"""Judge a draft without pytest: bring the parts together and run the contracts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_eagle_contract.checkpoint import Checkpoint, open_checkpoint
from pytest_eagle_contract.checkpoint.reader import open_target, target_weights
from pytest_eagle_contract.checkpoint.target_weights import TargetWeights
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.catalogue import Contract
from pytest_eagle_contract.contracts.outcome import Outcome, failed
from pytest_eagle_contract.contracts.result import FILES, Result
from pytest_eagle_contract.contracts.shipped import shipped
from pytest_eagle_contract.engines.model import Engine
from pytest_eagle_contract.engines.resolve import resolve
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.intent import Evidence, Stated
from pytest_eagle_contract.pair import Draft, Target, read_draft, read_target
from pytest_eagle_contract.prompts import Prompt
from pytest_eagle_contract.token_map import StoredMap, stored_beside, stored_in_file
from pytest_eagle_contract.trainers.intent import NAMED, read_intent
from pytest_eagle_contract.trainers.layer_ids import Author
from pytest_eagle_contract.trainers.model import TrainerProfile
from pytest_eagle_contract.trainers.recognise import recognise
from pytest_eagle_contract.trainers.registry import PROFILES, find

SIDE_FILES = ("d2t.npy",)
"""Mapping files that trainers leave in a checkpoint's directory and that need no torch to read."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Name everything a user can state about a run, as given."""

    target: str | Path | None = None
    trainer: str | None = None
    aux_layers: tuple[int, ...] | None = None
    token_maps: tuple[str | Path, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    full_scan: bool = False


def build_case(checkpoint: Checkpoint, inputs: Inputs, engines: Sequence[Engine] = ()) -> Case:
    """Read what the static contracts need; whatever cannot be read raises InputError."""
    draft = read_draft(checkpoint)
    target = read_target(open_target(inputs.target)) if inputs.target is not None else None
    _require_possible(inputs.aux_layers, draft, target)
    trainer = _trainer(inputs, draft)
    side_maps = tuple(_side_maps(checkpoint, inputs.token_maps))
    return Case(
        draft=draft,
        target=target,
        target_weights=_weights(inputs.target, target),
        intent=read_intent(draft, target, trainer, inputs.aux_layers, side_maps),
        author=Author(trainer.value, trainer.evidence),
        side_maps=side_maps,
        tokens=tuple(i for prompt in inputs.prompts for i in prompt.written),
        chosen=tuple(resolve(draft, target, engine) for engine in engines),
        full_scan=inputs.full_scan,
    )


def for_engine(case: Case, engine: Engine) -> Case:
    """Return the case of one engine."""
    return replace(case, readings=resolve(case.draft, case.target, engine))


def check(contract: Contract, case: Case) -> Outcome:
    """Run one contract; input that cannot be used fails it with the one line that says why."""
    try:
        return contract.check(case)
    except InputError as error:
        return failed(str(error), "readable input", error.remedy)


def assess(
    path: str | Path, inputs: Inputs | None = None, engines: Iterable[Engine] = ()
) -> list[Result]:
    """Judge the draft at `path`: every shipped contract on the files and on each engine."""
    chosen = tuple(engines)
    case = build_case(open_checkpoint(path), inputs or Inputs(), chosen)
    return [*judge_files(case), *(r for engine in chosen for r in judge_engine(case, engine))]


def judge_files(case: Case) -> Iterator[Result]:
    """Yield the outcome of each contract on the checkpoint's own files."""
    for contract in shipped():
        if contract.subject == "files" and contract.static:
            yield Result(contract, FILES, check(contract, case))


def judge_engine(case: Case, engine: Engine) -> Iterator[Result]:
    """Yield the outcome of each contract on one engine."""
    mine = for_engine(case, engine)
    for contract in shipped():
        if contract.subject == "engine" and contract.static:
            yield Result(contract, engine.label, check(contract, mine))


def _trainer(inputs: Inputs, draft: Draft) -> Stated[TrainerProfile]:
    if inputs.trainer is not None:
        return Stated(find(inputs.trainer), Evidence.DECLARED, NAMED)
    return recognise(draft, PROFILES)


def _require_possible(given: tuple[int, ...] | None, draft: Draft, target: Target | None) -> None:
    """Refuse stated layers that this pair cannot have been trained on: a typo, most likely."""
    if given is None:
        return
    layers = target.layers if target else None
    beyond = [b for b in given if layers is not None and b > layers]
    if beyond:
        problem = f"boundary {beyond[0]} is beyond the target's {layers} layers"
        raise InputError(
            "--eagle-aux-layers", "", problem, "count boundaries from 0 to the last layer"
        )
    width = target.geometry.hidden_size.value if target and target.geometry.hidden_size else None
    states = draft.aux_states(width or draft.geometry.target_width)
    if states and states != len(given):
        problem = f"names {len(given)} layers, and fc takes {states} states"
        raise InputError("--eagle-aux-layers", "", problem, "name one layer for each state")


def _weights(given: str | Path | None, target: Target | None) -> TargetWeights | None:
    return None if given is None or target is None else target_weights(given, target.config)


def _side_maps(checkpoint: Checkpoint, given: Iterable[str | Path]) -> Iterator[StoredMap]:
    for path in given:
        yield stored_in_file(Path(path))
    for name in SIDE_FILES:
        if name in checkpoint.files:
            yield stored_beside(checkpoint.path / name)
