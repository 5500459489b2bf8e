"""The reference draft computes what the trainers' own classes compute.

Run are Eagle3DraftModel of speculators 0.9.0 and LlamaForCausalLMEagle3 of SpecForge 0.2.0, as they
are installed, on random weights.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.draft.load import load_weights
from pytest_eagle_contract.draft.model import ReferenceDraft
from pytest_eagle_contract.draft.shape import read_shape
from pytest_eagle_contract.draft.wiring import Wiring
from pytest_eagle_contract.pair import read_draft
from pytest_eagle_contract.token_map import TokenMap

pytestmark = pytest.mark.filterwarnings("ignore")
"""The trainers warn of much that is no concern of these tests."""

VOCAB, DRAFT, HIDDEN, TOKENS, STEPS = 96, 40, 32, 21, 4
CPU = torch.device("cpu")
SWITCHES = ("norm_before_residual", "norm_before_fc", "fc_norm", "norm_output")
SIZES = {
    "vocab_size": VOCAB,
    "hidden_size": HIDDEN,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
}


def randomised(model: torch.nn.Module) -> None:
    """Give every parameter values that hide nothing; a fresh norm is all ones."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            values = torch.randn(parameter.shape, generator=generator)
            one = parameter.dim() == 1
            parameter.copy_(1 + 0.3 * values if one else values / parameter.shape[-1] ** 0.5)


def mapped(model: Any) -> TokenMap:
    """Give a model's buffers a map that is no prefix, and return it."""
    ids = torch.randperm(VOCAB, generator=torch.Generator().manual_seed(4))[:DRAFT].sort().values
    model.d2t.copy_(ids - torch.arange(DRAFT))
    mask = torch.zeros(VOCAB, dtype=torch.bool)
    mask[ids] = True
    model.t2d.copy_(mask)
    return TokenMap(ids.numpy(), VOCAB)


def reference_of(directory: Path, wiring: Wiring) -> ReferenceDraft:
    """Return the reference draft of an exported checkpoint."""
    draft = read_draft(open_checkpoint(directory))
    weights = load_weights(draft, CPU, torch.float32, leave=("d2t", "t2d"))
    return ReferenceDraft(read_shape(draft), wiring, weights, weights["embed_tokens.weight"])


def inputs() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(VOCAB, (TOKENS,), generator=generator)
    return tokens, torch.randn(TOKENS, 3 * HIDDEN, generator=generator)


def speculators_model(layers: int, extra: dict[str, Any], **switches: bool) -> Any:
    from speculators import SpeculatorsConfig, VerifierConfig
    from speculators.models.eagle3 import Eagle3DraftModel, Eagle3SpeculatorConfig
    from speculators.proposals.greedy import GreedyTokenProposalConfig
    from transformers import LlamaConfig, Qwen3Config

    made = {"llama": LlamaConfig, "qwen3": Qwen3Config}[extra.pop("model_type", "llama")]
    layer = made(**SIZES, num_hidden_layers=layers, **extra)
    layer._attn_implementation = "eager"
    config = Eagle3SpeculatorConfig(
        transformer_layer_config=layer,
        draft_vocab_size=DRAFT,
        eagle_aux_hidden_state_layer_ids=[2, 4, 5],
        speculators_config=SpeculatorsConfig(
            algorithm="eagle3",
            proposal_methods=[GreedyTokenProposalConfig(speculative_tokens=3)],
            default_proposal_method="greedy",
            verifier=VerifierConfig(name_or_path=None, architectures=["LlamaForCausalLM"]),
        ),
        **switches,
    )
    model = Eagle3DraftModel(config).float().eval()
    randomised(model)
    return model


VARIANTS = {
    "llama": (1, {}),
    "two layers": (2, {}),
    "qwen3": (1, {"model_type": "qwen3"}),
    "attention bias": (1, {"attention_bias": True}),
    "mlp bias": (1, {"mlp_bias": True}),
    "yarn": (
        1,
        {
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 5e5,
                "factor": 4.0,
                "original_max_position_embeddings": 128,
            }
        },
    ),
    "llama3": (
        1,
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 5e5,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    ),
    "linear": (1, {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}),
}
# Its config refuses both norms before fc together.
COMBINED = [f for f in itertools.product((False, True), repeat=4) if not (f[1] and f[2])]


@pytest.mark.parametrize(
    ("variant", "flags"),
    [("llama", flags) for flags in COMBINED]
    + [
        (name, flags)
        for name in VARIANTS
        if name != "llama"
        for flags in (COMBINED[0], COMBINED[-1])
    ],
    ids=str,
)
def test_speculators(variant: str, flags: tuple[bool, ...], tmp_path: Path) -> None:
    layers, extra = VARIANTS[variant]
    switches = dict(zip(SWITCHES, flags, strict=True))
    for mine, theirs in compared(speculators_model(layers, dict(extra), **switches), tmp_path):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-5)


def test_the_window_of_speculators_stays_where_an_engines_moves(tmp_path: Path) -> None:
    """In training, step j still sees what the row's first step saw; an engine's window slides."""
    window = {"layer_types": ["sliding_attention"], "sliding_window": 6}
    first, *later = compared(speculators_model(1, window), tmp_path)
    torch.testing.assert_close(*first, rtol=0, atol=1e-5)
    for mine, theirs in later:
        assert (mine - theirs).abs().max() > 1e-3


def compared(model: Any, directory: Path) -> list[tuple[Tensor, Tensor]]:
    """Return for each step what the reference and speculators hand to the head."""
    config = model.config
    switches = {name: getattr(config, name) for name in SWITCHES}
    token_map = mapped(model)
    model.save_pretrained(directory / "draft")
    reference = reference_of(directory / "draft", Wiring((2, 4, 5), token_map, **switches))
    tokens, states = inputs()
    seen: list[Tensor] = []
    model.lm_head.register_forward_pre_hook(lambda module, args: seen.append(args[0][0]))
    with torch.inference_mode():
        model(
            hidden_states=states[None, :-1],
            input_ids=tokens[None, 1:],
            document_ids=torch.zeros(1, TOKENS - 1, dtype=torch.long),
            ttt_steps=STEPS,
        )
        found = list(reference.outputs(tokens, states, STEPS))
    # Beyond the last true token one reads zeros and the other repeats it.
    pairs = enumerate(zip(found, seen, strict=True))
    return [(mine[: -step or None], theirs[: -step or None]) for step, (mine, theirs) in pairs]


def specforge_model(fc_norm: bool) -> Any:
    from specforge.modeling.draft.llama3_eagle import LlamaForCausalLMEagle3
    from transformers import LlamaConfig

    config = LlamaConfig(**SIZES, num_hidden_layers=1, pad_token_id=0)
    config.draft_vocab_size, config.fc_norm, config.target_hidden_size = DRAFT, fc_norm, HIDDEN
    model = LlamaForCausalLMEagle3(config, attention_backend="sdpa").float().eval()
    randomised(model)
    return model


@pytest.mark.parametrize("fc_norm", [False, True])
def test_specforge(fc_norm: bool, tmp_path: Path) -> None:
    model = specforge_model(fc_norm)
    token_map = mapped(model)
    model.config.architectures = ["LlamaForCausalLMEagle3"]
    model.save_pretrained(tmp_path / "draft")
    reference = reference_of(tmp_path / "draft", Wiring((2, 4, 5), token_map, fc_norm=fc_norm))
    tokens, states = inputs()
    found = list(reference.outputs(tokens, states, 1))
    with torch.inference_mode():
        theirs = model(states[None, :-1], model.embed_input_ids(tokens[None, 1:]))[0]
    torch.testing.assert_close(found[0], theirs, rtol=0, atol=1e-5)
