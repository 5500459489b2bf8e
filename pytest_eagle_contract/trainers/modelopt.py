"""NVIDIA Model-Optimizer, read at a2fbac7b.

Its layer 0 norms the hidden state twice, hidden_norm(input_layernorm(h)), since 2025-12-18. No file
shows which version trained a draft, and no engine does it, so it is not stated here.
"""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.keys import NESTED_IDS
from pytest_eagle_contract.trainers.model import Signature, TrainerProfile

MODELOPT = TrainerProfile(
    name="modelopt",
    title="Model-Optimizer",
    signatures=(
        Signature(
            40,
            "the speculators class name on a map without t2d, as convert_to_vllm_ckpt writes",
            architectures=frozenset({"Eagle3Speculator"}),
            tensors=("d2t",),
            absent_tensors=("t2d", "embed_tokens.weight"),
            prefixes=("layers.0.",),
        ),
        *(
            Signature(30, f"eagle_config.{key}", keys=(f"eagle_config.{key}",))
            for key in ("next_layer_regular", "use_last_layernorm", "use_mtp_layernorm")
        ),
        Signature(
            20,
            "layers.0 with d2t and neither t2d nor an embedding",
            tensors=("d2t",),
            absent_tensors=("t2d", "embed_tokens.weight"),
            prefixes=("layers.0.",),
        ),
    ),
    ids_mean="output",
    ids_places=(NESTED_IDS,),
    order="ascending",
    switch_defaults={"norm_before_fc": False, "fc_norm": False, "norm_output": False},
    # convert_to_vllm_ckpt writes true whatever was trained.
    trained_as={"norm_before_residual": False},
    map_order="frequency",
    embedding="left out",
    sources={
        "signatures": "export/plugins/hf_spec_export.py:EagleExporter.export, "
        "llama_eagle_template_config; examples/…/convert_to_vllm_ckpt.py",
        "ids_mean": "modeling_eagle.py: forward hooks on base.layers[id]",
        "ids_places": "export/plugins/hf_spec_export.py:llama_eagle_template_config",
        "default": "sorted({1, max(0, L//2-1), max(0, L-4)}) as layer outputs",
        "order": "forward hooks run in layer order, whatever order the file lists",
        "trained_as": "modeling_eagle.py: HF LlamaDecoderLayer.forward keeps the raw residual",
        "map_order": "calibrate_frequent_vocab: Counter.most_common",
        "embedding": "LLAMA_EAGLE_SINGLE_LAYER holds no embedding",
    },
)
