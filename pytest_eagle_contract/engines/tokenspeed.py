"""What TokenSpeed does with an EAGLE-3 draft, by target family and draft class.

Read from the whole repository at f4d8ec6e (2026-08-22); nothing was run. Paths in `source` are
relative to python/tokenspeed/runtime.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS, TOP_IDS
from pytest_eagle_contract.engines.model import EngineProfile, Facts, Switch
from pytest_eagle_contract.engines.rope import SINCE_5

LATENT = "Eagle3DeepseekV2ForCausalLM"
YARN = frozenset({"yarn", "deepseek_yarn"})
VISION, TEXT = "ForConditionalGeneration", "ForCausalLM"
BASE = frozenset(
    {f"{n}{TEXT}" for n in ("Llama", "GptOss", "MiniMaxM2")} | {f"MiniMaxM3Sparse{VISION}"}
)
OWN_LOOP = frozenset(
    {f"{n}{TEXT}" for n in ("DeepseekV3", "DeepseekV32", "GlmMoeDsa", "LongcatFlash", "Qwen3_5Moe")}
    | {f"{n}{VISION}" for n in ("KimiK25", "Qwen3_5", "Qwen3_5Moe")}
)
K3 = frozenset({f"KimiK3{VISION}"})
NO_CAPTURE = frozenset(
    {f"{n}{TEXT}" for n in ("Qwen2", "Qwen3", "Qwen3Moe")} | {f"Qwen3OmniMoe{VISION}"}
)
LAYER_IDS = (
    Facts(
        # A nested eagle_config hides the top-level ids even where it holds none itself.
        {
            "aux_keys": (NESTED_IDS, TOP_IDS),
            "aux_nested_shadows_top": True,
            "aux_argument": "--eagle3-layers-to-capture",
            "aux_rule": "output",
            "aux_default": REFERENCE,
            # Capture stands before each block, so id L - 1 is lost; an extra test serves id L.
            "aux_highest": -1,
            "aux_final_late": True,
            "target_architectures": BASE | OWN_LOOP | K3,
        },
        "execution/factory.py:_eagle_aux_layer_ids; "
        "models/base/transformer_model.py:BaseTransformerModel.forward",
    ),
    Facts(
        {"aux_final_late": False},
        "models/deepseek_v3.py, longcat_flash.py, qwen3_5.py:layers_to_capture",
        targets=OWN_LOOP,
    ),
    Facts(
        {"aux_rule": "boundary", "aux_order": "must ascend", "aux_final_late": False}
        | {"aux_lowest": 1, "aux_below": "error", "aux_highest": 0, "aux_above": "error"},
        "models/kimi_k3.py:KimiLinearForCausalLM.set_eagle3_layers_to_capture",
        targets=K3,
    ),
    Facts(
        # The setter is inherited and nothing reads what it sets.
        {
            "aux_nothing": "captures no state of this target: the draft is fed the final state "
            "after its norm, and fc is skipped silently"
        },
        "models/qwen2.py:Qwen2Model.forward; layers/logits_processor.py:LogitsProcessor.forward",
        targets=NO_CAPTURE,
    ),
)

LLAMA_DRAFT = (
    Facts(
        # fc has as many states as the top-level list; nested ids and the argument do not count.
        {"aux_count_keys": (TOP_IDS,), "target_hidden_size": "ignored", "max_layers": 1},
        "models/llama_eagle3.py:Eagle3LlamaModel.__init__",
    ),
    Facts(
        # `layers.0.` is translated only where it begins the name.
        {
            "map_absent": "identity",
            "map_note": "TokenSpeed looks an id up only when it is drafted, and checks none",
            "strip": ("model.",),
            "refused": ("model.layers.", "model.lm_head."),
            "unknown": "dropped",
            "missing": "silent",
        },
        "models/llama_eagle3.py:LlamaForCausalLMEagle3.load_weights",
    ),
    Facts(
        {"embedding": "target's", "embedding_width_exception": True, "tie": "head from embedding"}
        | {"lm_head": "target's if draft vocab is null", "draft_vocab_absent": "vocab_size"},
        "models/llama_eagle3.py:LlamaForCausalLMEagle3.__init__, set_embed_and_head",
    ),
    Facts(
        # A draft that calls itself MiniMaxM2ForCausalLM is taken for the Llama class.
        {"architectures": frozenset({"LlamaForCausalLMEagle3", LATENT, "MiniMaxM2ForCausalLM"})},
        "utils/hf_transformers_utils.py:get_config; models/registry.py:ModelRegistry",
    ),
    Facts(
        {
            "switches": {
                "norm_before_residual": Switch("ignored"),
                "norm_before_fc": Switch("honoured", ("norm_before_fc",)),  # not the nested one
                "fc_norm": Switch("honoured", ("fc_norm",)),
                "norm_output": Switch("honoured", ("norm_output",)),
                "use_aux_hidden_state": Switch("ignored", default=True),
                "attention_bias": Switch("honoured", ("attention_bias",)),
                "bias": Switch("ignored"),
            }
        },
        "models/llama_eagle3.py:Eagle3LlamaModel.__init__, LlamaAttention.__init__",
    ),
    Facts(
        {
            # transformers is pinned to 5.12.0, whose rope_scaling is another name of the one table.
            **SINCE_5,
            "rope_types": YARN | {"llama3", "linear", "dynamic", "longrope"},
            "sliding_window": "ignored",
            "context_shorter": "error",  # unless TOKENSPEED_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN
        },
        "configs/utils.py:get_rope_theta; layers/rotary_embedding.py:get_rope; "
        "configs/model_config.py:ModelConfig.__init__",
    ),
)

LATENT_DRAFT = Facts(
    # "model." is put before every name but lm_head's. A null draft_vocab_size is a written one.
    {
        "aux_count_keys": (NESTED_IDS, TOP_IDS),
        "target_hidden_size": "honoured",
        "strip": (),
        "refused": ("model.",),
        "lm_head": "target's if absent",
        "switches": {"norm_before_fc": Switch("ignored"), "attention_bias": Switch("ignored")},
        "rope_types": YARN,
        "rope_other_type": "ignored",  # with a warning
    },
    "models/deepseek_v3.py:Eagle3MlaModel, _draft_rope_scaling, "
    "Eagle3DeepseekV2ForCausalLM.load_weights",
    drafts=frozenset({LATENT}),
)

TOKENSPEED = EngineProfile(
    name="tokenspeed",
    title="TokenSpeed",
    versions="",
    latest="2026.8",
    facts=(*LAYER_IDS, *LLAMA_DRAFT, LATENT_DRAFT),
    distributions=("tokenspeed",),
)
"""TokenSpeed's profile."""
