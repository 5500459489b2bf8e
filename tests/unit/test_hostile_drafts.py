"""Whole judgements of drafts that were damaged on purpose: one line each, never a traceback.

`test_corruption.py` damages the files themselves. Here the files can be read and say nonsense.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401 - registers bfloat16 with numpy
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from pytest_eagle_contract.assess import Inputs, Result, assess
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.checkpoint.reader import manifest_digest
from pytest_eagle_contract.engines.registry import default_engines
from pytest_eagle_contract.errors import InputError

BASES = ("specforge-hf", "speculators-default", "modelopt", "verl-speco", "deepseek-mla")
ROUNDS = 160

NONSENSE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 2**31, 10**18, 0.5, float("nan"), float("inf"), "", "false",
    "x" * 500, [], [1], [-5, 10**12], [[1]], ["a"], [None], {}, {"a": 1}, {"rope_type": 7},
)  # fmt: skip

KEYS = (
    "architectures", "vocab_size", "draft_vocab_size", "hidden_size", "intermediate_size",
    "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "max_position_embeddings", "target_hidden_size", "rope_theta", "rope_scaling",
    "rope_parameters", "rope_parameters.rope_theta", "sliding_window", "layer_types",
    "use_sliding_window", "tie_word_embeddings", "norm_before_residual", "norm_before_fc",
    "fc_norm", "norm_output", "use_aux_hidden_state", "attention_bias", "bias",
    "num_aux_hidden_states", "eagle_aux_hidden_state_layer_ids", "eagle_config",
    "eagle_config.eagle_aux_hidden_state_layer_ids", "eagle_config.use_aux_hidden_state",
    "eagle_config.layer_ids", "aux_hidden_states_layer_ids", "target_layer_ids",
    "transformer_layer_config", "transformer_layer_config.hidden_size", "speculators_model_type",
    "speculators_config", "speculators_config.verifier", "quantization_config", "bos_token_id",
    "eos_token_id", "model_type", "torch_dtype", "dtype",
)  # fmt: skip

Tensors = dict[str, np.ndarray[Any, Any]]


def put(config: dict[str, Any], place: str, value: Any) -> None:
    *parents, key = place.split(".")
    for parent in parents:
        config = (
            config[parent]
            if isinstance(config.get(parent), dict)
            else config.setdefault(parent, {})
        )
        if not isinstance(config, dict):
            return
    config[key] = value


def reshape(rng: random.Random, tensors: Tensors) -> None:
    name = rng.choice(sorted(tensors))
    shape = rng.choice([(), (1,), (0,), (3, 5), (2, 0), (1, 2, 3), (7,)])
    tensors[name] = np.ones(shape, dtype=tensors[name].dtype)


def retype(rng: random.Random, tensors: Tensors) -> None:
    name = rng.choice(sorted(tensors))
    dtype = rng.choice([np.float64, np.int8, np.uint8, np.bool_, np.int64, np.float16, np.uint64])
    tensors[name] = np.ones(tensors[name].shape, dtype=dtype)


def rename(rng: random.Random, tensors: Tensors) -> None:
    name = rng.choice(sorted(tensors))
    new = rng.choice(
        ["", "model." + name, "layers.999." + name, "layers.x.y", "ü" * 40, "d2t", "a.d2t"]
    )
    tensors[new] = tensors.pop(name)


def drop(rng: random.Random, tensors: Tensors) -> None:
    for name in rng.sample(sorted(tensors), rng.randint(1, len(tensors))):
        del tensors[name]


def revalue(rng: random.Random, tensors: Tensors) -> None:
    name = rng.choice([n for n in tensors if n.endswith("d2t")] or sorted(tensors))
    values = tensors[name]
    if values.size and values.dtype.kind in "iu":
        extreme = rng.choice([-(2**62), 2**62, -1, 0, 10**9])
        tensors[name] = np.full(values.shape, extreme, dtype=np.int64)


FAULTS: tuple[Callable[[random.Random, Tensors], None], ...] = (
    reshape,
    retype,
    rename,
    drop,
    revalue,
)


def judge(directory: Path, target: Path) -> None:
    """Assess as the plugin does; only InputError may come, and every line must be one line."""
    refusal = ""
    results: list[Result] = []
    try:
        results = assess(directory, Inputs(target=target), default_engines())
    except InputError as error:
        refusal = str(error)
    assert results or refusal
    assert "\n" not in refusal
    for result in results:
        for text in (result.outcome.measured, result.outcome.expected, result.outcome.fix):
            assert "\n" not in text
            assert len(text) < 5_000


@pytest.mark.parametrize("base", BASES)
def test_nonsense_in_every_config_key(base: str, good: Path, targets: Path, tmp_path: Path) -> None:
    config = json.loads((good / base / "config.json").read_text())
    tensors = load_file(good / base / "model.safetensors")
    directory = tmp_path / "draft"
    directory.mkdir()
    save_file(tensors, directory / "model.safetensors")
    rng = random.Random(base)
    for key in KEYS:
        for value in rng.sample(NONSENSE, 6):
            changed = json.loads(json.dumps(config))
            put(changed, key, value)
            (directory / "config.json").write_text(json.dumps(changed))
            judge(directory, targets / "llama")


@pytest.mark.parametrize("base", BASES)
def test_damaged_tensors(base: str, good: Path, targets: Path, tmp_path: Path) -> None:
    original = load_file(good / base / "model.safetensors")
    directory = tmp_path / "draft"
    directory.mkdir()
    (directory / "config.json").write_bytes((good / base / "config.json").read_bytes())
    rng = random.Random(base)
    for _ in range(ROUNDS):
        tensors = dict(original)
        for fault in rng.sample(FAULTS, rng.randint(1, 3)):
            if tensors:
                fault(rng, tensors)
        save_file(tensors, directory / "model.safetensors")
        judge(directory, targets / "llama")


def test_nonsense_in_the_targets_config(good: Path, targets: Path, tmp_path: Path) -> None:
    config = json.loads((targets / "llama" / "config.json").read_text())
    rng = random.Random(1)
    for key in KEYS:
        for value in rng.sample(NONSENSE, 5):
            changed = json.loads(json.dumps(config))
            put(changed, key, value)
            (tmp_path / "config.json").write_text(json.dumps(changed))
            judge(good / "specforge-hf", tmp_path)


@pytest.mark.parametrize("name", ["d2t", "t2d", "norm.weight"])
def test_more_dimensions_than_an_array_has(
    name: str, good: Path, targets: Path, tmp_path: Path
) -> None:
    shutil.copytree(good / "specforge-sglang", tmp_path / "draft")
    file = tmp_path / "draft" / "model.safetensors"
    data = file.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header[name]["shape"] = [1] * 80 + header[name]["shape"]
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    judge(tmp_path / "draft", targets / "llama")
    assert manifest_digest(open_checkpoint(tmp_path / "draft"))
