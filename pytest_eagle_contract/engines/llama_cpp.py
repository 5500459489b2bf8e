"""What llama.cpp does with an EAGLE-3 draft, from its GGUF conversion on.

Read from single files of several commits up to 2026-08; nothing was run. Paths in `source` are
relative to the repository. Two things no field says: the original context of a llama3 rope is read
at top level only (8,192 where absent), and a missing head beside a d2t aborts.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.engines.model import EngineProfile, Facts, Switch
from pytest_eagle_contract.engines.rope import SINCE_5

CONVERTER = "conversion/llama.py:LlamaModel.__init__"
NAMES = "conversion/llama.py:LlamaModel.index_tensors, modify_tensors"
LOADER = "src/models/eagle3.cpp:load_arch_tensors"

LAYER_IDS = (
    Facts(
        # The converter computes three layers from the target and reads no ids anywhere.
        {
            "aux_keys": (),
            "aux_argument": "",
            "aux_rule": "boundary",
            "aux_default": REFERENCE,
            "aux_order": "listed",
            "aux_duplicates": "kept",
            "aux_lowest": 0,
            "aux_highest": 0,
            "aux_above": "error",
            "aux_count_keys": (),
            "aux_count_fixed": 3,
            "aux_off_key": "",
        },
        f"{CONVERTER}; common/speculative.cpp:common_speculative_impl_draft_eagle3",
    ),
)

TOKEN_MAP = (
    Facts(
        # The only engine that checks the ids. A missing map is a shape error of the reduced head.
        {
            "map_absent": "error",
            "map_equal_vocab": "used",
            "map_outside": "error",
            "map_duplicates": "error",
            "map_length": "error",
        },
        f"conversion/llama.py:LlamaModel.prepare_tensors; {LOADER}",
    ),
)

TENSORS = (
    Facts(
        # Only names that begin with midlayer or layers.0 are renamed; fc and d2t match exactly.
        {
            "rename": (("midlayer.", "layers.0."),),
            "strip": ("model.",),
            "refused": ("model.midlayer.", "model.fc.", "model.d2t"),
            "skipped": ("t2d",),
            "unknown": "error",
            "missing": "error",
            "weights": frozenset({"safetensors", "sharded safetensors", "torch bin"}),
        },
        f"{NAMES}; {LOADER}",
    ),
)

OWNERSHIP = (
    Facts(
        {
            "embedding": "kept if present",
            "lm_head": "target's if absent",  # older versions need it
            # Without the key the draft is taken for a plain Llama, and fc.weight has no place.
            "draft_vocab_absent": "error",
            "draft_vocab_null": "vocab_size",  # only the key is looked for
            "tie": "ignored",
        },
        f"{CONVERTER}; {LOADER}",
    ),
)

STRUCTURE = (
    Facts(
        {
            "architectures": frozenset(
                {
                    "LlamaForCausalLMEagle3",
                    "Eagle3Speculator",
                    "Eagle3DraftModel",
                    # Any of these is a draft where draft_vocab_size is written and depth is 1.
                    "LLaMAForCausalLM",
                    "LlamaForCausalLM",
                    "MistralForCausalLM",
                }
            ),
            "speculators_format": True,
            "max_layers": 1,
            "later_layer_norm": "",
            "head_dim": "read",
            "target_hidden_size": "honoured",
        },
        f"{CONVERTER}; conversion/llama.py:ModelBase.register",
    ),
)

ABSENT = Switch("error")
SWITCHES = (
    Facts(
        {
            "switches": {
                # False where absent even in the speculators format, whose own default is true.
                "norm_before_residual": Switch("honoured", ("norm_before_residual",)),
                "norm_before_fc": ABSENT,  # the key is not read; the tensor has no place
                "fc_norm": ABSENT,
                "norm_output": Switch("ignored"),
                "use_aux_hidden_state": Switch("ignored", default=True),
                "attention_bias": ABSENT,
                "mlp_bias": ABSENT,
                "bias": ABSENT,
            }
        },
        f"{CONVERTER}; conversion/base.py:ModelBase.map_tensor_name",
    ),
)

POSITIONS = (
    Facts(
        {
            **SINCE_5,
            "rope_types": frozenset({"linear", "yarn", "longrope", "llama3"}),
            "rope_other_type": "ignored",  # the converter warns at most
            "rope_theta": "honoured",
            "context_shorter": "raised to the target's",  # rotates any position, checks nothing
            "sliding_window": "ignored",
        },
        "conversion/base.py:TextModel.set_gguf_parameters; "
        "conversion/llama.py:LlamaModel.generate_extra_tensors",
    ),
)

LLAMA_CPP = EngineProfile(
    name="llama.cpp",
    title="llama.cpp",
    versions="",
    latest="2026.8",
    facts=(*LAYER_IDS, *TOKEN_MAP, *TENSORS, *OWNERSHIP, *STRUCTURE, *SWITCHES, *POSITIONS),
    aliases={"llamacpp": "llama.cpp", "llama-cpp": "llama.cpp"},
)
"""llama.cpp's profile."""
