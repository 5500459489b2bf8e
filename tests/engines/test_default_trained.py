"""What a draft trained on given layers gets in each engine, cell by cell.

The target has 32 layers, so the reference default is {2, 16, 29}.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_eagle_contract.boundaries import at
from pytest_eagle_contract.checkpoint import Config
from pytest_eagle_contract.engines.model import readings
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.engines.resolve import captured_with

LAYERS = 32
KEY = "eagle_aux_hidden_state_layer_ids"
DRAFT = "LlamaForCausalLMEagle3"
LLAMA, DEEPSEEK = "LlamaForCausalLM", "DeepseekV3ForCausalLM"
DEFAULT = (2, 16, 29)

ENGINES = {
    "SGLang 0.5.12, Llama": ("sglang==0.5.12", LLAMA),
    "SGLang, Llama": ("sglang==0.5.23", LLAMA),
    "SGLang, DeepSeek": ("sglang==0.5.23", DEEPSEEK),
    "vLLM 0.11.1": ("vllm==0.11.1", LLAMA),
    "vLLM 0.21.0": ("vllm==0.21.0:v1", LLAMA),
    "vLLM 0.22.0 V1": ("vllm==0.22.0:v1", LLAMA),
    "vLLM 0.32.0 V1": ("vllm==0.32.0:v1", LLAMA),
    "vLLM 0.32.0 V2": ("vllm==0.32.0:v2", LLAMA),
    "TensorRT-LLM": ("tensorrt-llm", LLAMA),
    "llama.cpp": ("llama.cpp", LLAMA),
    "TokenSpeed": ("tokenspeed", LLAMA),
    "lmdeploy": ("lmdeploy", LLAMA),
}


def nested(*ids: int) -> dict[str, object]:
    return {"eagle_config": {KEY: list(ids)}}


def top(*ids: int) -> dict[str, object]:
    return {KEY: list(ids)}


# One row a checkpoint: its config, and the boundaries that differ from the reference default.
# The columns of ENGINES that a row does not name capture DEFAULT.
ROWS: dict[str, tuple[dict[str, object], dict[str, tuple[int, ...]]]] = {
    "no ids": ({}, {}),
    "nested outputs [1, 15, 28]": (
        nested(1, 15, 28),
        {"vLLM 0.22.0 V1": (1, 15, 28), "vLLM 0.32.0 V1": (1, 15, 28)},
    ),
    "nested boundaries [2, 16, 29]": (
        nested(2, 16, 29),
        {
            "SGLang 0.5.12, Llama": (3, 17, 30),
            "SGLang, Llama": (3, 17, 30),
            "TokenSpeed": (3, 17, 30),
        },
    ),
    "top-level boundaries [2, 16, 29]": (top(2, 16, 29), {"TokenSpeed": (3, 17, 30)}),
    "nested outputs [4, 15, 24]": (
        nested(4, 15, 24),
        {
            "SGLang 0.5.12, Llama": (5, 16, 25),
            "SGLang, Llama": (5, 16, 25),
            "SGLang, DeepSeek": (4, 15, 24),
            "vLLM 0.22.0 V1": (4, 15, 24),
            "vLLM 0.32.0 V1": (4, 15, 24),
            "TokenSpeed": (5, 16, 25),
        },
    ),
    "top-level boundaries [4, 16, 25]": (
        top(4, 16, 25),
        {
            "vLLM 0.11.1": (4, 16, 25),
            "vLLM 0.21.0": (4, 16, 25),
            "vLLM 0.22.0 V1": (4, 16, 25),
            "vLLM 0.32.0 V1": (4, 16, 25),
            "vLLM 0.32.0 V2": (4, 16, 25),
            "TokenSpeed": (5, 17, 26),
        },
    ),
}


@pytest.mark.parametrize("column", ENGINES)
@pytest.mark.parametrize("row", ROWS)
def test_captures(row: str, column: str) -> None:
    config, exceptions = ROWS[row]
    spec, architecture = ENGINES[column]
    (reading,) = readings(find(spec), architecture, DRAFT)
    captured = captured_with(Config(Path("config.json"), config), reading.semantics, LAYERS)
    assert not captured.error
    assert not captured.lost
    assert at(captured.boundaries, LAYERS) == exceptions.get(column, DEFAULT)


def test_no_single_placement_serves_every_engine() -> None:
    """Non-default ids: both keys serve most engines; the DeepSeek rule of SGLang reads verbatim."""
    both = nested(4, 15, 24) | top(5, 16, 25)
    wanted = (5, 16, 25)
    config = Config(Path("config.json"), both)

    def serves(column: str) -> bool:
        spec, architecture = ENGINES[column]
        (reading,) = readings(find(spec), architecture, DRAFT)
        return captured_with(config, reading.semantics, LAYERS).boundaries == wanted

    assert {column for column in ENGINES if serves(column)} == {
        "SGLang 0.5.12, Llama",
        "SGLang, Llama",
        "vLLM 0.11.1",
        "vLLM 0.21.0",
        "vLLM 0.22.0 V1",
        "vLLM 0.32.0 V1",
        "vLLM 0.32.0 V2",
        "TokenSpeed",
    }
