"""Write the exports of SpecForge for a tiny random draft, with SpecForge's own code.

Usage: python export_specforge.py OUTPUT

OUTPUT receives target/, draft_config.json, vocab_mapping.pt, checkpoint/, to_hf/ and
to_sglang/.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import tiny_target as tiny

RUN_ID = "tiny"
STEP = 1


def write_draft_config(path: Path) -> Path:
    """Write the draft config that a SpecForge user writes by hand."""
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": tiny.HIDDEN_SIZE,
        "intermediate_size": tiny.INTERMEDIATE_SIZE,
        "num_hidden_layers": 1,
        "num_attention_heads": tiny.HEADS,
        "num_key_value_heads": tiny.KEY_VALUE_HEADS,
        "head_dim": tiny.HEAD_DIM,
        "max_position_embeddings": tiny.MAX_POSITIONS,
        "rms_norm_eps": tiny.RMS_NORM_EPS,
        "rope_theta": tiny.ROPE_THETA,
        "bos_token_id": tiny.BOS_TOKEN_ID,
        "eos_token_id": tiny.EOS_TOKEN_ID,
        "pad_token_id": tiny.PAD_TOKEN_ID,
        "tie_word_embeddings": False,
        "vocab_size": tiny.VOCAB_SIZE,
        "draft_vocab_size": tiny.DRAFT_VOCAB_SIZE,
    }
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return path


def write_vocab_mapping(directory: Path) -> Path:
    """Count the supervised tokens and write the mapping file."""
    from specforge.data.preprocessing import generate_vocab_mapping_file

    written: str = generate_vocab_mapping_file(
        tiny.token_samples(),
        target_vocab_size=tiny.VOCAB_SIZE,
        draft_vocab_size=tiny.DRAFT_VOCAB_SIZE,
        cache_dir=str(directory),
        cache_key="vocab_mapping",
    )
    return Path(written)


def build_draft(target: Path, draft_config: Path, mapping: Path) -> Any:
    """Build the draft as an offline run builds it before its first step."""
    import torch
    from specforge.algorithms.model_providers import build_eagle3_draft
    from specforge.config import Config
    from specforge.training.model_loading import load_draft_config_source

    run = Config.model_validate(
        {
            "model": {
                "target_model_path": str(target),
                "draft_model_config": str(draft_config),
                "vocab_mapping_path": str(mapping),
            },
            # Only validated, never read: no training step runs.
            "data": {"hidden_states_path": str(target)},
            "training": {"strategy": "eagle3", "attention_backend": "sdpa"},
        }
    )
    torch.manual_seed(tiny.SEED + 1)
    draft = build_eagle3_draft(run, load_draft_config_source(str(draft_config)))
    tiny.randomise_norms(draft)
    return draft


def save_checkpoint(draft: Any, directory: Path) -> Path:
    """Save training_state.pt through the trainer's controller."""
    import torch
    from specforge.optimizer import BF16Optimizer
    from specforge.training.backend import FSDPTrainingBackend, ParallelConfig
    from specforge.training.controller import TrainerController, TrainerCore
    from specforge.training.strategies.base import Eagle3TrainStrategy

    # OnlineEagle3Model, which holds the draft in a real run, imports Triton. Only its
    # attribute name reaches the checkpoint, and a ModuleDict gives the same keys.
    model = torch.nn.ModuleDict({"draft_model": draft})
    backend = FSDPTrainingBackend(
        ParallelConfig(),
        optimizer_factory=lambda module: BF16Optimizer(module, lr=1e-4),
    )
    backend.prepare_model(model, wrap=False, optimizer_target=draft)
    controller = TrainerController(
        TrainerCore(Eagle3TrainStrategy(model), backend),
        run_id=RUN_ID,
        output_dir=str(directory),
    )
    controller.save_checkpoint(STEP)
    return directory


def run_exporter(kind: str, checkpoint: Path, output: Path, *extra: str) -> None:
    """Run one `specforge export` command."""
    from specforge.cli import main as specforge

    status = specforge(
        [
            "export",
            "--to",
            kind,
            "--checkpoint",
            str(checkpoint),
            "--draft-config",
            str(output / "draft_config.json"),
            "--output-dir",
            str(output / f"to_{kind}"),
            *extra,
        ]
    )
    if status:
        raise SystemExit(f"specforge export --to {kind} ended with status {status}")


def export(output: Path) -> None:
    """Write the target, the checkpoint and both exports."""
    output.mkdir(parents=True, exist_ok=True)
    target = tiny.save_target(output / "target")
    draft_config = write_draft_config(output / "draft_config.json")
    mapping = write_vocab_mapping(output)
    draft = build_draft(target, draft_config, mapping)
    checkpoint = save_checkpoint(draft, output / "checkpoint")
    run_exporter("hf", checkpoint, output, "--embedding-source", str(target))
    run_exporter("sglang", checkpoint, output)


def main() -> None:
    """Parse the command line and export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="directory to write")
    arguments = parser.parse_args()
    with tiny.quiet():
        export(arguments.output)


if __name__ == "__main__":
    main()
