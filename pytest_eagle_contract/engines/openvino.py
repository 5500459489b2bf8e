"""What OpenVINO GenAI does with an EAGLE-3 draft that optimum-intel exported.

Read from openvino.genai at da1db864 (2026-08-21) and optimum-intel at e1de5bee (2026-08-20);
nothing was run. Paths in `source` are relative to src/cpp/src and to optimum/exporters/openvino.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.engines.model import EngineProfile, Facts, Switch
from pytest_eagle_contract.engines.rope import SINCE_5

TRANSFORMS = "speculative_decoding/eagle3_model_transforms.cpp"
DRAFT_MODEL = "model_patcher.py:LlamaEagle3Model.__init__"
DRAFT_HEAD = "model_patcher.py:LlamaEagle3ForCausalLM"

LAYER_IDS = (
    Facts(
        # A property of the exported model; the exporter does not write it. The default is the
        # reference's numbers taken as layer outputs, so each state is one block later.
        {
            "aux_keys": (),
            "aux_argument": "hidden_layers_list",
            "aux_rule": "output",
            "aux_default": REFERENCE.shifted(1),
            "aux_order": "listed",
            "aux_duplicates": "kept",  # an assertion that the states found are as many as listed
            "aux_lowest": 1,
            "aux_below": "error",
            "aux_highest": 0,
            "aux_above": "error",
            "aux_min_layers": 10,  # asserted for the default only
            "aux_count_keys": (),
            "aux_count_fixed": 3,
            "aux_off_key": "",
        },
        f"{TRANSFORMS}:extract_eagle3_info_from_config, find_hidden_state_outputs_by_patterns",
    ),
)

TOKEN_MAP = (
    Facts(
        {
            "map_absent": "identity",
            "map_equal_vocab": "used",
            "map_outside": "silent",
            "map_duplicates": "harmless",
            "map_length": "unchecked",
            "map_note": "OpenVINO reads d2t without a check of length or range",
        },
        f"{DRAFT_MODEL}; sampling/sampler.cpp:Sampler",
    ),
)

TENSORS = (
    Facts(
        # from_pretrained names what it does not find in a warning and draws it at random.
        {
            "rename": (("midlayer.", "layers.0."),),
            "strip": ("model.",),
            "refused": ("layers.", "model.layers."),
            "skipped": ("t2d",),
            "unknown": "dropped",
            "missing": "silent",
            "weights": frozenset({"safetensors", "sharded safetensors", "torch bin"}),
        },
        DRAFT_HEAD,
    ),
)

OWNERSHIP = (
    Facts(
        # Whatever the draft ships, its table is replaced by a clone of the target's.
        {"embedding": "target's", "embedding_width_exception": False},
        f"{TRANSFORMS}:share_vocabulary",
    ),
    Facts(
        {
            "lm_head": "own",
            "draft_vocab_absent": "error",
            "draft_vocab_null": "as absent",
            "tie": "ignored",
        },
        DRAFT_MODEL,
    ),
)

STRUCTURE = (
    Facts(
        {
            "architectures": frozenset({"LlamaForCausalLMEagle3", "Eagle3LlamaForCausalLM"}),
            "speculators_format": False,
            "max_layers": 1,  # one layer is built whatever the config counts
            "later_layer_norm": "",
            "head_dim": "read",
        },
        f"__main__.py:_CUSTOM_DRAFT_MODEL_MAP; {DRAFT_MODEL}",
    ),
    Facts(
        # fc is built by it, but the export traces with 3 × hidden_size: a shape error.
        {"target_hidden_size": "error"},
        f"input_generators.py:Eagle3DummyGenerator.generate; {DRAFT_MODEL}",
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
                "attention_bias": OFF,  # q, k and v have none; o_proj follows the key
                "bias": OFF,
            },
            "bias_switches": {"o_proj.bias": ("attention_bias",)},
        },
        f"{DRAFT_MODEL}; model_patcher.py:LlamaEagle3Attention.__init__",
    ),
)

POSITIONS = (
    Facts(
        {
            **SINCE_5,
            "rope_types": frozenset(),  # transformers' own, all of them
            "rope_theta": "honoured",
            "context_shorter": "raised to the target's",  # angles are computed, no table ends
            "sliding_window": "ignored",
        },
        DRAFT_MODEL,
    ),
)

OPENVINO = EngineProfile(
    name="openvino",
    title="OpenVINO GenAI",
    versions="",
    latest="2026.4",
    facts=(*LAYER_IDS, *TOKEN_MAP, *TENSORS, *OWNERSHIP, *STRUCTURE, *SWITCHES, *POSITIONS),
    distributions=("openvino-genai",),
    aliases={"openvino-genai": "openvino"},
)
"""OpenVINO GenAI's profile."""
