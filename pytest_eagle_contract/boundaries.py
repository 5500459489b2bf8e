"""Convert every layer-id convention to boundaries, and back.

Boundary b names a hidden state of the target: 0 is the embedding output, k the residual stream
after k blocks, L the last state before the final norm. Ids in files and server arguments mean
different things to different programs; they are converted here and travel no further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Rule = Literal[
    "boundary",  # id k is the input of layer k: b = k
    "output",  # id k is the output of layer k: b = k + 1
    "output if first id is 1",  # b = k + 1 when the list starts with 1, else b = k
    "boundary if largest id is L",  # b = k when the list reaches L, else b = k + 1
]


@dataclass(frozen=True, slots=True)
class DefaultBoundaries:
    """State a default as a formula of the layer count L: {first, L//2 + middle, L + last}.

    Defaults are compared as formulas, so that two programs can be seen to agree while L is unknown.
    """

    first: int = 2
    middle: int = 0
    last: int = -3

    def at(self, layers: int) -> tuple[int, ...]:
        """Return the boundaries for a target of `layers` blocks, in layer order."""
        return (self.first, layers // 2 + self.middle, layers + self.last)

    def shifted(self, by: int) -> DefaultBoundaries:
        """Return the formula with every boundary moved by `by` blocks."""
        return DefaultBoundaries(self.first + by, self.middle + by, self.last + by)

    def layers_for(self, boundaries: Sequence[int]) -> int | None:
        """Return the layer count for which this formula gives exactly these boundaries."""
        if len(boundaries) != 3:
            return None
        layers = max(boundaries) - self.last
        return layers if sorted(boundaries) == sorted(self.at(layers)) else None

    def __str__(self) -> str:
        middle = f"L//2{self.middle:+d}" if self.middle else "L//2"
        return f"{{{self.first}, {middle}, L{self.last:+d}}}"


REFERENCE = DefaultBoundaries()
"""What the EAGLE-3 reference captures: {2, L//2, L-3}."""

Boundaries = tuple[int, ...] | DefaultBoundaries


def convert(ids: Sequence[int], rule: Rule, layers: int | None) -> tuple[int, ...] | None:
    """Return the boundaries that `ids` mean under `rule`, in list order.

    None when the rule depends on a layer count that is not known.
    """
    if rule == "boundary":
        shift = 0
    elif rule == "output":
        shift = 1
    elif rule == "output if first id is 1":
        shift = 1 if ids and ids[0] == 1 else 0
    elif layers is None:
        return None
    else:
        shift = 0 if ids and max(ids) == layers else 1
    return tuple(i + shift for i in ids)


def ids_for(boundaries: Sequence[int], rule: Rule, layers: int | None) -> tuple[int, ...] | None:
    """Return the ids that `rule` turns into `boundaries`, None when it can express none.

    `convert` is the only definition of a rule; this tries its two possible preimages.
    """
    for shift in (1, 0):
        ids = tuple(b - shift for b in boundaries)
        if convert(ids, rule, layers) == tuple(boundaries):
            return ids
    return None


def at(boundaries: Boundaries | None, layers: int | None) -> Boundaries | None:
    """Evaluate a formula where the layer count is known."""
    if isinstance(boundaries, DefaultBoundaries) and layers is not None:
        return boundaries.at(layers)
    return boundaries


def same(one: Boundaries | None, other: Boundaries | None, layers: int | None) -> bool | None:
    """Tell whether two statements name the same states, in any order; None if undecided."""
    first, second = at(one, layers), at(other, layers)
    if first is None or second is None:
        return None
    if isinstance(first, tuple) and isinstance(second, tuple):
        return sorted(first) == sorted(second)
    if isinstance(first, DefaultBoundaries) and isinstance(second, DefaultBoundaries):
        return first == second
    formula, written = (first, second) if isinstance(first, DefaultBoundaries) else (second, first)
    assert isinstance(formula, DefaultBoundaries)
    assert isinstance(written, tuple)
    # Numbers that no layer count explains differ for certain; the others need the count.
    return False if formula.layers_for(written) is None else None


def shown(boundaries: Boundaries | None) -> str:
    """Write boundaries as a reader expects them: {2, 16, 29}."""
    if boundaries is None:
        return "unknown"
    if boundaries == ():
        return "none but the final state"
    if isinstance(boundaries, DefaultBoundaries):
        return str(boundaries)
    return "{" + ", ".join(map(str, boundaries)) + "}"
