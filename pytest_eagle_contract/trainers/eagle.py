"""SafeAILab/EAGLE (eagle/traineagle3), read at cb7e0841."""

from __future__ import annotations

from pytest_eagle_contract.trainers.model import PLAIN_EAGLE3, Signature, TrainerProfile

EAGLE = TrainerProfile(
    name="eagle",
    title="SafeAILab/EAGLE",
    signatures=(
        Signature(
            30,
            "buffers of the frozen target beside the draft",
            prefixes=("midlayer.", "target_model."),
        ),
        Signature(
            20,
            "an EAGLE-3 layer under the class name of a plain Llama",
            architectures=frozenset({"LlamaForCausalLM"}),
            keys=("draft_vocab_size",),
            prefixes=("midlayer.",),
        ),
        PLAIN_EAGLE3,
    ),
    ids_mean="boundary",
    ids_places=(),
    order="ascending",
    trained_as={
        "norm_before_residual": False,
        "norm_before_fc": False,
        "fc_norm": False,
        "norm_output": False,
    },
    map_order="ascending",
    embedding="left out",
    rope_theta=10_000.0,
    sources={
        "signatures": "eagle/traineagle3/config.json; main.py: save_16bit_model keeps the target's "
        "persistent buffers (inferred, not run)",
        "ids_mean": "eagle/model/modeling_llama_kv.py:LlamaModel.forward, before the layer",
        "default": "eagle/model/modeling_llama_kv.py:LlamaModel.forward, idx 2, L//2, L-3",
        "order": "eagle/model/modeling_llama_kv.py:LlamaModel.forward",
        "trained_as": "eagle/traineagle3/cnets.py:Model.forward",
        "map_order": "eagle/traineagle3/cnets.py:Model.scandata",
        "embedding": "eagle/traineagle3/main.py: exclude_frozen_parameters (inferred)",
        "rope_theta": "eagle/traineagle3/cnets.py:LlamaAttention._init_rope passes no base",
    },
)
