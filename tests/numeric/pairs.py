"""Train a tiny target and drafts for it, in half a minute on a CPU.

The language: a sequence's first token chooses one of several permutations, and each token leads to
the next by it. The target learns it; a draft learns the target's greedy text from its states.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional
from transformers import LlamaConfig, LlamaForCausalLM

from pytest_eagle_contract.draft.model import ReferenceDraft
from pytest_eagle_contract.draft.shape import Rotary, Shape
from pytest_eagle_contract.draft.wiring import Wiring
from pytest_eagle_contract.target.capture import TargetModel
from pytest_eagle_contract.token_map import TokenMap

from .drafts import weights

VOCAB, DRAFT, HIDDEN, LAYERS, MODES, LENGTH, STEPS = 64, 48, 64, 8, 4, 24, 3
HEAD_DIM = 16
SHAPE = Shape(
    hidden=HIDDEN,
    target_hidden=HIDDEN,
    heads=4,
    kv_heads=2,
    head_dim=HEAD_DIM,
    layers=1,
    aux_states=3,
    draft_ids=DRAFT,
    vocab=VOCAB,
    eps=1e-5,
    activation="silu",
    window=None,
    rotary=Rotary(theta=10_000.0, kind="default", parameters={}, positions=128, head_dim=HEAD_DIM),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold a saved target, and prompts with the target's own continuations."""

    directory: Path
    model: TargetModel
    prompts: tuple[tuple[int, ...], ...]

    @property
    def target(self) -> Path:
        return self.directory / "target"


def sentences(count: int, seed: int) -> Tensor:
    """Return sequences [count, LENGTH]; the language is the same for every seed."""
    language = torch.Generator().manual_seed(1)
    moves = torch.stack([torch.randperm(VOCAB - MODES, generator=language) for _ in range(MODES)])
    random = torch.Generator().manual_seed(seed)
    modes = torch.randint(MODES, (count,), generator=random)
    now = torch.randint(VOCAB - MODES, (count,), generator=random)
    rows = [modes, now + MODES]
    for _ in range(LENGTH - 2):
        now = moves[modes, now]
        rows.append(now + MODES)
    return torch.stack(rows, dim=1)


def train_target(directory: Path) -> Pair:
    """Train and save the target; draw prompts of three tokens."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=HIDDEN,
        intermediate_size=128,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=HEAD_DIM,
        max_position_embeddings=128,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    model = LlamaForCausalLM(config)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(250):
        ids = sentences(64, 100 + step)
        loss = model(input_ids=ids, labels=ids).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.eval().save_pretrained(directory / "target")
    prompts = tuple(tuple(row[:3].tolist()) for row in sentences(12, 7))
    return Pair(directory, TargetModel(model), prompts)


def train_draft(pair: Pair, name: str, boundaries: Sequence[int], **switches: bool) -> Path:
    """Train and save a draft on the target's states at `boundaries`; no file says which.

    It learns to be right on them and wrong on others: the language is so easy that a draft could do
    without its states, and a wrong layer would not show.
    """
    torch.manual_seed(2)
    kept = torch.randperm(VOCAB, generator=torch.Generator().manual_seed(3))[:DRAFT].sort().values
    wiring = replace(
        Wiring(tuple(boundaries), TokenMap(kept.numpy(), VOCAB)),
        **switches,  # type: ignore[arg-type]
    )
    parameters = {n: t for n, t in weights(SHAPE, seed=4).items() if _used(n, wiring)}
    for parameter in parameters.values():
        parameter.requires_grad_()
    draft = ReferenceDraft(SHAPE, wiring, parameters, pair.model.embedding.detach())
    draft_id = torch.full((VOCAB,), -100)
    draft_id[kept] = torch.arange(DRAFT)
    others = [o for o in OTHERS if o != tuple(boundaries)]
    optimiser = torch.optim.AdamW(parameters.values(), lr=3e-3)
    for step in range(150):
        loss = torch.zeros(())
        for row, tokens in enumerate(sentences(8, 1000 + step)):
            wrong = others[(step + row) % len(others)]
            captured = pair.model.capture(tokens, range(LAYERS + 1))
            for fed, right in ((tuple(boundaries), True), (wrong, False)):
                states = torch.cat([captured.states[b].clone() for b in fed], dim=-1)
                for ahead, out in enumerate(draft.outputs(tokens, states, STEPS)):
                    wanted = draft_id[tokens[2 + ahead :]]
                    logits = out[: len(wanted)] @ parameters["lm_head.weight"].T
                    loss = loss + _loss(logits, wanted, right=right)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return save(pair.directory / name, {n: t.detach() for n, t in parameters.items()}, wiring)


OTHERS = ((2, 4, 5), (3, 5, 6), (1, 3, 4), (0, 2, 5), (2, 4, 6), (2, 3, 5), (1, 4, 5), (5, 4, 2))


def _loss(logits: Tensor, wanted: Tensor, *, right: bool) -> Tensor:
    if right:
        return functional.cross_entropy(logits, wanted)
    kept = wanted >= 0
    share = logits[kept].softmax(-1).gather(1, wanted[kept][:, None])
    return -(1 - share + 1e-6).log().mean()


def save(directory: Path, found: dict[str, Tensor], wiring: Wiring) -> Path:
    """Write a draft as SpecForge does: one layer called midlayer, offsets, no layer ids."""
    directory.mkdir()
    stored = {n.replace("layers.0.", "midlayer."): t.contiguous() for n, t in found.items()}
    stored["d2t"] = torch.from_numpy(wiring.token_map.offsets())
    stored["t2d"] = torch.from_numpy(wiring.token_map.mask())
    save_file(stored, directory / "model.safetensors")
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "vocab_size": VOCAB,
        "draft_vocab_size": DRAFT,
        "hidden_size": HIDDEN,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": HEAD_DIM,
        "max_position_embeddings": 128,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "norm_before_residual": wiring.norm_before_residual,
    }
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def _used(name: str, wiring: Wiring) -> bool:
    if name.startswith("fc_norm."):
        return wiring.fc_norm
    return wiring.norm_before_fc if name == "input_norm.weight" else True
