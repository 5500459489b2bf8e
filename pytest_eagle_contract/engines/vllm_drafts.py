"""What vLLM makes of a draft's config: names, switches, draft classes, the speculators format.

Paths in `source` are relative to vllm/, those under models/ to vllm/model_executor/.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_eagle_contract.checkpoint.keys import NESTED_IDS, TOP_IDS, USE_AUX
from pytest_eagle_contract.engines.model import Facts, Switch

INNER = "transformer_layer_config"

LLAMA = "models/llama_eagle3.py"
LLAMA_MODEL = f"{LLAMA}:LlamaModel.__init__"
LLAMA_LAYER = f"{LLAMA}:LlamaDecoderLayer.__init__"
QWEN3_MODEL = "models/qwen3_eagle3.py:Qwen3Eagle3Model.__init__"
QWEN3_LAYER = "models/qwen3_eagle3.py:Qwen3Eagle3DecoderLayer.__init__"
LATENT = "models/deepseek_eagle3.py"
LATENT_LOADER = f"{LATENT}:Eagle3DeepseekV2ForCausalLM.load_weights"
REGISTRY = "models/registry.py:_SPECULATIVE_DECODING_MODELS; transformers_utils/configs/eagle.py"
FORMAT = "transformers_utils/configs/speculators/algos.py:update_eagle3"
LOST = f"{FORMAT}; transformers_utils/configs/speculators/base.py"

OFF = Switch("ignored")
REFUSED = Switch("error")  # its tensors are unknown names
AUX_ALWAYS = Switch("ignored", default=True)
AUX_FAILS = Switch("error", default=True)  # one state does not fit the fc that is built

QWEN3_DRAFTS = frozenset({"Eagle3Qwen3ForCausalLM", "Qwen3ForCausalLM"})
LATENT_DRAFTS = frozenset({"Eagle3DeepseekV2ForCausalLM", "Eagle3DeepseekV3ForCausalLM"})

# "Eagle3" is put before a name that neither starts nor (from 0.10.1 on) ends with it.
_09 = frozenset({"Eagle3LlamaForCausalLM", "LlamaForCausalLM"})
_0101 = _09 | {"LlamaForCausalLMEagle3"}
_0111 = _0101 | {"Eagle3Qwen2_5vlForCausalLM"}
_012 = _0111 | {"Eagle3Qwen3vlForCausalLM"}
_018 = _012 | LATENT_DRAFTS
_020 = _018 | {"Eagle3MiniMaxM2ForCausalLM"}
_024 = _020 | QWEN3_DRAFTS

NAMES = tuple(
    Facts({"architectures": names}, REGISTRY, f">={release}")
    for release, names in (
        ("0.9", _09),
        ("0.10.1", _0101),
        ("0.11.1", _0111),
        ("0.12", _012),
        ("0.18", _018),
        ("0.20", _020),
        ("0.24", _024),
    )
)
"""The names that lead to a draft class; 0.8.5 does not read them."""

SWITCHES = (
    Facts(
        {
            "switches": {
                "norm_before_residual": OFF,
                "norm_before_fc": REFUSED,
                "fc_norm": REFUSED,
                "norm_output": OFF,
                "use_aux_hidden_state": AUX_ALWAYS,
                "attention_bias": REFUSED,
                "mlp_bias": Switch("honoured", ("mlp_bias",)),
                "bias": REFUSED,  # fc never has one
            },
            "bias_switches": {
                "q_proj.bias": (),
                "k_proj.bias": (),
                "v_proj.bias": (),
                "o_proj.bias": ("attention_bias", "bias"),
            },
        },
        f"{LLAMA_MODEL}; {LLAMA_LAYER}; models/llama.py:LlamaDecoderLayer.__init__",
    ),
    Facts(
        {"switches": {"norm_before_residual": Switch("honoured", ("norm_before_residual",))}},
        f"{LLAMA_LAYER}; measured in 0.32",
        ">=0.10.1",
    ),
    Facts(
        {"switches": {"use_aux_hidden_state": Switch("honoured", (USE_AUX,), default=True)}},
        f"{LLAMA_MODEL}; measured in 0.32",
        ">=0.12",
        "v1",
    ),
    Facts(
        # Capture is unconditional in this runner.
        {"switches": {"use_aux_hidden_state": AUX_FAILS}},
        "v1/worker/gpu/model_runner.py; v1/worker/gpu/spec_decode/speculator.py (inferred)",
        ">=0.17",
        "v2",
    ),
    Facts(
        {
            "switches": {"attention_bias": Switch("honoured", ("attention_bias",))},
            "bias_switches": {
                "q_proj.bias": ("attention_bias",),
                "k_proj.bias": ("attention_bias",),
                "v_proj.bias": ("attention_bias",),
                "o_proj.bias": ("attention_bias", "bias"),
            },
        },
        LLAMA_LAYER,
        ">=0.16",
    ),
    Facts(
        {"switches": {"norm_before_fc": Switch("honoured", ("norm_before_fc",))}},
        f"{LLAMA_MODEL} (0.18)",
        ">=0.18",
    ),
    Facts(
        # A nested false wins over a true at top level.
        {
            "switches": {
                "norm_before_fc": Switch(
                    "honoured", ("eagle_config.norm_before_fc", "norm_before_fc")
                ),
                "fc_norm": Switch("honoured", ("fc_norm",)),
                "norm_output": Switch("honoured", ("norm_output",)),
            }
        },
        f"{LLAMA_MODEL}; measured in 0.32",
        ">=0.22",
    ),
    Facts({"switches": {"bias": OFF}}, "models/utils.py:AutoWeightsLoader.load_weights", ">=0.25"),
)

QWEN3_CLASS: Mapping[str, object] = {
    "qk_norm": True,
    "bias_switches": {
        "q_proj.bias": ("attention_bias",),
        "k_proj.bias": ("attention_bias",),
        "v_proj.bias": ("attention_bias",),
        "o_proj.bias": (),
    },
}

DRAFT_CLASSES = (
    Facts(
        {
            **QWEN3_CLASS,
            "aux_count_keys": ("num_aux_layers", "num_aux_hidden_states", TOP_IDS, NESTED_IDS),
            "switches": {"mlp_bias": OFF},
        },
        f"{QWEN3_MODEL}; {QWEN3_LAYER}; models/qwen3.py:Qwen3Attention, Qwen3MLP.__init__",
        ">=0.24",
        drafts=QWEN3_DRAFTS,
    ),
    Facts(
        # Names without a parameter are passed over until 0.25, input_norm and fc_norm among them.
        {
            "unknown": "dropped",
            "switches": {"norm_before_fc": OFF, "fc_norm": OFF, "use_aux_hidden_state": AUX_FAILS},
        },
        f"{LATENT_LOADER} (0.24); {LATENT}:DeepseekV2Eagle3Model.__init__",
        ">=0.18",
        drafts=LATENT_DRAFTS,
    ),
    Facts(
        {"switches": {"fc_norm": Switch("honoured", ("fc_norm",))}},
        f"{LATENT}:Eagle3DeepseekV2ForCausalLM.combine_hidden_states",
        ">=0.23",
        drafts=LATENT_DRAFTS,
    ),
    Facts(
        {"unknown": "error", "switches": {"norm_before_fc": REFUSED}},
        LATENT_LOADER,
        ">=0.25",
        drafts=LATENT_DRAFTS,
    ),
    Facts(
        # Only a rope_scaling dict is passed on, so a custom base becomes 10,000.
        {"rope_theta": "ignored"},
        f"{LATENT}:DeepseekV2Eagle3DecoderLayer.__init__ (0.27; inferred)",
        ">=0.18,<0.28",
        drafts=LATENT_DRAFTS,
    ),
)

FORMATS = (
    Facts(
        # The wrapped type chooses the class, so `architectures` may say anything. Of the other
        # keys beside transformer_layer_config only those named here and in algos.py survive.
        {
            "architectures": frozenset(),
            "aux_off_key": "",
            "aux_count_keys": (),
            "switches": {
                "norm_before_residual": Switch("honoured", ("norm_before_residual",), default=True),
                "use_aux_hidden_state": AUX_ALWAYS,
                "mlp_bias": Switch("honoured", (f"{INNER}.mlp_bias",)),
            },
        },
        f"{LOST}; models/llama.py:LlamaDecoderLayer.__init__; measured in 0.32",
        ">=0.10.1",
        wrapped="any",
    ),
    Facts({"aux_keys": (TOP_IDS,)}, LOST, ">=0.11.1", wrapped="any"),
    Facts(
        # No model's own class is built, so there is no default base to replace the table's.
        {"rope_base": ("top level", "table")},
        "transformers_utils/configs/speculators/base.py:SpeculatorsConfig; "
        "transformers_utils/config.py:patch_rope_parameters",
        ">=0.12,<0.20",
        wrapped="any",
    ),
    Facts(
        {
            "switches": {
                "attention_bias": Switch("honoured", (f"{INNER}.attention_bias",)),
            },
            "bias_switches": {
                "q_proj.bias": (f"{INNER}.attention_bias",),
                "k_proj.bias": (f"{INNER}.attention_bias",),
                "v_proj.bias": (f"{INNER}.attention_bias",),
                "o_proj.bias": (f"{INNER}.attention_bias", f"{INNER}.bias"),
            },
        },
        LLAMA_LAYER,
        ">=0.16",
        wrapped="any",
    ),
    # The class honours these switches one or three releases before the format passes them on.
    Facts({"switches": {"norm_before_fc": OFF}}, f"{LOST} (0.18)", ">=0.18,<0.19", wrapped="any"),
    Facts(
        {"switches": {"norm_before_fc": Switch("honoured", ("norm_before_fc",))}},
        FORMAT,
        ">=0.19",
        wrapped="any",
    ),
    Facts({"aux_count_keys": (f"{INNER}.num_aux_hidden_states",)}, LOST, ">=0.22", wrapped="any"),
    Facts(
        {"switches": {"fc_norm": REFUSED, "norm_output": OFF}},
        f"{LOST} (0.24)",
        ">=0.22,<0.25",
        wrapped="any",
    ),
    Facts(
        {
            "switches": {
                "fc_norm": Switch("honoured", ("fc_norm",)),
                "norm_output": Switch("honoured", ("norm_output",)),
            }
        },
        FORMAT,
        ">=0.25",
        wrapped="any",
    ),
    Facts(
        {
            "qk_norm": True,
            "switches": {"mlp_bias": OFF},
            "bias_switches": {
                "q_proj.bias": (f"{INNER}.attention_bias",),
                "k_proj.bias": (f"{INNER}.attention_bias",),
                "v_proj.bias": (f"{INNER}.attention_bias",),
                "o_proj.bias": (),
            },
            "aux_count_keys": (
                f"{INNER}.num_aux_layers",
                f"{INNER}.num_aux_hidden_states",
                TOP_IDS,
            ),
        },
        f"{FORMAT}; {QWEN3_MODEL}; {QWEN3_LAYER}",
        ">=0.24",
        wrapped="qwen3",
    ),
)
"""The speculators format; later facts override earlier ones."""
