"""Draft id to target id maps: what a file stores, which form it is in, and what it means."""

from pytest_eagle_contract.token_map.classify import Classification, Reading, classify, settled
from pytest_eagle_contract.token_map.describe import describe
from pytest_eagle_contract.token_map.files import stored_beside, stored_in_file
from pytest_eagle_contract.token_map.model import Form, TokenMap
from pytest_eagle_contract.token_map.stored import (
    MAX_ENTRIES,
    StoredMap,
    as_integers,
    stored_in_checkpoint,
)

__all__ = [
    "MAX_ENTRIES",
    "Classification",
    "Form",
    "Reading",
    "StoredMap",
    "TokenMap",
    "as_integers",
    "classify",
    "describe",
    "settled",
    "stored_beside",
    "stored_in_checkpoint",
    "stored_in_file",
]
