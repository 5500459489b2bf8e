"""The speculators trainer, read at c05b95b3 (0.9.0+) and in real exports of 0.9.0.

Files of `speculators convert` (architectures Eagle3Speculator) say nothing about who trained the
weights, so they match no profile here.
"""

from __future__ import annotations

from pytest_eagle_contract.checkpoint.keys import TOP_IDS
from pytest_eagle_contract.trainers.model import Signature, TrainerProfile

SPECULATORS = TrainerProfile(
    name="speculators",
    title="speculators",
    signatures=(
        Signature(
            30,
            "the speculators format with the trainer's own class name",
            architectures=frozenset({"Eagle3DraftModel"}),
            keys=("speculators_model_type",),
        ),
    ),
    ids_mean="boundary",
    ids_places=(TOP_IDS,),
    order="ascending",
    # The trainer always writes its switches. A file without one was edited, and the config class
    # then reads false, whatever the command line's own default is.
    switch_defaults={
        "norm_before_residual": False,
        "norm_before_fc": False,
        "fc_norm": False,
        "norm_output": False,
    },
    map_order="ascending",
    embedding="target's",
    sources={
        "signatures": "models/eagle3/core.py:Eagle3DraftModel; save_pretrained names the class",
        "ids_mean": "models/utils.py:resolve_target_layer_ids; scripts/launch_vllm.py",
        "ids_places": "models/eagle3/config.py:Eagle3SpeculatorConfig",
        "default": "models/utils.py:resolve_target_layer_ids, [2, L//2, L-3]",
        "order": "inferred: vLLM extracts in layer order",
        "switch_defaults": "models/eagle3/config.py:Eagle3SpeculatorConfig, the class's defaults",
        "map_order": "model.py:DraftVocabMixin",
        "embedding": "models/eagle3/core.py: input_embeds are taken under no_grad",
    },
)
