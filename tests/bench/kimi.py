"""A draft of Kimi K2's sizes as a sparse file: 4 GB long, a few hundred kilobytes on disk."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

VOCAB, DRAFT_VOCAB = 163_840, 32_000
HIDDEN, INNER, HEADS, HEAD_DIM = 7_168, 18_432, 64, 112
LAYERS = 61
PAGE = 4_096
BYTES = {"BF16": 2, "I64": 8, "BOOL": 1}

DRAFT_CONFIG = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "model_type": "llama",
    "dtype": "bfloat16",
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": 1,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "head_dim": HEAD_DIM,
    "max_position_embeddings": 262_144,
    "rms_norm_eps": 1e-5,
    "rope_parameters": {"rope_theta": 50_000.0, "rope_type": "default"},
    "rope_theta": 50_000.0,
    "tie_word_embeddings": False,
    "vocab_size": VOCAB,
    "draft_vocab_size": DRAFT_VOCAB,
}
TARGET_CONFIG = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "max_position_embeddings": 262_144,
    "rope_theta": 50_000.0,
    "tie_word_embeddings": False,
    "vocab_size": VOCAB,
}


def tensors() -> dict[str, tuple[str, list[int]]]:
    """Return dtype and shape of each tensor, as SpecForge exports a draft with its embedding."""
    attention = HEADS * HEAD_DIM
    weights = {
        "embed_tokens.weight": [VOCAB, HIDDEN],
        "fc.weight": [HIDDEN, 3 * HIDDEN],
        "lm_head.weight": [DRAFT_VOCAB, HIDDEN],
        "midlayer.hidden_norm.weight": [HIDDEN],
        "midlayer.input_layernorm.weight": [HIDDEN],
        "midlayer.mlp.down_proj.weight": [HIDDEN, INNER],
        "midlayer.mlp.gate_proj.weight": [INNER, HIDDEN],
        "midlayer.mlp.up_proj.weight": [INNER, HIDDEN],
        "midlayer.post_attention_layernorm.weight": [HIDDEN],
        "midlayer.self_attn.k_proj.weight": [attention, 2 * HIDDEN],
        "midlayer.self_attn.o_proj.weight": [HIDDEN, attention],
        "midlayer.self_attn.q_proj.weight": [attention, 2 * HIDDEN],
        "midlayer.self_attn.v_proj.weight": [attention, 2 * HIDDEN],
        "norm.weight": [HIDDEN],
    }
    maps = {"d2t": ("I64", [DRAFT_VOCAB]), "t2d": ("BOOL", [VOCAB])}
    return maps | {name: ("BF16", shape) for name, shape in weights.items()}


def offsets() -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return d2t and t2d: all of the lowest 100 ids, the rest spread over the vocabulary."""
    rest = np.random.default_rng(7).choice(VOCAB - 100, DRAFT_VOCAB - 100, replace=False) + 100
    ids = np.sort(np.concatenate([np.arange(100), rest])).astype(np.int64)
    mask = np.zeros(VOCAB, dtype=bool)
    mask[ids] = True
    return ids - np.arange(DRAFT_VOCAB), mask


def write_draft(directory: Path) -> Path:
    """Write the draft.

    Maps are real. Of each weight only the first page holds numbers, which the sample of
    checkpoint.finite always reads: holes read as zeros, and a tensor of zeros is a fault.
    """
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(DRAFT_CONFIG), encoding="utf-8")
    header, end = {}, 0
    for name, (dtype, shape) in tensors().items():
        begin, end = end, end + BYTES[dtype] * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    d2t, t2d = offsets()
    # 1.0 in bfloat16, alternating with 0.5.
    page = struct.pack("<2H", 0x3F80, 0x3F00) * (PAGE // 4)
    stored = {"d2t": d2t.tobytes(), "t2d": t2d.tobytes()}
    with (directory / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        origin = file.tell()
        for name, entry in header.items():
            file.seek(origin + entry["data_offsets"][0])
            file.write(stored.get(name, page))
        file.truncate(origin + end)
    return directory


def write_target(directory: Path) -> Path:
    """Write the target's config, which is all that the static level needs of it."""
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(TARGET_CONFIG), encoding="utf-8")
    return directory
