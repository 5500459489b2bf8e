"""What would decide a contract that is open."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Need:
    """Name what would decide an open contract.

    `name` is its word in reports, that of `--eagle-require` where there is one; `how` says what the
    user gives. `meaning` marks knowledge of the draft itself; without it nobody can say that an
    engine reads the draft as it was trained.
    """

    name: str
    how: str
    meaning: bool = False


TARGET = Need("target", "--eagle-target")
TARGET_LAYERS = Need("target", "--eagle-target, whose layers decide", meaning=True)
TARGET_FAMILY = Need("target", "--eagle-target, whose family decides", meaning=True)
ARCHITECTURES = Need("target family", "architectures in the target's config.json", meaning=True)
TARGET_WEIGHTS = Need("target weights", "--eagle-target with weights")
READABLE_WEIGHTS = Need("target weights", "readable target weights")
TARGET_SIZES = Need("target", "hidden_size and vocab_size in both configs")
TORCH = Need("torch", "pip install 'pytest-eagle-contract[target]'")
PROMPTS = Need("prompts", "--eagle-prompts")
MORE_PROMPTS = Need("prompts", "more prompts in --eagle-prompts")
TRAINER = Need("trainer", "--eagle-trainer", meaning=True)
AUX_LAYERS = Need("aux layers", "--eagle-aux-layers", meaning=True)
TOKEN_MAP = Need("token map", "--eagle-token-map", meaning=True)
SWITCH = Need("switch", "its key, written in config.json", meaning=True)
VOCAB_SIZE = Need("vocab_size", "vocab_size in config.json", meaning=True)
ONE_ROPE = Need("rope", "one rope in config.json, the trained one", meaning=True)
RUN = Need("run", "a run with the draft")


def argument(name: str) -> Need:
    """Return the need to know an argument with which the engine is started."""
    return Need(name, f"{name}, given to the engine", meaning=True)
