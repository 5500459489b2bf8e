"""NVIDIA NeMo Automodel, read at 36044ad3."""

from __future__ import annotations

from pytest_eagle_contract.trainers.model import Signature, TrainerProfile

AUTOMODEL = TrainerProfile(
    name="automodel",
    title="NeMo Automodel",
    signatures=(
        Signature(
            30,
            "the class name LlamaEagle3DraftModel",
            architectures=frozenset({"LlamaEagle3DraftModel"}),
        ),
        Signature(30, "eagle_meta.pt beside the weights", files=("eagle_meta.pt",)),
        Signature(
            30,
            "the target's whole config with Automodel's own keys",
            keys=("attn_implementation", "parallel_drafting", "target_hidden_size"),
        ),
        Signature(
            20,
            "every tensor but the head under model.layers.0",
            tensors=("model.layers.0.hidden_norm.weight", "lm_head.weight"),
        ),
    ),
    ids_mean="output",
    ids_places=(),
    order="listed",
    switch_defaults={"fc_norm": False, "norm_output": False},
    trained_as={"norm_before_residual": False, "norm_before_fc": False},
    map_order="special ids, then frequency",
    embedding="target's",
    sources={
        "signatures": "draft_llama.py:LlamaEagle3DraftModel; components/checkpoint/addons.py; "
        "recipes/llm/train_eagle3.py:save_checkpoint",
        "ids_mean": "target.py: forward hooks on the layers",
        "ids_places": "recipes/llm/train_eagle3.py: aux_layer_ids stands in config.yaml alone",
        "default": "recipes/llm/train_eagle3.py, [1, L//2-1, L-4] as layer outputs",
        "order": "target.py: [captured[i] for i in aux_layer_ids]",
        "switch_defaults": "draft_llama.py:LlamaEagle3DraftModel.__init__, getattr defaults",
        "trained_as": "draft_llama.py:LlamaEagle3DraftModel.forward keeps the raw residual",
        "map_order": "bos, eos, pad, unk, then a stable argsort of the counts",
        "embedding": "recipes/llm/train_eagle3.py: freeze_embeddings is true by default",
    },
)
