"""Say in words what each reading of a stored map yields."""

from __future__ import annotations

from pytest_eagle_contract.token_map.stored import StoredMap, as_integers


def describe(stored: StoredMap, draft_id: int, vocab_size: int | None = None) -> str:
    """Say what a draft id becomes when its stored number is an offset and when it is absolute.

    A target outside the vocabulary is marked so. Never raises for a faulty map.
    """
    if not 0 <= draft_id < len(stored):
        return f"draft id {draft_id:,} is outside the {len(stored):,} stored entries"
    number = as_integers(stored.values[draft_id : draft_id + 1])
    if number is None:
        return f"draft id {draft_id:,} stores {stored.values[draft_id]}, which is no integer"
    value = int(number[0])
    return (
        f"draft id {draft_id:,} stores {value:,}: "
        f"as an offset {_token(draft_id + value, vocab_size)}, "
        f"as an absolute id {_token(value, vocab_size)}"
    )


def _token(target: int, vocab_size: int | None) -> str:
    inside = vocab_size is None or 0 <= target < vocab_size
    return f"token {target:,}" if inside else f"{target:,} (outside 0..{(vocab_size or 0) - 1:,})"
