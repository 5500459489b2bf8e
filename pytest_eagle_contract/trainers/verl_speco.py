"""verl-SpeCo, read at 333b7541.

Without its metadata.json and without written ids an export of it looks like SpecForge's, and stays
unrecognised: the two differ in the default layers by one.
"""

from __future__ import annotations

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS, TOP_IDS
from pytest_eagle_contract.trainers.model import PLAIN_EAGLE3, Signature, TrainerProfile

VERL_SPECO = TrainerProfile(
    name="verl-speco",
    title="verl-SpeCo",
    signatures=(
        Signature(
            30,
            "eagle_config.target_hidden_layer_ids",
            keys=("eagle_config.target_hidden_layer_ids",),
            prefixes=("midlayer.",),
        ),
        Signature(
            30,
            "metadata.json of a pretrained drafter beside the weights",
            prefixes=("midlayer.",),
            entries=(("metadata.json", "format", "pretrained_drafter_checkpoint"),),
        ),
        PLAIN_EAGLE3,
    ),
    ids_mean="output",
    ids_places=(NESTED_IDS, TOP_IDS),
    default=REFERENCE.shifted(1),
    order="listed",
    switch_defaults={"fc_norm": False},
    trained_as={"norm_output": False, "norm_before_residual": False, "norm_before_fc": False},
    map_order="ascending",
    embedding="target's",
    sources={
        "signatures": "models/auto.py:_normalize_eagle3_config_dict; "
        "trainer/base_trainer.py:_save_pretrained_checkpoint_async",
        "ids_mean": "_resolve_hidden_state: ids refer to layer outputs",
        "ids_places": "models/auto.py:_normalize_eagle3_config_dict writes both places alike",
        "default": "[2, L//2, L-3] taken as layer outputs on the old-logprob path; the one through "
        "SGLang would use SGLang's default (inferred)",
        "order": "_resolve_hidden_state, in the order listed",
        "trained_as": "models/eagle/llama_eagle.py:LlamaForCausalLMEagle3.forward",
        "map_order": "data/preprocessing.py:generate_vocab_mapping_file; training counts along t2d",
        "embedding": "overwritten by the target's and frozen",
    },
)
