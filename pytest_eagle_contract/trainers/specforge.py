"""SpecForge, read at a6b6b023 (0.2.0) and in real exports of 0.2.0."""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.keys import NESTED_IDS
from pytest_eagle_contract.trainers.model import PLAIN_EAGLE3, Signature, TrainerProfile

SPECFORGE = TrainerProfile(
    name="specforge",
    title="SpecForge",
    signatures=(
        Signature(
            20,
            "midlayer with the rotary base both in rope_parameters and at top level",
            keys=("draft_vocab_size", "rope_parameters", "rope_theta"),
            absent_keys=("speculators_model_type", "speculators_config"),
            prefixes=("midlayer.",),
        ),
        PLAIN_EAGLE3,
    ),
    ids_mean="output",
    ids_places=(NESTED_IDS,),
    order="ascending",
    switch_defaults={"fc_norm": False},
    trained_as={
        # Its norm_output says whether lm_head sees a normed state; the state fed back is never.
        "norm_output": False,
        "norm_before_residual": False,
        "norm_before_fc": False,
    },
    map_order="ascending",
    embedding="target's",
    sources={
        "signatures": "export/to_hf.py:export_to_hf, export/to_sglang.py:export_to_sglang; the "
        "mirrored rope_theta: apply_legacy_rope_scaling",
        "ids_mean": "algorithms/model_providers.py:resolve_eagle_capture_layers; the ids go to "
        "SGLang's set_eagle3_layers_to_capture, which adds one",
        "ids_places": "configs/gpt-oss-20B-eagle3.json and others; the exporters never write ids",
        "default": "algorithms/model_providers.py:resolve_eagle_capture_layers, [1, L//2-1, L-4]",
        "order": "inferred: SGLang captures in layer order",
        "trained_as": "Eagle3Model.forward, LlamaForCausalLMEagle3.compute_logits",
        "map_order": "assembly.py:_install_dataset_vocab_mapping",
        "embedding": "build_eagle3_draft: freeze_embedding; to_sglang drops it",
    },
)
