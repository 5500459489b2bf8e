"""Open what the numeric level needs, or say in one line what is missing. Imports no torch."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_eagle_contract.assess import judge_engine
from pytest_eagle_contract.checkpoint.reader import local_directory
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.needs import PROMPTS, RUN, TARGET_WEIGHTS, TORCH, Need
from pytest_eagle_contract.contracts.outcome import Outcome, unverified
from pytest_eagle_contract.engines.model import Engine
from pytest_eagle_contract.options import STEPS
from pytest_eagle_contract.prompts import Prompt

if TYPE_CHECKING:
    from pytest_eagle_contract.acceptance.session import Acceptance
    from pytest_eagle_contract.acceptance.verdicts import Judge
    from pytest_eagle_contract.run import Run

MODULES = ("torch", "transformers")
MODELLED = frozenset(
    {
        "layers.engine",
        "layers.order",
        "mapping.engine",
        "checkpoint.switches",
        "checkpoint.embedding",
        "checkpoint.context",
    }
)
"""Contracts on an engine whose faults the reference draft can be wired with."""


@dataclass(frozen=True, slots=True)
class Absent:
    """Stand for numbers that cannot be had: every contract that asks is left unverified."""

    says: str
    need: Need

    def predicted(self) -> Outcome:
        """Leave it open."""
        return unverified(self.says, self.need)

    def threshold(self) -> Outcome:
        """Leave it open."""
        return unverified(self.says, self.need)


def open_acceptance(run: Run, case: Case) -> Acceptance | Absent:
    """Return the numbers of a draft, its target loaded once for the whole run."""
    missing = [name for name in MODULES if importlib.util.find_spec(name) is None]
    if missing:
        return Absent(f"{' and '.join(missing)} cannot be imported", TORCH)
    if case.target_weights is None:
        return Absent("no target with safetensors weights is given", TARGET_WEIGHTS)
    if case.draft.latent_attention or case.draft.packed:
        kind = "latent attention" if case.draft.latent_attention else "packed weights"
        return Absent(f"drafts with {kind} are not run here", RUN)
    prompts = [p for p in run.inputs.prompts if p.token_ids]
    if not prompts:
        return Absent("no prompts are given", PROMPTS)
    sizes = case.target.geometry if case.target else case.draft.geometry
    vocab = sizes.vocab_size.value if sizes.vocab_size else 0
    if any(not 0 <= i < vocab for p in prompts for i in (*p.token_ids, *p.continuation)):
        return Absent(f"the prompts hold ids outside the target's {vocab:,}", PROMPTS)
    key = str(case.draft.checkpoint.path)
    if key not in run.numbers:
        run.numbers[key] = _opened(run, case, prompts)
    return run.numbers[key]


def judge_of(run: Run, case: Case, engine: Engine) -> Judge | Absent:
    """Return who judges an engine's numbers."""
    acceptance = open_acceptance(run, case)
    if isinstance(acceptance, Absent):
        return acceptance
    from pytest_eagle_contract.acceptance.floors import Floors
    from pytest_eagle_contract.acceptance.verdicts import Judge

    failed = [r.contract.id for r in judge_engine(case, engine) if r.outcome.status == "failed"]
    unmodelled = tuple(i for i in failed if i not in MODELLED)
    get = run.settings.get
    floors = Floors(get("min_accept_length"), get("min_acceptance", ()))
    return Judge(acceptance, case, unmodelled, floors)


def _opened(run: Run, case: Case, prompts: list[Prompt]) -> Acceptance:
    from pytest_eagle_contract.acceptance.session import Acceptance, Settings
    from pytest_eagle_contract.target.load import load_target

    chosen = Settings(
        run.settings.get("num_steps", STEPS),
        run.settings.get("new_tokens", 128),
        run.settings.get("device", "cpu"),
    )
    assert run.inputs.target is not None
    if run.target_model is None:
        run.target_model = load_target(local_directory(run.inputs.target), chosen.device)
    return Acceptance(case, run.target_model, prompts, chosen)
