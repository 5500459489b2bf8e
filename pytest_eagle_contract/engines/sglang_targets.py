"""What SGLang does by target: whose states can be captured, since when, and by which rule.

Every set holds `architectures` strings of targets. The families that FAMILIES names are disjoint,
because a target that is not known gets one reading for each of them. Each model file has its own
copy of the rule, so a family is the files that do the same.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.engines.model import Facts

LLAMA = frozenset(
    {"LlamaForCausalLM", "MistralForCausalLM", "Phi3ForCausalLM", "InternLM3ForCausalLM"}
)
DEEPSEEK = frozenset({"DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM"})
LATENT = DEEPSEEK | {
    "MistralLarge3ForCausalLM",
    "GlmMoeDsaForCausalLM",  # stands in glm4_moe.py but inherits deepseek_v2.py
    "KimiK25ForConditionalGeneration",  # delegates to DeepseekV3
}
GLM4_LITE = frozenset({"Glm4MoeLiteForCausalLM"})
GPT_OSS = frozenset({"GptOssForCausalLM"})
MINIMAX_M2 = frozenset({"MiniMaxM2ForCausalLM"})
MINIMAX_M3 = frozenset({"MiniMaxM3SparseForCausalLM"})
MINIMAX_M3_VL = frozenset({"MiniMaxM3SparseForConditionalGeneration"})
APERTUS = frozenset({"ApertusForCausalLM"})

# The final state is an extra test after the last block, so it can be captured.
GEMMA = frozenset(
    {
        "Gemma3ForCausalLM",
        "Gemma3ForConditionalGeneration",
        "Gemma4ForCausalLM",
        "Gemma4ForConditionalGeneration",
        "Gemma4UnifiedForConditionalGeneration",
    }
)

# A flag is set on each layer to capture, and a layer that does not exist is an IndexError.
QWEN3_5 = frozenset(
    {
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen3_5ForCausalLM",
        "Qwen3_5MoeForCausalLM",
        # These inherit Qwen3_5; that their own layers are captured was not checked.
        "InternS2PreviewForConditionalGeneration",
        "InternS2MobiusForConditionalGeneration",
        "Qwen4ExpForConditionalGeneration",
    }
)
FLAGGED = QWEN3_5 | {
    "Qwen2MoeForCausalLM",
    "Qwen3MoeForCausalLM",
    "Qwen3NextForCausalLM",
    "MellumForCausalLM",
}

# Capture before the first block works although there is no residual yet.
QWEN2 = frozenset({"Qwen2ForCausalLM", "Qwen2_5_VLForConditionalGeneration"})
GLM4V = frozenset({"Glm4vForConditionalGeneration", "Glm4vMoeForConditionalGeneration"})
QWEN3_VL = frozenset(
    {
        "Qwen3VLForConditionalGeneration",
        "Qwen3VLMoeForConditionalGeneration",
        "InternS1ProForConditionalGeneration",
    }
)
BAILING = frozenset({"BailingMoEForCausalLM", "BailingMoeForCausalLM", "BailingMoeV2ForCausalLM"})
FIRST_STATE = (
    GLM4V
    | QWEN3_VL
    | BAILING
    | QWEN2
    | {
        "Qwen3ForCausalLM",
        "SarvamMoEForCausalLM",
        "Glm5NextForConditionalGeneration",
        "Cosmos3ForConditionalGeneration",
    }
)

# Like llama, but their capture before the first block works one release earlier.
FIRST_STATE_LATE = frozenset(
    {
        "Llama4ForCausalLM",
        "Llama4ForConditionalGeneration",
        "Glm4MoeForCausalLM",
        "LongcatFlashForCausalLM",
    }
)

# Which targets can be captured, release by release. Qwen3_5 inherits a setter from 0.5.11 on and
# MiniMaxM3Sparse has one from 0.5.16 on, but until 0.5.22 and 0.5.18 nothing reads what it sets.
# MindSporeForCausalLM is left out: its rule lies in another package.
_044 = LLAMA
_045 = _044 | {"Llama4ForCausalLM"}
_049 = _045 | {"Llama4ForConditionalGeneration", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM"}
_051 = _049 | GPT_OSS
_052 = _051 | QWEN2 | GLM4V | {"Qwen2MoeForCausalLM"}
_053 = _052 | APERTUS
_054 = (_053 | DEEPSEEK) - GLM4V
_055 = _054 | {"Glm4MoeForCausalLM"}
_055_1 = _055 | MINIMAX_M2
_055_3 = _055_1 | {"TeleFLMForCausalLM"}
_056 = _055_3 | {"LongcatFlashForCausalLM"}
_056_1 = _056 | {"MistralLarge3ForCausalLM", "Ministral3ForCausalLM"}
_058 = _056_1 | GLM4_LITE | {"IQuestCoderForCausalLM"}
_059 = _058 | BAILING | {"GlmMoeDsaForCausalLM", "ExaoneMoEForCausalLM", "Qwen3NextForCausalLM"}
_0510 = _059 | {"KimiK25ForConditionalGeneration", "SarvamMoEForCausalLM"}
_0511 = _0510 | QWEN3_VL
_0512 = _0511 | (GEMMA - {"Gemma4UnifiedForConditionalGeneration"})
_0513 = _0512 | GEMMA
_0516 = _0513 | {"MellumForCausalLM"}
_0518 = _0516 | MINIMAX_M3 | MINIMAX_M3_VL
_0520 = _0518 | {"Glm5NextForConditionalGeneration", "Cosmos3ForConditionalGeneration"}
_0522 = _0520 | QWEN3_5 | {"ExaoneMoeForCausalLM"}

SUPPORTED = (
    ("0.4.4.post2", _044),
    ("0.4.5", _045),
    ("0.4.9", _049),
    ("0.5.1", _051),
    ("0.5.2", _052),
    ("0.5.3", _053),
    ("0.5.4.post2", _054),
    ("0.5.5", _055),
    ("0.5.5.post1", _055_1),
    ("0.5.5.post3", _055_3),
    ("0.5.6", _056),
    ("0.5.6.post1", _056_1),
    ("0.5.8", _058),
    ("0.5.9", _059),
    ("0.5.10", _0510),
    ("0.5.11", _0511),
    ("0.5.12", _0512),
    ("0.5.13", _0513),
    ("0.5.16", _0516),
    ("0.5.18", _0518),
    ("0.5.20", _0520),
    ("0.5.22", _0522),
)
"""(release, every target that can be captured from it on), in the order of releases."""

TARGETS = tuple(
    Facts(
        # Any other target is an AttributeError, in 0.5.23 a ValueError that names the setter.
        {"target_architectures": names},
        f"models/*.py:set_eagle3_layers_to_capture ({since})",
        f">={since}",
    )
    for since, names in SUPPORTED
)

FIRST_STATE_KEPT = {"aux_lowest": 0, "aux_below": "dropped"}
FIRST_STATE_FAILS = {"aux_lowest": 1, "aux_below": "error"}
"""Before the first block the residual is None, and `hidden_states + None` is a TypeError."""

FAMILIES = (
    # Whose capture before the first block works while the common one still fails.
    Facts(
        FIRST_STATE_KEPT,
        "models/qwen2.py, qwen3.py, qwen3_vl.py, bailing_moe.py:aux_hidden_states.append",
        "<0.5.22",
        targets=FIRST_STATE,
    ),
    Facts(
        FIRST_STATE_KEPT,
        "models/llama4.py, glm4_moe.py, longcat_flash.py:aux_hidden_states.append (0.5.21)",
        ">=0.5.21,<0.5.22",
        targets=FIRST_STATE_LATE,
    ),
    Facts(
        FIRST_STATE_KEPT,
        "models/apertus.py:aux_hidden_states.append (0.5.3)",
        "<0.5.14",
        targets=APERTUS,
    ),
    Facts(
        FIRST_STATE_KEPT,
        "models/minimax_m2.py:aux_hidden_states.append (0.5.11)",
        ">=0.5.11,<0.5.22",
        targets=MINIMAX_M2,
    ),
    # Llama-like files that set a flag on each layer. A negative index there marks a layer from the
    # end; no draft means that, so it counts as dropped.
    Facts(
        FIRST_STATE_KEPT,
        "models/qwen2_moe.py, qwen3_moe.py, qwen3_next.py:aux_hidden_states.append",
        "<0.5.22",
        targets=FLAGGED,
    ),
    Facts(
        {"aux_above": "error"},
        "models/qwen2_moe.py:Qwen2MoeModel.set_eagle3_layers_to_capture (0.5.4.post2)",
        ">=0.5.4.post2",
        targets=FLAGGED,
    ),
    Facts(
        {"aux_highest": 0, **FIRST_STATE_KEPT},
        "models/gemma3_causal.py, gemma4_causal.py:layers_to_capture (0.5.12)",
        ">=0.5.12",
        targets=GEMMA,
    ),
    Facts(
        {"aux_rule": "boundary if largest id is L", "aux_highest": 0, **FIRST_STATE_KEPT},
        "models/gpt_oss.py:GptOssModel.forward, set_eagle3_layers_to_capture (0.5.17, PR 32334)",
        ">=0.5.17",
        targets=GPT_OSS,
    ),
    Facts(
        {"aux_rule": "output if first id is 1"},
        "models/deepseek_v2.py:set_eagle3_layers_to_capture (0.5.13, PR 25454)",
        ">=0.5.13",
        targets=LATENT,
    ),
    Facts(
        FIRST_STATE_KEPT,
        "models/deepseek_v2.py:captured_last_layer_outputs (0.5.14)",
        ">=0.5.14",
        targets=LATENT,
    ),
    Facts(
        # "captured X of Y": the packer counts what arrived. A repeated id fails the same way.
        {"aux_below": "error", "aux_above": "error"},
        "layers/aux_hidden_states.py:AuxHiddenStatePacker.finalize (0.5.17)",
        ">=0.5.17",
        targets=LATENT,
    ),
    Facts(
        {"aux_rule": "output if first id is 1"},
        "models/glm4_moe_lite.py:set_eagle3_layers_to_capture (0.5.13)",
        ">=0.5.13",
        targets=GLM4_LITE,
    ),
    Facts(
        FIRST_STATE_KEPT,
        "models/glm4_moe_lite.py:aux_hidden_states.append (0.5.21)",
        ">=0.5.21",
        targets=GLM4_LITE,
    ),
    # Two classes of one family, of which only the multimodal one moves its default too.
    Facts(
        FIRST_STATE_KEPT,
        "models/minimax_m3.py:aux_hidden_states.append (0.5.18)",
        ">=0.5.18,<0.5.22",
        targets=MINIMAX_M3,
    ),
    Facts(
        {"aux_highest": 0},
        "models/minimax_m3.py:layers_to_capture (0.5.23)",
        ">=0.5.23",
        targets=MINIMAX_M3,
    ),
    Facts(
        {"aux_default": REFERENCE.shifted(1), **FIRST_STATE_KEPT},
        "models/minimax_m3_vl.py:set_eagle3_layers_to_capture (0.5.18)",
        ">=0.5.18",
        targets=MINIMAX_M3_VL,
    ),
    Facts(
        {"aux_highest": 0},
        "models/minimax_m3.py:layers_to_capture (0.5.23)",
        ">=0.5.23",
        targets=MINIMAX_M3_VL,
    ),
)
"""Where a family differs from the common case; later facts override earlier ones."""
