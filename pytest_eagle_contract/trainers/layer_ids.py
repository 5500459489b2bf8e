"""Work out which target states a draft was trained on from what its files say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_eagle_contract.boundaries import REFERENCE, Boundaries, DefaultBoundaries, convert
from pytest_eagle_contract.checkpoint.config import Config, Located
from pytest_eagle_contract.intent import Evidence, Stated
from pytest_eagle_contract.trainers.model import NESTED_IDS as NESTED
from pytest_eagle_contract.trainers.model import TOP_IDS as TOP
from pytest_eagle_contract.trainers.model import TrainerProfile

OUTPUT_DEFAULT = REFERENCE.shifted(-1)
"""The reference default written as layer outputs: {1, L//2-1, L-4}."""


@dataclass(frozen=True, slots=True)
class LayerIntent:
    """Say which boundaries were trained on, or which readings remain open."""

    boundaries: Stated[Boundaries]
    order: Stated[str]
    readings: dict[str, Boundaries] = field(default_factory=dict)
    contradiction: str = ""


OTHER = (
    "eagle_config.layer_ids",
    "aux_hidden_states_layer_ids",
    "target_layer_ids",
    "feature_layers",
)
"""Names under which ids were seen that few engines read."""


def written_ids(config: Config) -> list[Located[tuple[int, ...]]]:
    """Return every list of layer ids in the config, the standard places first."""
    found = [config.integers(key) for key in (NESTED, TOP, *OTHER)]
    return [located for located in found if located is not None]


def intended_layers(
    config: Config,
    trainer: TrainerProfile | None,
    layers: int | None,
    given: tuple[int, ...] | None,
) -> LayerIntent:
    """Return what the trainer captured, by the first evidence that settles it.

    `given` is the user's own statement in boundaries; it settles everything.
    """
    if given is not None:
        return LayerIntent(
            Stated(given, Evidence.DECLARED, "--eagle-aux-layers"),
            Stated("listed", Evidence.DECLARED, "--eagle-aux-layers"),
        )
    off = config.flag("eagle_config.use_aux_hidden_state", "use_aux_hidden_state")
    if off is not None and not off.value:
        return LayerIntent(
            Stated((), Evidence.DECLARED, f"{off.where} is false: only the final state is used"),
            Stated("listed", Evidence.DECLARED, "one state has no order"),
        )
    top, nested = config.integers(TOP), config.integers(NESTED)
    if top is not None and nested is not None:
        return _both(top, nested, trainer)
    written = next(iter(written_ids(config)), None)
    return _none_written(trainer) if written is None else _one(written, config, trainer, layers)


def _both(
    top: Located[tuple[int, ...]], nested: Located[tuple[int, ...]], trainer: TrainerProfile | None
) -> LayerIntent:
    if nested.value == tuple(i - 1 for i in top.value):
        reason = f"{top.where} {list(top.value)}, and {nested.where} says the same as layer outputs"
        return LayerIntent(Stated(top.value, Evidence.DECLARED, reason), _order(trainer, top.value))
    if trainer is not None and top.value == nested.value and TOP in trainer.ids_places:
        return _by_trainer(top, trainer)
    reason = f"{top.where} {list(top.value)} and {nested.where} {list(nested.value)} contradict"
    return LayerIntent(
        Stated(None, Evidence.UNKNOWN, reason),
        _order(trainer, top.value),
        _readings(top.value, prefix="top level ") | _readings(nested.value, prefix="nested "),
        contradiction=reason,
    )


def _one(
    written: Located[tuple[int, ...]],
    config: Config,
    trainer: TrainerProfile | None,
    layers: int | None,
) -> LayerIntent:
    ids, order = written.value, _order(trainer, written.value)
    if layers is not None and ids and max(ids) == layers:
        reason = f"{written.where} holds {layers} = L, which no layer output is called"
        return LayerIntent(Stated(_in_order(ids, trainer), Evidence.DECLARED, reason), order)
    if _counts_boundaries(written, config, trainer) and _default_outputs(ids, layers):
        reason = (
            f"{written.where} {list(ids)} counts boundaries by its format, and is the default set "
            f"{OUTPUT_DEFAULT} of layer outputs: converters copy ids without counting anew"
        )
        return LayerIntent(Stated(None, Evidence.UNKNOWN, reason), order, _readings(ids))
    # Ids at a place where the trainer writes none were added by someone else, in his own counting.
    if trainer is not None and written.where in trainer.ids_places:
        return _by_trainer(written, trainer)
    if config.has("speculators_model_type"):
        reason = f"{written.where}: the speculators format counts boundaries"
        return LayerIntent(Stated(ids, Evidence.DECLARED, reason), order)
    for formula, shift, meaning in (
        (OUTPUT_DEFAULT, 1, "layer outputs"),
        (REFERENCE, 0, "boundaries"),
    ):
        count = formula.layers_for(ids)
        if count is not None and layers in (None, count):
            reason = (
                f"{written.where} {list(ids)} is the default set {formula} written as {meaning}"
            )
            boundaries = tuple(i + shift for i in ids)
            return LayerIntent(Stated(boundaries, Evidence.DECLARED, reason), order)
    reason = f"{written.where} {list(ids)} could be layer outputs or boundaries"
    return LayerIntent(Stated(None, Evidence.UNKNOWN, reason), order, _readings(ids))


def _counts_boundaries(
    written: Located[tuple[int, ...]], config: Config, trainer: TrainerProfile | None
) -> bool:
    if trainer is not None and written.where in trainer.ids_places:
        return trainer.ids_mean == "boundary"
    return config.has("speculators_model_type")


def _default_outputs(ids: Sequence[int], layers: int | None) -> bool:
    count = OUTPUT_DEFAULT.layers_for(ids)
    return count is not None and layers in (None, count)


def _by_trainer(written: Located[tuple[int, ...]], trainer: TrainerProfile) -> LayerIntent:
    boundaries = _in_order(convert(written.value, trainer.ids_mean, None) or (), trainer)
    meaning = "boundaries" if trainer.ids_mean == "boundary" else "layer outputs"
    reason = f"{written.where} {list(written.value)}: {trainer.title} counts {meaning}"
    return LayerIntent(
        Stated(boundaries, Evidence.DECLARED, reason), _order(trainer, written.value)
    )


def _in_order(boundaries: tuple[int, ...], trainer: TrainerProfile | None) -> tuple[int, ...]:
    sorts = trainer is not None and trainer.order == "ascending"
    return tuple(sorted(boundaries)) if sorts else boundaries


def _none_written(trainer: TrainerProfile | None) -> LayerIntent:
    formula: DefaultBoundaries = trainer.default if trainer else REFERENCE
    whose = f"{trainer.title}'s default" if trainer else "the default of most trainers"
    reason = (
        f"no layer ids are written; {formula} is {whose}, and overridden ids are often not saved"
    )
    return LayerIntent(
        Stated(formula, Evidence.DEFAULT, reason),
        Stated("ascending", Evidence.DEFAULT, "defaults are listed in layer order"),
    )


def _order(trainer: TrainerProfile | None, ids: Sequence[int]) -> Stated[str]:
    if list(ids) == sorted(ids):
        return Stated("ascending", Evidence.DECLARED, "the ids ascend")
    if trainer is None:
        reason = "the ids do not ascend, and whether fc was trained in that order is not written"
        return Stated(None, Evidence.UNKNOWN, reason)
    return Stated(trainer.order, Evidence.DECLARED, f"{trainer.title} concatenates {trainer.order}")


def _readings(ids: Sequence[int], prefix: str = "") -> dict[str, Boundaries]:
    return {
        f"{prefix}as layer outputs": tuple(i + 1 for i in ids),
        f"{prefix}as boundaries": tuple(ids),
    }
