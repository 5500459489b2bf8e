"""The trainers that are known, and how to find one by name."""

from __future__ import annotations

from difflib import get_close_matches

from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.trainers.angelslim import ANGELSLIM
from pytest_eagle_contract.trainers.automodel import AUTOMODEL
from pytest_eagle_contract.trainers.eagle import EAGLE
from pytest_eagle_contract.trainers.model import TrainerProfile
from pytest_eagle_contract.trainers.modelopt import MODELOPT
from pytest_eagle_contract.trainers.specforge import SPECFORGE
from pytest_eagle_contract.trainers.speculators import SPECULATORS
from pytest_eagle_contract.trainers.verl_speco import VERL_SPECO

PROFILES: tuple[TrainerProfile, ...] = (
    SPECFORGE,
    SPECULATORS,
    EAGLE,
    MODELOPT,
    AUTOMODEL,
    VERL_SPECO,
    ANGELSLIM,
)


def find(name: str) -> TrainerProfile:
    """Return the profile of a trainer; an unknown name raises InputError with the closest ones."""
    names = {profile.name: profile for profile in PROFILES}
    wanted = name.strip().lower().replace("_", "-")
    if wanted in names:
        return names[wanted]
    close = get_close_matches(wanted, names, n=2, cutoff=0.5) or list(names)
    problem, remedy = f"{name!r} is no known trainer", f"use {', '.join(close)}"
    raise InputError("--eagle-trainer", "", problem, remedy)
