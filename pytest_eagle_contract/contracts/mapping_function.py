"""The contract on a mapping function of the user's own, checked by property-based fuzzing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed

if TYPE_CHECKING:
    from pytest_eagle_contract.mapping_fuzz import MapDraftIds


def map_draft_ids(
    d2t: NDArray[np.int64], vocab_size: int, draft_ids: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return target ids [N] as d2t is defined, refusing ids outside the vocabulary.

    `d2t` holds offsets [D]; a target outside 0..vocab_size-1 raises IndexError.
    """
    targets = draft_ids + d2t[draft_ids]
    if targets.size and (targets.min() < 0 or targets.max() >= vocab_size):
        raise IndexError("a target id lies outside the vocabulary")
    return targets


@contract("mapping.engine", subject="function")
def function(eagle_map_draft_ids: MapDraftIds, eagle_max_examples: int) -> Outcome:
    """The function under test maps draft ids as d2t says: target = draft + d2t[draft].

    Why: it decides every drafted token; a mistake shows only as a low accept length.
    Incident: mblt-model-zoo#110, where a bad map indexed outside the vocabulary at run time; in
    EAGLE#222 users could not tell from the code what d2t holds.
    Fix: return draft_ids + d2t[draft_ids], and refuse ids outside the vocabulary.
    Since: 0.1.0
    """
    from pytest_eagle_contract.mapping_fuzz import fuzz_mapping

    found = fuzz_mapping(eagle_map_draft_ids, max_examples=eagle_max_examples)
    if found is not None:
        return failed(str(found), "draft + d2t[draft] for every map, inside the vocabulary")
    return passed(f"{eagle_max_examples} maps of every trainer's style, sound and broken")
