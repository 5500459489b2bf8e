"""What TensorRT-LLM's PyTorch backend (one-model path) does with an EAGLE-3 draft.

Read from single files of several commits of 2026; nothing was run. Paths in `source` are relative
to tensorrt_llm/_torch. With both norms before fc on, only fc_norm runs here; no switch says that.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.engines.model import EngineProfile, Facts, Switch
from pytest_eagle_contract.engines.rope import SINCE_5

MODEL = "models/modeling_speculative.py:Eagle3DraftModel.__init__"
LOADER = "models/modeling_speculative.py:Eagle3ForCausalLM.load_weights"
CAPTURE = "speculative/eagle3.py:Eagle3OneModelSpecMetadata.__post_init__"

LAYER_IDS = (
    Facts(
        # A server argument only: whatever the draft's config says about layers is not read.
        {
            "aux_keys": (),
            "aux_argument": "eagle3_layers_to_capture",
            "aux_rule": "output",
            "aux_default": REFERENCE,
            "aux_order": "ascending",
            "aux_duplicates": "collapse",  # the third slot of a 6-layer target stays unwritten
            "aux_lowest": 1,  # id -1 is the model's output, after the final norm
            "aux_highest": 0,
            "aux_min_layers": 6,  # ValueError for 2 to 5 layers
            "aux_count_keys": (),
            "aux_count_fixed": 3,  # the length of the server argument where it is given
            "aux_off_key": "",
        },
        CAPTURE,
    ),
)

TOKEN_MAP = (
    Facts(
        # The parameter exists only where the vocabularies differ; then a d2t must be there.
        {
            "map_absent": "error",
            "map_equal_vocab": "ignored",
            "map_outside": "silent",
            "map_duplicates": "harmless",
            "map_length": "error",
            "map_note": "TensorRT-LLM copies d2t to int32 and checks no id",
        },
        MODEL,
    ),
)

TENSORS = (
    Facts(
        # "model." is put before every name but lm_head's, so a name that has it already is lost.
        {
            "rename": (("midlayer.", "layers.0."),),
            "strip": (),
            "refused": ("model.",),
            "skipped": ("t2d",),
            "unknown": "dropped",
            "missing": "silent",  # for modules that are not fused; older versions stop
            "weights": frozenset({"safetensors", "sharded safetensors", "torch bin"}),
        },
        LOADER,
    ),
)

OWNERSHIP = (
    Facts(
        {
            "embedding": "target's",
            "embedding_width_exception": True,
            "lm_head": "target's if absent",
            "draft_vocab_absent": "vocab_size",  # with a warning
        },
        f"{LOADER}, load_weights_from_target_model; _ensure_draft_vocab_size",
    ),
    Facts(
        # The constructor reads embed_tokens, which is None unless the draft has its own width.
        {"tie": "error"},
        "models/modeling_utils.py:DecoderModelForCausalLM.__init__",
    ),
)

STRUCTURE = (
    Facts(
        {
            "architectures": frozenset(),  # the server's eagle3_model_arch decides, not the name
            "speculators_format": False,
            "max_layers": 0,
            "later_layer_norm": "hidden_norm",
            "head_dim": "read",
            "target_hidden_size": "honoured",
        },
        "models/modeling_speculative.py:Eagle3DecoderLayer.forward, _build_eagle3_one_model_draft",
    ),
)

SWITCHES = (
    Facts(
        {
            "switches": {
                "norm_before_residual": Switch("ignored"),
                "norm_before_fc": Switch("honoured", ("eagle_config.norm_before_fc",)),
                "fc_norm": Switch("honoured", ("fc_norm",)),
                "norm_output": Switch(
                    "honoured", ("norm_output", "eagle_config.return_hidden_post_norm")
                ),
                # One captured layer, set on the server, is what turns fc off.
                "use_aux_hidden_state": Switch("ignored", default=True),
                "attention_bias": Switch("honoured", ("attention_bias",)),
                "mlp_bias": Switch("honoured", ("mlp_bias",)),
                "bias": Switch("honoured", ("bias",)),
            }
        },
        f"{MODEL}; models/modeling_speculative.py:Eagle3Attention, apply_eagle3_fc",
    ),
)

POSITIONS = (
    Facts(
        {
            **SINCE_5,
            "rope_theta": "honoured",
            "context_shorter": "as is",
            "sliding_window": "ignored",
        },
        "attention_backend/interface.py:RopeParams.from_config",
    ),
)

TENSORRT_LLM = EngineProfile(
    name="tensorrt-llm",
    title="TensorRT-LLM",
    versions="",
    latest="2026.8",
    facts=(*LAYER_IDS, *TOKEN_MAP, *TENSORS, *OWNERSHIP, *STRUCTURE, *SWITCHES, *POSITIONS),
    distributions=("tensorrt-llm",),
    aliases={"trtllm": "tensorrt-llm", "trt-llm": "tensorrt-llm"},
)
"""TensorRT-LLM's profile."""
