"""What SafeAILab/EAGLE, the method's own repository, does with an EAGLE-3 draft.

Read from the whole repository at cb7e0841 (2026-02-19); nothing was run. Paths in `source` are
relative to eagle/model.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.engines.model import EngineProfile, Facts, Switch

DRAFT_MODEL = "cnets.py:Model.__init__"
LOADER = "ea_model.py:EaModel.from_pretrained"

LAYER_IDS = (
    Facts(
        {
            "aux_keys": (),
            "aux_argument": "",
            "aux_rule": "boundary",
            "aux_default": REFERENCE,
            "aux_order": "ascending",
            "aux_duplicates": "collapse",  # fewer than three states are a shape error in fc
            "aux_lowest": 0,
            "aux_highest": -1,  # capture stands before each layer
            "aux_count_keys": (),
            "aux_count_fixed": 3,
            "aux_off_key": "",
            # Qwen2 captures only on request, and any other class is loaded as Mixtral.
            "target_architectures": frozenset({"LlamaForCausalLM", "Qwen3ForCausalLM"}),
        },
        "modeling_llama_kv.py:LlamaModel.forward; modeling_qwen3_kv.py:Qwen3Model.forward",
    ),
)

TOKEN_MAP = (
    Facts(
        # A buffer of zero offsets; with equal vocabularies it is deleted before the loading.
        {
            "map_absent": "identity",
            "map_equal_vocab": "ignored",
            "map_outside": "silent",
            "map_duplicates": "harmless",
            "map_length": "error",
        },
        f"{DRAFT_MODEL}; ea_model.py:EaModel.__init__",
    ),
)

TENSORS = (
    Facts(
        # load_state_dict(strict=False) on exact names: nothing is renamed, nothing is reported.
        {
            "rename": (("midlayer.", "layers.0."),),
            "strip": (),
            "refused": ("layers.", "model."),
            "skipped": ("t2d",),
            "unknown": "dropped",
            "missing": "silent",
            "weights": frozenset({"safetensors", "torch bin"}),
        },
        f"{LOADER}; cnets.py:Model",
    ),
)

OWNERSHIP = (
    Facts(
        # The target's table is read first and overwritten by a shipped one.
        {
            "embedding": "kept if present",
            "lm_head": "own",
            "draft_vocab_absent": "error",
            "draft_vocab_null": "as absent",
            "tie": "ignored",
        },
        f"{DRAFT_MODEL}; ea_model.py:EaModel.__init__",
    ),
)

STRUCTURE = (
    Facts(
        {
            "architectures": frozenset(),  # not read
            "speculators_format": False,
            "max_layers": 1,  # one layer is built whatever the config counts
            "later_layer_norm": "",
            "head_dim": "hidden_size / heads",
            "target_hidden_size": "honoured",
        },
        f"{DRAFT_MODEL}; cnets.py:LlamaAttention.__init__",
    ),
)

OFF = Switch("ignored")
SWITCHES = (
    Facts(
        {
            "switches": {
                "norm_before_residual": OFF,
                "norm_before_fc": OFF,
                "fc_norm": OFF,
                "norm_output": OFF,
                "use_aux_hidden_state": Switch("ignored", default=True),
                "attention_bias": OFF,
                "bias": OFF,  # passed on and not used: fc is built without
            }
        },
        "cnets.py:Model, LlamaAttention.__init__",
    ),
)

POSITIONS = (
    Facts(
        # Any rope_scaling but {"type": linear or dynamic, "factor": x} is a ValueError.
        {
            "rope_tables": ("rope_scaling",),
            "rope_base": ("top level",),
            "rope_base_scaled": False,
            "rope_types": frozenset({"linear", "dynamic"}),
            "rope_theta": "honoured",
            "context_shorter": "raised to the target's",  # the table grows with the cache
            "sliding_window": "ignored",
        },
        "configs.py:EConfig._rope_scaling_validation; cnets.py:LlamaAttention._init_rope, "
        "LlamaRotaryEmbedding.forward",
    ),
)

SAFEAI = EngineProfile(
    name="safeai-eagle",
    title="SafeAILab EAGLE",
    versions="",
    latest="2026.2",
    facts=(*LAYER_IDS, *TOKEN_MAP, *TENSORS, *OWNERSHIP, *STRUCTURE, *SWITCHES, *POSITIONS),
    aliases={"eagle": "safeai-eagle"},
)
"""SafeAILab EAGLE's profile."""
