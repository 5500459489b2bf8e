"""Which targets vLLM captures states of, and where a family differs from the rest.

Read from 31 releases, 0.8.5 to 0.32.0: the classes with `set_aux_hidden_state_layers` (found by
walking class bases and the registry), until 0.22 cut down to the model types that vLLM allows.
A class that vLLM does not register can be captured through its Transformers backend from 0.22 on;
such classes have no names to list.
"""

from __future__ import annotations

from pytest_eagle_contract.engines.model import Facts

DEEPSEEK = frozenset(
    {
        "DeepseekForCausalLM",
        "DeepseekV2ForCausalLM",
        "DeepseekV3ForCausalLM",
        "DeepseekV32ForCausalLM",
        "GlmMoeDsaForCausalLM",
        "KimiK25ForConditionalGeneration",  # delegates to DeepseekV2
        "MistralLarge3ForCausalLM",
    }
)

# Until 0.22 a model type outside a short list is refused, whatever its class can do.
_085 = frozenset({"LlamaForCausalLM", "LLaMAForCausalLM", "Fairseq2LlamaForCausalLM"})
_0101 = _085 | {"Llama4ForCausalLM", "Qwen3ForCausalLM"}
_0102 = _0101 | {"Qwen2ForCausalLM"}
_0110 = _0102 | {"GptOssForCausalLM", "MiniCPMForCausalLM", "MiniCPM3ForCausalLM"}
_0111 = _0110 | {
    "Llama4ForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration",
    "Qwen3MoeForCausalLM",
}
_012 = _0111 | {
    "OpenCUAForConditionalGeneration",
    "Qwen3VLForConditionalGeneration",
    "Qwen3VLMoeForConditionalGeneration",
}
_015 = _012 | {"LlavaForConditionalGeneration", "MantisForConditionalGeneration"}
_016 = _015 | {
    "AfmoeForCausalLM",
    "HunYuanDenseV1ForCausalLM",
    "HunYuanVLForConditionalGeneration",
    "InternS1ProForConditionalGeneration",
    "LightOnOCRForConditionalGeneration",
}
_017 = _016 | {"Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"}
# Of the DeepSeek family, DeepseekForCausalLM and GlmMoeDsa have types that are refused until 0.22.
_018 = _017 | (DEEPSEEK - {"DeepseekForCausalLM", "GlmMoeDsaForCausalLM"})
_020 = _018 | {
    "Gemma4ForCausalLM",
    "Gemma4ForConditionalGeneration",
    "MiniMaxM2ForCausalLM",
}
_021 = _020 | {"LagunaForCausalLM"}
_022 = (
    _021
    | DEEPSEEK
    | {
        "ApertusForCausalLM",
        "AquilaForCausalLM",
        "ArceeForCausalLM",
        "CwmForCausalLM",
        "Emu3ForConditionalGeneration",
        "Ernie4_5ForCausalLM",
        "Exaone4_5_ForConditionalGeneration",
        "GlmForCausalLM",
        "HunYuanMoEV1ForCausalLM",
        "IQuestCoderForCausalLM",
        "InternLM3ForCausalLM",
        "InternLMForCausalLM",
        "InternS2PreviewForConditionalGeneration",
        "MiMoForCausalLM",
        "Ministral3ForCausalLM",
        "Mistral3ForConditionalGeneration",
        "MistralForCausalLM",
        "NemotronHForCausalLM",
        "NemotronHPuzzleForCausalLM",
        "Phi3ForCausalLM",
        "PixtralForConditionalGeneration",
        "SmolLM3ForCausalLM",
        "Step1ForCausalLM",
        "TeleChat2ForCausalLM",
        "TeleChat3ForCausalLM",
        "TeleChatForCausalLM",
        "TeleFLMForCausalLM",
        "XverseForCausalLM",
    }
)
_023 = _022 | {
    "Cosmos3ForConditionalGeneration",
    "Gemma4UnifiedForConditionalGeneration",
    "MellumForCausalLM",
}
_024 = _023 | {
    "MiniMaxM3SparseForCausalLM",
    "MiniMaxM3SparseForConditionalGeneration",
    "Qwen3NextForCausalLM",
}
_025 = _024 | {
    "DeepseekV4ForCausalLM",
    "GPTBigCodeForCausalLM",
    "MiMoV2FlashForCausalLM",
    "MiMoV2ForCausalLM",
    "Starcoder2ForCausalLM",
}
_026 = _025 | {"Olmo2ForCausalLM", "OlmoForCausalLM"}
_027 = _026 | {
    "KimiK3ForConditionalGeneration",
    "Qwen3_5ForCausalLM",
    "Qwen3_5MoeForCausalLM",
    "VaultGemmaForCausalLM",
    "VibeVoiceAsrForConditionalGeneration",
}
_028 = _027 | {
    "InternS2MobiusForConditionalGeneration",
    "KimiLinearForCausalLM",
    "MuseGlimmerForCausalLM",
    "MuseGlimmerForConditionalGeneration",
}
_029 = _028 | {
    "FlexOlmoForCausalLM",
    "Olmo3ForCausalLM",
    "Plamo3ForCausalLM",
    "Qwen3OmniMoeForConditionalGeneration",
    "Qwen4ExpForConditionalGeneration",
}
_030 = _029 | {
    "CohereCompassForConditionalGeneration",
    "DeepseekV41ForCausalLM",
    "DeepseekV4ForConditionalGeneration",
    "K2HorizonForCausalLM",
    "NanbeigeForCausalLM",
    "SarvamMLAForCausalLM",
}
_031 = _030 | {
    "Cohere2MoeForCausalLM",
    "MiMoV2OmniForCausalLM",
    "NemotronH_Nano_Omni_Reasoning_V3",
    "NemotronH_Nano_VL_V2",
    "NemotronH_Omni_Reasoning_V3",
    "NemotronH_Super_Omni_Reasoning_V3",
}
_032 = _031 | {
    "GPTNeoXForCausalLM",
    "Glm5NextForCausalLM",
    "Glm5NextForConditionalGeneration",
    "GraniteForCausalLM",
    "GraniteSWAForCausalLM",
    "Jais2ForCausalLM",
    "MiniCPMV4_6ForConditionalGeneration",
    "MiniCPMV4_7ForConditionalGeneration",
    "PhiForCausalLM",
    "Qwen3ASRForConditionalGeneration",
    "SeedOssForCausalLM",
}

SUPPORTED = (
    ("0.8.5", _085),
    ("0.10.1", _0101),
    ("0.10.2", _0102),
    ("0.11", _0110),
    ("0.11.1", _0111),
    ("0.12", _012),
    ("0.15", _015),
    ("0.16", _016),
    ("0.17", _017),
    ("0.18", _018),
    ("0.20", _020),
    ("0.21", _021),
    ("0.22", _022),
    ("0.23", _023),
    ("0.24", _024),
    ("0.25", _025),
    ("0.26", _026),
    ("0.27", _027),
    ("0.28", _028),
    ("0.29", _029),
    ("0.30", _030),
    ("0.31", _031),
    ("0.32", _032),
)
"""(release, every target that can be captured from it on), in the order of releases."""

TARGETS = tuple(
    Facts(
        {"target_architectures": names},
        "config/speculative.py:_verify_args; models/interfaces.py:supports_eagle3",
        f">={release}",
    )
    for release, names in SUPPORTED
)

FAMILIES = (
    # An own loop without the common mixin. Before the first block the residual is None.
    Facts(
        {"aux_lowest": 1, "aux_below": "error"},
        "models/deepseek_v2.py:DeepseekV2Model.forward",
        ">=0.18",
        targets=DEEPSEEK,
    ),
    Facts(
        {"aux_highest": -1},
        "models/deepseek_v2.py:DeepseekV2Model.forward (0.24)",
        ">=0.18,<0.25",
        targets=DEEPSEEK,
    ),
)
"""Where a family differs from the common case; later facts override earlier ones."""
