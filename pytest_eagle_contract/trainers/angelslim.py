"""Tencent AngelSlim, read at 67394ce5."""

from __future__ import annotations

from pytest_eagle_contract.trainers.model import Signature, TrainerProfile

CLASSES = frozenset({"Eagle3LlamaForCausalLM", "CosyVoice3Eagle3LlamaForCausalLM"})
OWN_IDS = "aux_hidden_states_layer_ids"

ANGELSLIM = TrainerProfile(
    name="angelslim",
    title="AngelSlim",
    signatures=(
        Signature(
            30,
            "the class name Eagle3LlamaForCausalLM on a midlayer",
            architectures=CLASSES,
            prefixes=("midlayer.",),
        ),
        Signature(30, "target_model_type", keys=("target_model_type",), prefixes=("midlayer.",)),
        Signature(30, OWN_IDS, keys=(OWN_IDS,), prefixes=("midlayer.",)),
    ),
    ids_mean="output",
    ids_places=(OWN_IDS,),
    order="listed",
    trained_as={
        "norm_before_residual": False,
        "norm_before_fc": False,
        "fc_norm": False,
        "norm_output": False,
    },
    map_order="ascending",
    embedding="target's",
    rope_theta=10_000.0,
    sources={
        "signatures": "train/configs/*.json; train/models/llama_eagle3.py:Eagle3LlamaForCausalLM",
        "ids_mean": "train: hidden_states[id + 1] of the HF backend",
        "ids_places": "train: config key aux_hidden_states_layer_ids, which no engine reads",
        "default": "[1, L//2-1, L-4] as layer outputs",
        "order": "train: concatenated in the order of the config",
        "trained_as": "train/models/llama_eagle3.py:Eagle3LlamaForCausalLM.forward",
        "map_order": "as SpecForge's: ascending",
        "embedding": "freeze_embed_weights; left out under ZeRO-3 alone",
        "rope_theta": "train/models/llama_eagle3.py:LlamaAttention._init_rope passes no base but "
        "for mrope; sfllm#32 measured 2.39 with the declared base and 2.50 with 10,000",
    },
)
