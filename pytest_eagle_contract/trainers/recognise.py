"""Tell which trainer wrote a checkpoint from what the checkpoint shows."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_eagle_contract.checkpoint.files import read_json
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.intent import Evidence, Stated
from pytest_eagle_contract.pair import Draft
from pytest_eagle_contract.trainers.model import SURE, Signature, TrainerProfile


def recognise(draft: Draft, profiles: Iterable[TrainerProfile]) -> Stated[TrainerProfile]:
    """Return the trainer with the strongest matching signature, none where two are equal.

    The evidence is only a default where the signature is what others might write too.
    """
    matches = [
        (signature.strength, profile, signature.says)
        for profile in profiles
        for signature in profile.signatures
        if shows(draft, signature)
    ]
    if not matches:
        return Stated(None, Evidence.UNKNOWN, "nothing in the files names a trainer")
    strongest = max(strength for strength, _, _ in matches)
    best = {p.name: (p, says) for strength, p, says in matches if strength == strongest}
    if len(best) > 1:
        return Stated(None, Evidence.UNKNOWN, f"fits {', '.join(sorted(best))} alike")
    profile, says = next(iter(best.values()))
    return Stated(profile, Evidence.DECLARED if strongest >= SURE else Evidence.DEFAULT, says)


def shows(draft: Draft, signature: Signature) -> bool:
    """Tell whether a checkpoint shows everything that a signature lists."""
    config, raw = draft.config, draft.checkpoint.tensors
    written = config.texts("architectures")
    return all(
        (
            not signature.architectures
            or (written is not None and not signature.architectures.isdisjoint(written.value)),
            all(config.has(key) for key in signature.keys),
            not any(config.has(key) for key in signature.absent_keys),
            all(name in raw for name in signature.tensors),
            not any(name in draft.tensors for name in signature.absent_tensors),
            all(any(n.startswith(p) for n in raw) for p in signature.prefixes),
            all(name in draft.checkpoint.files for name in signature.files),
            all(_holds(draft, *entry) for entry in signature.entries),
        )
    )


def _holds(draft: Draft, name: str, key: str, value: str) -> bool:
    """Tell whether a JSON file beside the weights says so; one that cannot be read says nothing."""
    if name not in draft.checkpoint.files:
        return False
    try:
        return read_json(draft.checkpoint.path / name).get(key) == value
    except InputError:
        return False
