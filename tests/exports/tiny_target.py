"""Shared inputs of the export scripts: a tiny random target and token samples."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Nothing here may reach a hub, and progress bars would only be noise in a test log.
# Both libraries read these names while they are imported.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
os.environ.setdefault("TQDM_DISABLE", "1")

HIDDEN_SIZE = 64
INTERMEDIATE_SIZE = 128
HEAD_DIM = 16
HEADS = 4
KEY_VALUE_HEADS = 2
VOCAB_SIZE = 512
DRAFT_VOCAB_SIZE = 128
TARGET_LAYERS = 8
# Longer than the attention window that speculators writes by default, so that it counts.
MAX_POSITIONS = 4096
# None of these is the default of a Llama config: a value that a trainer drops on the
# way would otherwise come back as the same number.
BOS_TOKEN_ID = 3
EOS_TOKEN_ID = 4
PAD_TOKEN_ID = 5
RMS_NORM_EPS = 1e-05
ROPE_THETA = 500000.0
SEED = 20
SAMPLES = 24
SAMPLE_LENGTH = 64


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hold back everything printed inside the block unless it raises."""
    held = io.StringIO()
    try:
        with contextlib.redirect_stdout(held), contextlib.redirect_stderr(held):
            yield
    except BaseException:
        sys.stderr.write(held.getvalue())
        raise


def save_target(directory: Path) -> Path:
    """Save a random Llama target with transformers."""
    import torch
    import transformers

    torch.manual_seed(SEED)
    config = transformers.LlamaConfig(
        vocab_size=VOCAB_SIZE,
        hidden_size=HIDDEN_SIZE,
        intermediate_size=INTERMEDIATE_SIZE,
        num_hidden_layers=TARGET_LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_VALUE_HEADS,
        head_dim=HEAD_DIM,
        max_position_embeddings=MAX_POSITIONS,
        rms_norm_eps=RMS_NORM_EPS,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        bos_token_id=BOS_TOKEN_ID,
        eos_token_id=EOS_TOKEN_ID,
        pad_token_id=PAD_TOKEN_ID,
        tie_word_embeddings=False,
    )
    auto: Any = transformers.AutoModelForCausalLM
    model = auto.from_config(config, dtype=torch.bfloat16)
    randomise_norms(model)
    model.save_pretrained(directory)
    return directory


def randomise_norms(model: Any) -> None:
    """Replace the constant norm weights of a fresh model, frozen ones apart."""
    import torch

    # An untrained norm is all ones, and a swapped or dropped norm would not show.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name and parameter.requires_grad:
                parameter.uniform_(0.5, 1.5)


def token_samples() -> Any:
    """Build the data set, half prompt and half answer, that both trainers count."""
    import torch
    from datasets import Dataset

    generator = torch.Generator().manual_seed(SEED)
    # A shuffled geometric-like distribution spreads the frequent ids over the whole
    # vocabulary, so the draft vocabulary is no prefix of the target's.
    order = torch.randperm(VOCAB_SIZE, generator=generator)
    weights = torch.arange(1, VOCAB_SIZE + 1, dtype=torch.float).reciprocal()
    ranks = torch.multinomial(
        weights, SAMPLES * SAMPLE_LENGTH, replacement=True, generator=generator
    )
    input_ids = order[ranks].reshape(SAMPLES, SAMPLE_LENGTH)
    loss_mask = torch.zeros_like(input_ids)
    loss_mask[:, SAMPLE_LENGTH // 2 :] = 1
    rows = {"input_ids": input_ids.tolist(), "loss_mask": loss_mask.tolist()}
    return Dataset.from_dict(rows).with_format("torch")
