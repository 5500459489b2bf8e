"""The dtype codes of the safetensors format and the numpy types that hold them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_eagle_contract.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NUMPY = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "BF16": "<u2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "C64": "<c8",
}
"""BF16 stands as its bits, which `decoded` widens."""

ML_DTYPES = {
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
TORCH = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "float16": "F16",
    "uint32": "U32",
    "int32": "I32",
    "float32": "F32",
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
    "complex64": "C64",
    "bfloat16": "BF16",
} | {name: code for code, name in ML_DTYPES.items()}
"""The code of each torch dtype, by its name without `torch.`."""


def decoded(raw: NDArray[np.uint8], code: str, path: Path, name: str) -> NDArray[np.generic]:
    """Return the values in the bytes of tensor `name` of `path`.

    Of the type that the code names, BF16 as the float32 of the same value. InputError for a code
    without a type.
    """
    import numpy as np

    values = raw.view(stored_type(code, path, name))
    if code != "BF16":
        return values
    # Importing ml_dtypes for bfloat16 alone takes longer than a whole run.
    return np.left_shift(values, 16, dtype="<u4").view("<f4")


def stored_type(code: str, path: Path, name: str) -> np.dtype[np.generic]:
    """Return the numpy type as wide as a stored value; InputError if there is none for a code."""
    import numpy as np

    if code in NUMPY:
        return np.dtype(NUMPY[code])
    if code not in ML_DTYPES:
        raise InputError(
            path, name, f"has dtype {code}, which packs values below one byte", "store it as BF16"
        )
    try:
        import ml_dtypes

        found: np.dtype[np.generic] = np.dtype(getattr(ml_dtypes, ML_DTYPES[code]))
    # Releases before 0.5 lack the newest types.
    except (ImportError, AttributeError) as error:
        remedy = "install a newer ml_dtypes to read it: pip install -U ml_dtypes"
        raise InputError(path, name, f"has dtype {code}", remedy) from error
    return found
