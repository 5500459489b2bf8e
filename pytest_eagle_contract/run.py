"""What one pytest run judges: its checkpoints, engines and stated inputs."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_eagle_contract.assess import Inputs, build_case, judge_files
from pytest_eagle_contract.boundaries import at, shown
from pytest_eagle_contract.checkpoint import Checkpoint, open_checkpoint
from pytest_eagle_contract.checkpoint.hub import is_uri
from pytest_eagle_contract.checkpoint.reader import manifest_digest
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.result import Result
from pytest_eagle_contract.engines.model import Engine
from pytest_eagle_contract.engines.registry import (
    beyond_facts,
    default_engines,
    find,
    is_installed,
    unknown_release,
)
from pytest_eagle_contract.errors import InputError, one_line
from pytest_eagle_contract.known import Known, read_known
from pytest_eagle_contract.options import OPTIONS
from pytest_eagle_contract.prompts import read_prompts
from pytest_eagle_contract.settings import Settings, unknown_variables

if TYPE_CHECKING:
    from pytest_eagle_contract.acceptance.session import Acceptance
    from pytest_eagle_contract.target.capture import TargetModel


@dataclass(slots=True)
class Run:
    """Hold a run's inputs.

    `cases` maps the checkpoint paths given to their cases, and `on_files` to what the contracts on
    files said, which every engine of the matrix takes into account. `labels` are short names of
    the checkpoints, `summaries` what reports say of them, `notes` what a reader must know of the
    engines chosen, and `refusal` why no contract can be run. `numbers` and `target_model` are what
    the numeric level has loaded.
    """

    settings: Settings
    inputs: Inputs
    engines: tuple[Engine, ...]
    known: tuple[Known, ...]
    cases: dict[str, Case] = field(default_factory=dict)
    on_files: dict[str | None, tuple[Result, ...]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refusal: str = ""
    unreadable: str = ""
    summaries: dict[str, Mapping[str, object]] = field(default_factory=dict)
    numbers: dict[str, Acceptance] = field(default_factory=dict)
    target_model: TargetModel | None = None

    @property
    def judged(self) -> tuple[Engine, ...]:
        """Return the engines of the matrix, where the user named none to hold the draft to."""
        return () if self.engines else default_engines()

    def case_of(self, checkpoint: Checkpoint) -> Case:
        """Return a checkpoint's case, the one that was built where it is one of those given."""
        built = (c for c in self.cases.values() if c.draft.checkpoint is checkpoint)
        return next(built, None) or self.build(checkpoint)

    def build(self, checkpoint: Checkpoint) -> Case:
        """Read what the contracts of this run look at."""
        return build_case(checkpoint, self.inputs, self.engines or self.judged)

    def judged_files(self, path: str | None, case: Case) -> tuple[Result, ...]:
        """Return the outcomes on the files of the checkpoint given as `path`, judged once."""
        if path not in self.on_files:
            self.on_files[path] = tuple(judge_files(case))
        return self.on_files[path]

    def summary(self, path: str, case: Case) -> dict[str, object]:
        """Return what a report says about a checkpoint, as plain data."""
        if path not in self.summaries:
            self.summaries[path] = _describe(path, case)
        return dict(self.summaries[path])


def start(settings: Settings, *, fetch: bool = True) -> Run:
    """Read everything that was named; what cannot be used raises UsageError with one line.

    Without `fetch` nothing is read from the hub: its drafts get a label and no case.
    """
    try:
        run = Run(
            settings=settings,
            inputs=_inputs(settings),
            # Two spellings of one engine are one subject.
            engines=tuple({e.label: e for e in map(find, settings.get("engine", ()))}.values()),
            known=read_known(settings.get("known_failures")),
        )
        unknown_ones = (*map(unknown_release, settings.get("engine", ())),)
        run.notes = (*filter(None, (*unknown_ones, *map(beyond_facts, run.engines))),)
        run.labels = labels(settings.get("ckpt", ()))
        for path in run.labels:
            if fetch or not (is_uri(path) or is_uri(run.inputs.target or "")):
                run.cases[path] = run.build(open_checkpoint(path))
    except InputError as error:
        raise pytest.UsageError(_attributed(error, settings)) from None
    unknown = unknown_variables()
    if unknown:
        raise pytest.UsageError(f"{unknown[0]}: is no option; remove it, or see pytest --help")
    missing = list(_missing(run))
    if missing:
        raise pytest.UsageError(f"--eagle-require: {'; '.join(missing)}")
    return run


def _attributed(error: InputError, settings: Settings) -> str:
    """Return an error with the option, variable or ini key that named its file before it."""
    for option in OPTIONS:
        given = settings.get(option.name, ()) if option.path else ()
        paths = given if isinstance(given, tuple) else (given,)
        if any(_lies_in(error.path, path) for path in paths):
            return f"{settings.sources[option.name]}: {error}"
    return str(error)


def _lies_in(path: str, given: object) -> bool:
    if not isinstance(given, str):
        return False
    if is_uri(given):
        return path.startswith(given)
    return Path(os.path.abspath(path)).is_relative_to(os.path.abspath(os.path.expanduser(given)))


def labels(paths: Iterable[str]) -> dict[str, str]:
    """Return a name for each path: the last parts of it that tell it from the others.

    A directory that is written twice is one checkpoint.
    """
    places: dict[tuple[str, ...], str] = {}
    for path in paths:
        places.setdefault(Path(os.path.abspath(path)).parts, path)
    return {path: "/".join(_tail(parts, places)) for parts, path in places.items()}


def _tail(mine: tuple[str, ...], places: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    others = [parts for parts in places if parts != mine]
    needed = (n for n in range(1, len(mine)) if all(o[-n:] != mine[-n:] for o in others))
    return mine[-next(needed, len(mine)) :]


def _describe(path: str, case: Case) -> Mapping[str, object]:
    sizes, boundaries = case.draft.geometry, at(case.intent.boundaries.value, case.layers)
    return {
        "path": path,
        "trainer": case.intent.trainer.value,
        "sha256": manifest_digest(case.draft.checkpoint),
        "draft_vocab_size": sizes.draft_rows,
        "vocab_size": sizes.vocab_size.value if sizes.vocab_size else None,
        "boundaries": list(boundaries) if isinstance(boundaries, tuple) else None,
        "layers": shown(boundaries),
        "evidence": one_line(case.intent.boundaries.reason),
    }


def _inputs(settings: Settings) -> Inputs:
    prompts = settings.get("prompts")
    return Inputs(
        target=settings.get("target"),
        trainer=settings.get("trainer"),
        aux_layers=settings.get("aux_layers"),
        token_maps=settings.get("token_map", ()),
        prompts=tuple(read_prompts(Path(prompts))) if prompts else (),
        full_scan=settings.get("full_scan", False),
    )


def _missing(run: Run) -> Iterator[str]:
    required = {name for names in run.settings.get("require", ()) for name in names}
    if "target" in required and run.inputs.target is None:
        yield "target is missing, give --eagle-target"
    if "engine" in required and not run.engines:
        yield "engine is missing, give --eagle-engine"
    for engine in run.engines if "engine" in required else ():
        if not is_installed(engine.profile):
            yield f"engine is missing, {engine.profile.name} is not installed"
    if "torch" in required and importlib.util.find_spec("torch") is None:
        yield "torch is missing, pip install 'pytest-eagle-contract[torch]'"
    if "gpu" in required and not _gpu():
        yield "gpu is missing, no NVIDIA device is visible"


def _gpu() -> bool:
    """Tell whether a driver exposes a device, without importing torch."""
    return any(Path("/dev").glob("nvidia[0-9]*"))
