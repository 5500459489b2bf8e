"""The dtype codes of the safetensors format and the numpy types that hold them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_eagle_contract.errors import InputError

if TYPE_CHECKING:
    import numpy as np

NUMPY = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "C64": "<c8",
}
ML_DTYPES = {
    "BF16": "bfloat16",
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
} | {name: code for code, name in ML_DTYPES.items()}
"""The code of each torch dtype, by its name without `torch.`."""


def numpy_dtype(code: str, path: Path, name: str) -> np.dtype[np.generic]:
    """Return the numpy type of a code; InputError if there is none for tensor `name` of `path`."""
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
