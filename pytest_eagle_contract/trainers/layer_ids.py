"""Work out which target states a draft was trained on from what its files say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pytest_eagle_contract.boundaries import REFERENCE, Boundaries, DefaultBoundaries, convert
from pytest_eagle_contract.checkpoint.config import Config, Located
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS as NESTED
from pytest_eagle_contract.checkpoint.keys import TOP_IDS as TOP
from pytest_eagle_contract.intent import Evidence, Stated
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
    "eagle_config.target_hidden_layer_ids",
    "eagle_config.layer_ids",
    "aux_hidden_states_layer_ids",
    "target_layer_ids",
    "feature_layers",
)
"""Names under which ids were seen that few engines read."""

Ids = Located[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Author:
    """Hold the trainer of a draft, if one is known, and how surely it is known."""

    profile: TrainerProfile | None
    evidence: Evidence = Evidence.DECLARED

    def owns(self, written: Ids) -> bool:
        """Tell whether ids stand where this trainer writes its own.

        Ids elsewhere were added by someone else, in his own counting.
        """
        return self.profile is not None and written.where in self.profile.ids_places


def written_ids(config: Config) -> list[Ids]:
    """Return every list of layer ids in the config, the standard places first."""
    found = [config.integers(key) for key in (NESTED, TOP, *OTHER)]
    return [located for located in found if located is not None]


def intended_layers(
    config: Config,
    author: Author,
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
    # An engine passes an empty list over; layers.count names it.
    written = [located for located in written_ids(config) if located.value]
    if not written:
        return _none_written(author.profile)
    top, nested = (next((w for w in written if w.where == place), None) for place in (TOP, NESTED))
    if top is not None and nested is not None:
        found = _both(top, nested, author)
    else:
        first = next((w for w in written if author.owns(w)), written[0])
        found = _one(first, config, author, layers)
    return _held_against(_in_order(found, author), written)


def _both(top: Ids, nested: Ids, author: Author) -> LayerIntent:
    if sorted(nested.value) == [i - 1 for i in sorted(top.value)]:
        reason = f"{top.where} {list(top.value)}, and {nested.where} says the same as layer outputs"
        # Two orders of one set leave the order as open as one that nobody explains.
        alike = nested.value == tuple(i - 1 for i in top.value)
        order = _order(author, top) if alike else _order(author, nested, top)
        return LayerIntent(Stated(top.value, Evidence.DECLARED, reason), order)
    if top.value == nested.value and author.owns(top):
        return _by_trainer(top, author)
    return _contradiction(top, nested, author)


def _contradiction(one: Ids, other: Ids, author: Author) -> LayerIntent:
    reason = f"{one.where} {list(one.value)} and {other.where} {list(other.value)} contradict"
    if one.value == other.value:
        reason += ": the one counts boundaries by custom and the other layer outputs"
    return LayerIntent(
        Stated(None, Evidence.UNKNOWN, reason),
        _order(author, one),
        _readings(one.value, one.where) | _readings(other.value, other.where),
        contradiction=reason,
    )


def _held_against(found: LayerIntent, written: Sequence[Ids]) -> LayerIntent:
    """Return what was found, or the contradiction with a list that neither counting explains."""
    known = found.boundaries.value
    meant = [known] if isinstance(known, tuple) else list(found.readings.values())
    sets = [sorted(i - shift for i in b) for b in meant if isinstance(b, tuple) for shift in (0, 1)]
    odd = [w for w in written if w.value and sorted(w.value) not in sets]
    if found.contradiction or not odd:
        return found
    reason = f"{odd[0].where} {list(odd[0].value)} contradicts {found.boundaries.reason}"
    unknown: Stated[Boundaries] = Stated(None, Evidence.UNKNOWN, reason)
    first = {"as found first": known} if known is not None else found.readings
    readings = first | _readings(odd[0].value, odd[0].where)
    return replace(found, boundaries=unknown, readings=readings, contradiction=reason)


def _one(written: Ids, config: Config, author: Author, layers: int | None) -> LayerIntent:
    ids, order = written.value, _order(author, written)
    if layers is not None and ids and max(ids) == layers:
        reason = f"{written.where} holds {layers} = L, which no layer output is called"
        return LayerIntent(Stated(ids, Evidence.DECLARED, reason), order)
    if _counts_boundaries(written, config, author) and _default_outputs(ids, layers):
        reason = (
            f"{written.where} {list(ids)} counts boundaries by its format, and is the default set "
            f"{OUTPUT_DEFAULT} of layer outputs: converters copy ids without counting anew"
        )
        return LayerIntent(Stated(None, Evidence.UNKNOWN, reason), order, _readings(ids))
    if author.owns(written) and author.evidence is Evidence.DECLARED:
        return _by_trainer(written, author)
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
    if author.owns(written):
        return _by_trainer(written, author)
    reason = f"{written.where} {list(ids)} could be layer outputs or boundaries"
    return LayerIntent(Stated(None, Evidence.UNKNOWN, reason), order, _readings(ids))


def _counts_boundaries(written: Ids, config: Config, author: Author) -> bool:
    if author.profile is not None and author.owns(written):
        return author.profile.ids_mean == "boundary"
    return config.has("speculators_model_type")


def _default_outputs(ids: Sequence[int], layers: int | None) -> bool:
    count = OUTPUT_DEFAULT.layers_for(ids)
    return count is not None and layers in (None, count)


def _by_trainer(written: Ids, author: Author) -> LayerIntent:
    assert author.profile is not None
    counting = author.profile.ids_mean
    boundaries = convert(written.value, counting, None) or ()
    meaning = "boundaries" if counting == "boundary" else "layer outputs"
    reason = f"{written.where} {list(written.value)}: {author.profile.title} counts {meaning}"
    readings: dict[str, Boundaries] = {}
    if author.evidence is not Evidence.DECLARED:
        reason += f", and the files only suggest {author.profile.title}"
        readings = _readings(written.value)
    stated: Stated[Boundaries] = Stated(boundaries, author.evidence, reason)
    return LayerIntent(stated, _order(author, written), readings)


def _in_order(found: LayerIntent, author: Author) -> LayerIntent:
    """Return what was found in the order in which the trainer's fc takes it."""
    if author.profile is None or author.profile.order != "ascending":
        return found
    stated = replace(found.boundaries, value=_ascending(found.boundaries.value))
    readings = {name: _ascending(b) or b for name, b in found.readings.items()}
    return replace(found, boundaries=stated, readings=readings)


def _ascending(boundaries: Boundaries | None) -> Boundaries | None:
    return tuple(sorted(boundaries)) if isinstance(boundaries, tuple) else boundaries


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


def _order(author: Author, *written: Ids) -> Stated[str]:
    """Return the order in which the states were concatenated, as all these lists have it."""
    trainer = author.profile
    if all(list(w.value) == sorted(w.value) for w in written):
        return Stated("ascending", Evidence.DECLARED, "the ids ascend")
    # A list that someone else added need not be in the order that was trained.
    foreign = len(written) > 1 or not author.owns(written[0])
    if trainer is None or (trainer.order == "listed" and foreign):
        reason = "the ids do not ascend, and whether fc was trained in that order is not written"
        return Stated(None, Evidence.UNKNOWN, reason)
    return Stated(trainer.order, author.evidence, f"{trainer.title} concatenates {trainer.order}")


def _readings(ids: Sequence[int], where: str = "") -> dict[str, Boundaries]:
    return {
        f"{where} as layer outputs".strip(): tuple(i + 1 for i in ids),
        f"{where} as boundaries".strip(): tuple(ids),
    }
