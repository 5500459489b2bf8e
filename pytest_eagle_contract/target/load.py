"""Load a target through transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from pytest_eagle_contract.errors import InputError, one_line
from pytest_eagle_contract.target.capture import TargetModel


def load_target(path: Path, device: str) -> TargetModel:
    """Return the causal language model in a directory, in float32 on a CPU, else as stored.

    A directory that transformers cannot load raises InputError.
    """
    from transformers import AutoModelForCausalLM

    auto: Any = AutoModelForCausalLM
    dtype: Any = torch.float32 if device == "cpu" else "auto"
    try:
        model = auto.from_pretrained(path, dtype=dtype, local_files_only=True)
        return TargetModel(model.to(device).eval())
    except InputError:
        raise
    # It raises whatever the files make it raise, and so may the device.
    except Exception as error:
        problem = f"cannot be loaded ({type(error).__name__}: {one_line(str(error), 200)})"
        remedy = "give a target with weights, and enough memory"
        raise InputError(path, "", problem, remedy) from error
