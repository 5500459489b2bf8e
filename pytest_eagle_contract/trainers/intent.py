"""State what a draft was trained to be, from its files, its trainer and the user's word."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_eagle_contract.checkpoint.switches import SWITCHES, TENSOR_OF, switch_places
from pytest_eagle_contract.intent import Evidence, Intent, Stated
from pytest_eagle_contract.pair import Draft, Target
from pytest_eagle_contract.token_map import (
    Classification,
    StoredMap,
    TokenMap,
    classify,
    settled,
)
from pytest_eagle_contract.trainers.layer_ids import Author, intended_layers
from pytest_eagle_contract.trainers.model import TrainerProfile

NAMED = "--eagle-trainer"
"""Why a trainer is known where the user named it."""

REFERENCE_SWITCHES = {name: name == "use_aux_hidden_state" for name in SWITCHES}
"""What the EAGLE-3 reference computes: aux states, none of the later norms."""


def read_intent(
    draft: Draft,
    target: Target | None,
    trainer: Stated[TrainerProfile],
    aux_layers: tuple[int, ...] | None = None,
    side_maps: Sequence[StoredMap] = (),
) -> Intent:
    """Return the trainer's intent.

    `aux_layers` are the user's own boundaries; `side_maps` settle a map that its own numbers leave
    open.
    """
    profile = trainer.value
    layers = target.layers if target else None
    named = trainer.reason == NAMED
    author = Author(profile, trainer.evidence)
    captured = intended_layers(draft.config, author, layers, aux_layers)
    token_map, classification = _token_map(draft, side_maps)
    return Intent(
        trainer=Stated(profile.name if profile else None, trainer.evidence, trainer.reason),
        trainer_named=named,
        boundaries=captured.boundaries,
        readings=captured.readings,
        contradiction=captured.contradiction,
        order=captured.order,
        token_map=token_map,
        classification=classification,
        map_order=profile.map_order if profile else "unknown",
        switches={name: _switch(name, draft, trainer) for name in SWITCHES},
        owns_embedding=_embedding(draft, profile),
        rope_theta=_rope_theta(draft, profile, named=named),
    )


def _switch(name: str, draft: Draft, by: Stated[TrainerProfile]) -> Stated[bool]:
    trainer, written = by.value, draft.config.flag(*switch_places(name))
    shown = TENSOR_OF.get(name)
    stored = shown is not None and shown in draft.tensors
    # A tensor that the trainer never writes tells against a trainer that is only suggested.
    trusted = by.certain or not stored
    if trainer is not None and name in trainer.trained_as and trusted:
        value = trainer.trained_as[name]
        said = "true" if value else "false"
        reason = f"{trainer.title} trains with {said} whatever a key says"
        if written is None or written.value == value or by.certain:
            return Stated(value, by.evidence, reason)
        doubt = f"config.json: {written.where} is not, and the files only suggest {trainer.title}"
        return Stated(None, Evidence.UNKNOWN, f"{reason}; {doubt}")
    if written is not None:
        return Stated(written.value, Evidence.DECLARED, f"config.json: {written.where}")
    if stored:
        return Stated(True, Evidence.DECLARED, f"the checkpoint holds {shown}")
    if trainer is not None and name in trainer.switch_defaults:
        evidence = Evidence.DECLARED if by.reason == NAMED else Evidence.DEFAULT
        reason = f"{trainer.title}'s default, the key is not written"
        return Stated(trainer.switch_defaults[name], evidence, reason)
    return Stated(
        REFERENCE_SWITCHES[name], Evidence.DEFAULT, "the reference's, the key is not written"
    )


def _token_map(
    draft: Draft, side_maps: Sequence[StoredMap]
) -> tuple[Stated[TokenMap], Classification | None]:
    stored, sizes = draft.stored_map, draft.geometry
    if stored is None:
        return Stated(None, Evidence.UNKNOWN, "the checkpoint holds no d2t"), None
    vocab = sizes.vocab_size.value if sizes.vocab_size else None
    found = settled(classify(stored, vocab), side_maps)
    if found.token_map is None:
        return Stated(None, Evidence.UNKNOWN, found.evidence), found
    evidence = Evidence.DECLARED if found.certain else Evidence.DEFAULT
    return Stated(found.token_map, evidence, found.evidence), found


def _rope_theta(draft: Draft, trainer: TrainerProfile | None, *, named: bool) -> Stated[float]:
    rope = draft.geometry.rope
    # Multimodal rotary settings have a code path of their own, which reads the config.
    if trainer is not None and trainer.rope_theta and "mrope_section" not in rope.parameters:
        reason = f"{trainer.title} trains with {trainer.rope_theta:g} whatever the config says"
        # One release's source speaks of a draft by an unknown one; the user's word settles it.
        evidence = Evidence.DECLARED if named else Evidence.DEFAULT
        return Stated(trainer.rope_theta, evidence, reason)
    if rope.theta is None:
        return Stated(None, Evidence.DEFAULT, "no base is written")
    return Stated(rope.theta.value, Evidence.DECLARED, f"config.json: {rope.theta.where}")


def _embedding(draft: Draft, trainer: TrainerProfile | None) -> Stated[bool]:
    if "embed_tokens.weight" not in draft.tensors:
        return Stated(False, Evidence.DECLARED, "the checkpoint holds no embed_tokens")
    if trainer is not None and trainer.embedding == "target's":
        return Stated(False, Evidence.DEFAULT, f"{trainer.title} freezes the target's embedding")
    return Stated(None, Evidence.UNKNOWN, "trained or copied from the target is not written")
