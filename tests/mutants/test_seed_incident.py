"""The map of the incident that started this project: V = 163,840, D = 32,000, at full size."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from pytest_eagle_contract.assess import Result, assess
from pytest_eagle_contract.engines.registry import default_engines

V, D, H = 163_840, 32_000, 8
LAST = 131_608


def offsets() -> NDArray[np.int64]:
    """Return offsets that never fall: 0 for the first hundred ids, 131,608 for the last."""
    rising = np.linspace(1, LAST, D - 100).astype(np.int64)
    return np.concatenate([np.zeros(100, dtype=np.int64), rising])


def write(directory: Path, d2t: NDArray[np.int64]) -> Path:
    targets = np.arange(D) + offsets()
    mask = np.zeros(V, dtype=bool)
    mask[targets] = True
    rng = np.random.default_rng(7)

    def weight(*shape: int) -> NDArray[np.float32]:
        return rng.normal(size=shape).astype(np.float32)

    tensors = {
        "d2t": d2t,
        "t2d": mask,
        "fc.weight": weight(H, 3 * H),
        "norm.weight": weight(H),
        "lm_head.weight": weight(D, H),
        "midlayer.self_attn.q_proj.weight": weight(H, 2 * H),
        "midlayer.self_attn.k_proj.weight": weight(H, 2 * H),
        "midlayer.self_attn.v_proj.weight": weight(H, 2 * H),
        "midlayer.self_attn.o_proj.weight": weight(H, H),
        "midlayer.mlp.gate_proj.weight": weight(16, H),
        "midlayer.mlp.up_proj.weight": weight(16, H),
        "midlayer.mlp.down_proj.weight": weight(H, 16),
        "midlayer.hidden_norm.weight": weight(H),
        "midlayer.input_layernorm.weight": weight(H),
        "midlayer.post_attention_layernorm.weight": weight(H),
    }
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "vocab_size": V,
        "draft_vocab_size": D,
        "hidden_size": H,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "head_dim": H,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
    }
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(config))
    save_file(tensors, directory / "model.safetensors")
    return directory


def failures(results: list[Result]) -> dict[str, Result]:
    return {r.contract.id: r for r in results if r.outcome.status == "failed"}


def test_the_map_is_the_incidents() -> None:
    stored = offsets()
    assert not stored[:100].any()
    assert stored[31_999] == LAST
    assert 31_999 + stored[31_999] == 163_607


def test_offsets_pass(tmp_path: Path) -> None:
    results = assess(write(tmp_path / "offsets", offsets()))
    assert not failures(results)
    passed = {r.contract.id for r in results if r.outcome.status == "passed"}
    assert {"mapping.offsets", "mapping.range", "mapping.bijective", "mapping.mask"} <= passed


def test_the_same_map_stored_absolute_fails_offsets_alone(tmp_path: Path) -> None:
    results = assess(write(tmp_path / "absolute", np.arange(D) + offsets()))
    found = failures(results)
    assert set(found) == {"mapping.offsets"}
    measured = found["mapping.offsets"].outcome.measured
    assert "draft id 31,999 stores 163,607" in measured
    assert "as an offset 195,606 (outside 0..163,839)" in measured


@pytest.mark.parametrize("engine", default_engines(), ids=lambda e: e.label)
def test_every_engine_is_told_what_it_would_emit(tmp_path: Path, engine) -> None:  # type: ignore[no-untyped-def]
    results = assess(write(tmp_path / "absolute", np.arange(D) + offsets()), engines=[engine])
    (outcome,) = (
        r.outcome
        for r in results
        if r.contract.id == "mapping.engine" and r.subject == engine.label
    )
    assert outcome.status != "passed"
    assert "195,606" in outcome.measured
