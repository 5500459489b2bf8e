"""What SGLang does with an EAGLE-3 draft, by version, target family and draft class.

Read from the source of all 71 releases from 0.4.4 to 0.5.23; nothing was run. Paths in `source` are
relative to sglang/srt, and a version after them says in which release the symbol was read.
EAGLE-3 exists from 0.4.4.post2.

Facts run from general to special: all targets by version, then target families, then the draft
class with latent attention. Ranges are written `>=` and `<` only: `<0.5.13` holds for 0.5.12.post1,
which `<=0.5.12` would not.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS, TOP_IDS, USE_AUX
from pytest_eagle_contract.engines.model import EngineProfile, Facts, Switch
from pytest_eagle_contract.engines.rope import BEFORE_5, MIXIN_5, SINCE_5
from pytest_eagle_contract.engines.sglang_targets import FAMILIES, FIRST_STATE_FAILS, TARGETS

LLAMA_DRAFT = "LlamaForCausalLMEagle3"
LATENT_DRAFT = "Eagle3DeepseekV2ForCausalLM"
LATENT_DRAFTS = frozenset({LATENT_DRAFT})

DRAFT_MODEL = "models/llama_eagle3.py:LlamaModel.__init__"
DRAFT_LOADER = "models/llama_eagle3.py:LlamaForCausalLMEagle3.load_weights"
DRAFT_INIT = "models/llama_eagle3.py:LlamaForCausalLMEagle3.__init__"
DRAFT_LAYER = "models/llama_eagle3.py:LlamaDecoderLayer.__init__"
LATENT_MODEL = "models/kimi_k25_eagle3.py:Eagle3MLAModel.__init__"
LATENT_INIT = "models/kimi_k25_eagle3.py:Eagle3DeepseekV2ForCausalLM.__init__"
LATENT_LOADER = "models/kimi_k25_eagle3.py:Eagle3DeepseekV2ForCausalLM.load_weights"

LONGER_CONTEXT = "start with --context-length or SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1"
TORCH = ("torch bin", "sharded torch bin")
OFF = Switch("ignored")
FC_NORM = Switch("honoured", ("fc_norm", "use_aux_norm"))
NORM_BEFORE_FC = Switch("honoured", ("eagle_config.norm_before_fc", "norm_before_fc"))
NORM_OUTPUT = Switch("honoured", ("norm_output",))

LAYER_IDS = (
    Facts(
        # The setter has no argument before 0.4.9: whatever a config says, the default is captured.
        {
            "aux_keys": (),
            "aux_rule": "boundary",
            "aux_default": REFERENCE,
            "aux_order": "ascending",
            "aux_duplicates": "collapse",
            "aux_lowest": 0,
            "aux_below": "dropped",
            # Capture stands before each block, so the state after the last one is never reached.
            "aux_highest": -1,
            "aux_above": "dropped",
            "aux_count_keys": (),
            "aux_count_fixed": 3,
            "aux_off_key": "",
        },
        "models/llama.py:set_eagle3_layers_to_capture (0.4.4.post2)",
    ),
    Facts(
        # A bare except surrounds the reading: a config without the key means the default, no log.
        {"aux_keys": (NESTED_IDS,), "aux_rule": "output"},
        "model_executor/model_runner.py:ModelRunner (0.4.9), since 0.5.16 "
        "model_runner_components/spec_aux_hidden_state.py:_resolve_eagle_aux_hidden_state",
        ">=0.4.9",
    ),
    Facts(
        FIRST_STATE_FAILS, "models/llama.py:LlamaModel.forward (0.4.9, 0.5.21)", ">=0.4.9,<0.5.22"
    ),
    Facts({"aux_count_keys": ("num_aux_hidden_states", NESTED_IDS)}, DRAFT_MODEL, ">=0.5.12"),
)

TOKEN_MAP = (
    Facts(
        {
            "map_absent": "error",  # AttributeError: get_hot_token_id reads what was never set
            "map_equal_vocab": "used",
            "map_outside": "silent",
            "map_duplicates": "harmless",
            "map_length": "unchecked",
            "map_note": "an id is looked up only when it is drafted: one outside the vocabulary is "
            "an embedding fault, or is never accepted",
        },
        "speculative/eagle_worker.py:EAGLEWorker.__init__ (0.4.8.post1)",
    ),
    Facts(
        {"map_absent": "identity"}, "speculative/eagle_worker.py:EAGLEWorker.__init__", ">=0.4.9"
    ),
)

TENSORS = (
    Facts(
        # "model." is put before every name but lm_head's, so a name that has it already is lost. An
        # unknown q, k, v, gate or up projection is a KeyError; any other one is only a warning.
        {
            "rename": (("midlayer.", "layers.0."),),
            "strip": (),
            "refused": ("layers.", "model."),
            "skipped": ("t2d",),
            "unknown": "dropped",
            "missing": "silent",
            "weights": frozenset({"safetensors", "sharded safetensors", *TORCH}),
        },
        f"{DRAFT_LOADER} (0.4.8); model_loader/loader.py:DefaultModelLoader._prepare_weights",
    ),
    Facts(
        # The module is called midlayer, and `layers.0.` is not translated: those names are dropped.
        # "model." is put before a name only where the name alone is no parameter.
        {"strip": ("model.",), "refused": ("layers.", "model.layers.", "model.lm_head.")},
        f"{DRAFT_LOADER} (0.4.9)",
        ">=0.4.9",
    ),
    Facts(
        {
            "rename": (
                ("midlayer", "layers.0"),
                ("aux_norm_low", "fc_norm.0"),
                ("aux_norm_mid", "fc_norm.1"),
                ("aux_norm_high", "fc_norm.2"),
            ),
            "refused": ("model.lm_head.",),
        },
        DRAFT_LOADER,
        ">=0.5.12",
    ),
)

OWNERSHIP = (
    Facts(
        {
            "embedding": "target's",
            "embedding_width_exception": True,
            "draft_vocab_absent": "error",  # AttributeError of the config object
            "draft_vocab_null": "as absent",
            "lm_head": "own",
            # The target's embedding by then, and with a reduced vocabulary only its first rows.
            "tie": "head from embedding",
        },
        f"{DRAFT_INIT}; models/llama.py:set_embed",
    ),
    Facts(
        {"draft_vocab_null": "vocab_size", "lm_head": "target's if draft vocab is null"},
        f"{DRAFT_INIT}, load_lm_head_from_target",
        ">=0.5.2",
    ),
)

STRUCTURE = (
    Facts(
        {
            "architectures": frozenset({LLAMA_DRAFT}),
            "speculators_format": False,
            "max_layers": 1,
            "later_layer_norm": "",
            "head_dim": "read",
            "target_hidden_size": "honoured",
        },
        "models/llama_eagle3.py:EntryClass; models/registry.py:resolve_model_cls; "
        "models/llama.py:LlamaAttention.__init__",
    ),
    Facts(
        # Layers after the first use hidden_norm; their input_layernorm is loaded and not used.
        {
            "architectures": LATENT_DRAFTS | {LLAMA_DRAFT},
            "max_layers": 0,
            "later_layer_norm": "hidden_norm",
        },
        "models/llama_eagle3.py:LlamaDecoderLayer.forward; models/kimi_k25_eagle3.py:EntryClass",
        ">=0.5.12",
    ),
)

SWITCHES = (
    Facts(
        {
            "switches": {
                # The string does not occur in any release: the residual is the un-normed hidden.
                "norm_before_residual": OFF,
                "norm_before_fc": OFF,
                "fc_norm": OFF,
                "norm_output": OFF,
                "use_aux_hidden_state": Switch("ignored", default=True),
                # qkv_proj is rebuilt without a bias; only o_proj follows the key (bias_switches).
                "attention_bias": OFF,
                "mlp_bias": OFF,
                # fc is a plain torch Linear: it has a bias, at random where none is shipped.
                "bias": Switch("ignored", default=True),
            },
            "bias_switches": {
                "q_proj.bias": (),
                "k_proj.bias": (),
                "v_proj.bias": (),
                "o_proj.bias": ("attention_bias", "bias"),
            },
        },
        f"{DRAFT_LAYER}; {DRAFT_MODEL} (0.4.8); models/llama.py:LlamaDecoderLayer.__init__",
    ),
    Facts({"switches": {"bias": Switch("honoured", ("bias",))}}, DRAFT_MODEL, ">=0.4.9"),
    Facts(
        # Read before the ids, so it counts without them.
        {
            "aux_off_key": USE_AUX,
            "switches": {"use_aux_hidden_state": Switch("honoured", (USE_AUX,), default=True)},
        },
        "model_executor/model_runner.py:ModelRunner (0.5.8), since 0.5.16 "
        "model_runner_components/spec_aux_hidden_state.py:_resolve_eagle_aux_hidden_state",
        ">=0.5.8",
    ),
    Facts(
        {"switches": {"fc_norm": FC_NORM, "norm_output": NORM_OUTPUT}},
        DRAFT_MODEL,
        ">=0.5.12",
    ),
    Facts(
        # A nested false wins over a top-level true.
        {"switches": {"norm_before_fc": NORM_BEFORE_FC}},
        DRAFT_MODEL,
        ">=0.5.17",
    ),
)

POSITIONS = (
    Facts(
        {
            **BEFORE_5,
            "rope_theta": "honoured",
            "sliding_window": "ignored",  # only --speculative-draft-window-size sets one
            "context_shorter": "as is",  # a warning
            "context_option": "--context-length",
        },
        "models/llama.py:LlamaDecoderLayer.__init__; configs/model_config.py:ModelConfig.__init__; "
        "models/llama_eagle3.py:get_attention_sliding_window_size; "
        "layers/rotary_embedding.py:get_rope",
    ),
    Facts(
        {"context_shorter": "error", "context_remedy": LONGER_CONTEXT},
        "configs/model_config.py:_derive_context_length",
        ">=0.5.1",
    ),
    Facts(
        SINCE_5,
        f"models/llama.py:LlamaDecoderLayer.__init__; {MIXIN_5}",
        ">=0.5.10",
    ),
)

LATENT_DRAFT_FACTS = (
    Facts(
        # num_aux_hidden_states is not read for fc here, but the top-level ids are: for the width
        # alone, never for the capture.
        {"aux_count_keys": (NESTED_IDS, TOP_IDS)},
        "models/kimi_k25_eagle3.py:_get_eagle_aux_layer_count",
        ">=0.5.12",
        drafts=LATENT_DRAFTS,
    ),
    Facts(
        {
            # "model." is put before every name but lm_head's; aux_norm names are not translated.
            "rename": (("midlayer.", "layers.0."),),
            "strip": (),
            "refused": ("model.",),
            # The key is read by getattr here: absent is the same as null.
            "draft_vocab_absent": "vocab_size",
            "max_layers": 1,
            "later_layer_norm": "",
            "switches": {"fc_norm": OFF, "norm_output": OFF, "norm_before_fc": OFF},
        },
        f"{LATENT_MODEL}; {LATENT_INIT}; {LATENT_LOADER} (0.5.12)",
        ">=0.5.12",
        drafts=LATENT_DRAFTS,
    ),
    Facts(
        {"switches": {"fc_norm": FC_NORM, "norm_output": NORM_OUTPUT}},
        f"{LATENT_MODEL} (0.5.13)",
        ">=0.5.13",
        drafts=LATENT_DRAFTS,
    ),
)

SGLANG = EngineProfile(
    name="sglang",
    title="SGLang",
    versions=">=0.4.4.post2,<0.6",
    latest="0.5.23",
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
        *LATENT_DRAFT_FACTS,
    ),
    distributions=("sglang",),
)
