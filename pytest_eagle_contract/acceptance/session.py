"""One draft beside its target: load both once, run the prompts once, predict each wiring once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from torch import Tensor

from pytest_eagle_contract.acceptance.observe import Observed, observe
from pytest_eagle_contract.acceptance.predict import Prediction, predict
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.draft.load import load_weights
from pytest_eagle_contract.draft.model import ReferenceDraft
from pytest_eagle_contract.draft.shape import Shape, read_shape
from pytest_eagle_contract.draft.wiring import Wiring
from pytest_eagle_contract.prompts import Prompt
from pytest_eagle_contract.target.capture import TargetModel

EMBEDDING, HEAD = "embed_tokens.weight", "lm_head.weight"


@dataclass(frozen=True, slots=True)
class Settings:
    """State how prompts are run: chains of `steps` drafts, at most `new_tokens` a prompt."""

    steps: int = 3
    new_tokens: int = 128
    device: str = "cpu"


class Acceptance:
    """Predict accept counts of one draft, target and set of prompts under any wiring."""

    def __init__(
        self, case: Case, target: TargetModel, prompts: Iterable[Prompt], settings: Settings
    ) -> None:
        self.case, self.target, self.settings = case, target, settings
        self.prompts = tuple(prompts)
        self._predictions: dict[Wiring, Prediction] = {}
        self._observed: dict[int, Observed] = {}

    @cached_property
    def shape(self) -> Shape:
        """Return the draft's shape; what cannot be run raises InputError."""
        return read_shape(self.case.draft, self.case.target_width)

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """Return the draft's weights, with the target's head where it has none."""
        embedding = self.target.embedding
        leave = ("d2t", "t2d")
        found = load_weights(self.case.draft, embedding.device, embedding.dtype, leave)
        return {HEAD: self.target.head.weight, **found}

    def draft(self, wiring: Wiring) -> ReferenceDraft:
        """Return the draft under a wiring."""
        own = wiring.embedding == "draft's"
        table = self.weights[EMBEDDING] if own else self.target.embedding
        weights = {n: t for n, t in self.weights.items() if n not in wiring.without}
        return ReferenceDraft(self.shape, wiring, weights, table)

    def observed(self, boundaries: Iterable[int]) -> list[Observed]:
        """Return what the target says about each prompt, with states at these boundaries."""
        wanted = set(boundaries)
        return [self._observe(i, wanted) for i in range(len(self.prompts))]

    def predict(self, wiring: Wiring) -> Prediction:
        """Return what an engine wired so accepts; each wiring is run once."""
        if wiring not in self._predictions:
            seen = self.observed(wiring.boundaries)
            self._predictions[wiring] = predict(self.draft(wiring), seen, self.settings.steps)
        return self._predictions[wiring]

    def _observe(self, index: int, wanted: set[int]) -> Observed:
        known = self._observed.get(index)
        if known is None:
            found = observe(
                self.target,
                self.prompts[index],
                sorted(wanted),
                steps=self.settings.steps,
                new_tokens=self.settings.new_tokens,
                stop=self.target.ends,
            )
        elif wanted <= set(known.states):
            return known
        else:
            more = self.target.capture(known.tokens, sorted(wanted - set(known.states)))
            found = replace(known, states={**known.states, **more.states})
        self._observed[index] = found
        return found
