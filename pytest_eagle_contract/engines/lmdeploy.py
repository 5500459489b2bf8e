"""What LMDeploy's PyTorch engine does with an EAGLE-3 draft.

Read from the whole repository at 1263d5cd (2026-08-21); nothing was run. Paths in `source` are
relative to lmdeploy/pytorch.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.engines.model import EngineProfile, Facts, Switch
from pytest_eagle_contract.engines.rope import SINCE_5

DRAFT_INIT = "models/llama_eagle3.py:Eagle3LlamaForCausalLM.__init__"
DRAFT_LAYER = "models/llama_eagle3.py:Eagle3LlamaDecoderLayer.__init__"
LOADER = "models/llama_eagle3.py:Eagle3LlamaForCausalLM.load_weights"

LAYER_IDS = (
    Facts(
        # The target's builder computes three layers; ids in the draft's config are not read.
        {
            "aux_keys": (),
            "aux_argument": "",
            "aux_rule": "boundary",
            "aux_default": REFERENCE,
            "aux_order": "ascending",
            "aux_duplicates": "collapse",
            # Before the first block the residual is None, and adding it is a TypeError.
            "aux_lowest": 1,
            "aux_below": "error",
            "aux_highest": -1,
            "aux_count_keys": (),
            "aux_count_fixed": 3,
            "aux_off_key": "",
            "target_architectures": frozenset({"LlamaForCausalLM"}),
        },
        "configurations/llama.py:LlamaModelConfigBuilder.build; models/llama.py:LlamaModel.forward",
    ),
)

TOKEN_MAP = (
    Facts(
        # The parameter holds absolute ids and starts as zeros, also where no map is needed.
        {
            "map_absent": "zeros",
            "map_equal_vocab": "used",
            "map_outside": "silent",
            "map_duplicates": "harmless",
            "map_length": "error",
            "map_note": "LMDeploy checks ids only while it decodes with a grammar",
        },
        f"{LOADER}; spec_decode/proposers/eagle3.py:get_outputs",
    ),
)

TENSORS = (
    Facts(
        # "model." is put before every name, and nothing is renamed: only `midlayer.` is found.
        {
            "rename": (("midlayer.", "layers.0."),),
            "strip": (),
            "refused": ("layers.", "model."),
            "skipped": ("t2d",),
            "unknown": "error",
            "missing": "silent",
            "weights": frozenset({"safetensors", "sharded safetensors", "torch bin"}),
        },
        LOADER,
    ),
)

OWNERSHIP = (
    Facts(
        {
            "embedding": "kept if present",
            "lm_head": "own",
            "draft_vocab_absent": "error",
            "draft_vocab_null": "as absent",
            "tie": "lm_head skipped",  # and nothing is tied: the head stays as it was allocated
        },
        f"{LOADER}; {DRAFT_INIT}; spec_decode/proposers/eagle3.py:build_model",
    ),
)

STRUCTURE = (
    Facts(
        # The method's name is put before the draft's class, and only one result is registered.
        {
            "architectures": frozenset({"LlamaForCausalLM"}),
            "speculators_format": False,
            "max_layers": 1,
            "later_layer_norm": "",
            "head_dim": "read",
            "target_hidden_size": "honoured",
        },
        "configurations/llama.py:LlamaModelConfigBuilder; models/module_map.py:MODULE_MAP",
    ),
)

ABSENT = Switch("error")
SWITCHES = (
    Facts(
        {
            "switches": {
                "norm_before_residual": Switch("ignored"),
                "norm_before_fc": ABSENT,  # the key is not read; the tensor is a KeyError
                "fc_norm": ABSENT,
                "norm_output": Switch("ignored"),
                "use_aux_hidden_state": Switch("ignored", default=True),
                "attention_bias": ABSENT,  # qkv_proj is rebuilt without a bias
                "mlp_bias": Switch("honoured", ("mlp_bias",)),
                "bias": ABSENT,
            },
            "bias_switches": {"o_proj.bias": ("attention_bias",)},
        },
        f"{DRAFT_LAYER}; {LOADER}",
    ),
)

POSITIONS = (
    Facts(
        {
            **SINCE_5,
            "rope_types": frozenset({"linear", "dynamic", "yarn", "longrope", "llama3"}),
            "rope_theta": "honoured",
            # Angles are computed for the positions at hand; no table ends.
            "context_shorter": "raised to the target's",
            "sliding_window": "ignored",
        },
        "nn/rotary_embedding.py:build_rotary_params, get_rope_theta; "
        "backends/default/rotary_embedding.py:RotaryEmbeddingImpl.forward",
    ),
)

LMDEPLOY = EngineProfile(
    name="lmdeploy",
    title="LMDeploy",
    versions="",
    latest="0.16.0",
    facts=(*LAYER_IDS, *TOKEN_MAP, *TENSORS, *OWNERSHIP, *STRUCTURE, *SWITCHES, *POSITIONS),
    distributions=("lmdeploy",),
)
"""LMDeploy's profile."""
