"""Contracts on what the tensors of a draft hold: their types and values."""

from __future__ import annotations

from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.catalogue import contract
from pytest_eagle_contract.contracts.outcome import Outcome, failed, passed, verdict
from pytest_eagle_contract.contracts.scan import faults
from pytest_eagle_contract.pair import PACKED

FLOATS = frozenset({"BF16", "F16", "F32"})


@contract("checkpoint.dtypes")
def dtypes(eagle_case: Case) -> Outcome:
    """Weights are floats of one type.

    Why: mixed types meet in one matrix product, and integers were cast by mistake.
    Incident: sglang#3824, where a float16 draft met a bfloat16 target: a dtype error in the first
    matrix product.
    Fix: cast the weights, and only them, to the target's type before the export.
    Since: 0.1.0
    """
    weights = eagle_case.draft.weights
    wrong = [i for i in weights if i.dtype not in FLOATS | PACKED]
    problems = [f"{i.name} is {i.dtype}" for i in wrong]
    found = sorted({i.dtype for i in weights if i.dtype in FLOATS})
    note = f"several float types are mixed: {', '.join(found)}" if len(found) > 1 else ""
    theirs = eagle_case.target.dtype if eagle_case.target else None
    mine = eagle_case.draft.config.text("dtype", "torch_dtype")
    if not note and mine and theirs and mine.value != theirs.value:
        note = f"the draft's dtype is {mine.value}, the target's {theirs.value}"
    if problems:
        return failed("; ".join(problems), "BF16, F16 or F32")
    return passed(", ".join(found) or "quantised weights", note)


@contract("checkpoint.quantization")
def quantization(eagle_case: Case) -> Outcome:
    """Quantised weights and a quantization_config come together.

    Why: engines choose the loader from the config; a draft often inherits the target's by mistake.
    Incident: vllm#25883 and sglang#28196, where an engine loaded plain drafts by their targets'
    quantisation and failed.
    Fix: write the quantization_config of what is stored and no other, or store plain weights.
    Since: 0.1.0
    """
    stated, packed = eagle_case.draft.quantization, eagle_case.draft.packed
    if packed and stated is None:
        return failed(
            f"{packed[0].name} is {packed[0].dtype} and no quantization_config is written",
            "quantised weights with their config, or plain weights without one",
            "write the quantization_config that the weights were packed with",
        )
    if stated is not None and not packed:
        return failed(
            f"{stated.where} is written and all weights are plain floats",
            "quantised weights with their config, or plain weights without one",
            f"remove {stated.where} from config.json",
        )
    return passed("quantised and declared" if packed else "plain weights, nothing declared")


@contract("checkpoint.finite")
def finite(eagle_case: Case) -> Outcome:
    """Weights are finite numbers and no tensor is all zero.

    Why: NaN spreads to every draft token; a tensor of zeros was allocated and never trained.
    Incident: mlx-vlm#1931, where a published MTP drafter with NaN weights drafted token 0 at every
    step: 0.0 % accepted.
    Fix: export the last finite step; --eagle-full-scan reads every weight.
    Since: 0.1.0
    """
    problems, read = faults(eagle_case.draft, eagle_case.full_scan)
    return verdict(problems, "finite numbers, not all zero", f"{read:,} values read")
