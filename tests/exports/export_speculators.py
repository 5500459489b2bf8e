"""Write the exports of speculators for a tiny random draft, with speculators' own code.

Usage: python export_speculators.py OUTPUT [--specforge DIRECTORY]

OUTPUT receives verifier/, data/ (token counts and mappings), default/ and variant/
(checkpoint directories, the draft in 0/), and, with --specforge naming an
output of export_specforge.py, converted_hf/, converted_sglang/ and converted_modern/.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import tiny_target as tiny

EPOCH = 0
#: Unsorted and unlike the default [2, L // 2, L - 3], so that an order or a base shows.
VARIANT_LAYER_IDS = (6, 1, 3)
VARIANT = (
    "--no-norm-before-residual",
    "--target-layer-ids",
    *(str(layer) for layer in VARIANT_LAYER_IDS),
)


def write_token_counts(directory: Path) -> Path:
    """Count the supervised tokens as `speculators prepare-data` counts them."""
    from speculators.train.vocab_mapping import save_token_frequency_distribution

    save_token_frequency_distribution(tiny.token_samples(), directory / "token_freq.pt")
    return directory


def resolve_run(verifier: Path, data: Path, save_path: Path, *switches: str) -> Any:
    """Resolve a `speculators train` command line."""
    from speculators.train.config import TrainConfig

    return TrainConfig.resolve(
        [
            "--verifier-name-or-path",
            str(verifier),
            "--data-path",
            str(data),
            "--save-path",
            str(save_path),
            "--speculator-type",
            "eagle3",
            "--draft-vocab-size",
            str(tiny.DRAFT_VOCAB_SIZE),
            # The verifier has no tokenizer to take it from, and EAGLE-3 ignores it.
            "--mask-token-id",
            "0",
            *switches,
        ]
    )


def build_draft(flags: argparse.Namespace) -> Any:
    """Build the draft as `speculators train` builds it before its first step."""
    from speculators.models.eagle3 import Eagle3DraftModel
    from speculators.train.cli import build_draft_model, parse_vocab_mappings, set_seed

    set_seed(flags.seed)
    d2t, t2d, draft_vocab_size = parse_vocab_mappings(flags)
    draft = build_draft_model(flags, Eagle3DraftModel, t2d, d2t, draft_vocab_size)
    tiny.randomise_norms(draft)
    return draft


def train_export(verifier: Path, data: Path, save_path: Path, *switches: str) -> None:
    """Write an untrained draft as the trainer saves one after its first epoch."""
    from speculators.train.checkpointer import SingleGPUCheckpointer
    from speculators.train.optimizers import build_optimizers

    run = resolve_run(verifier, data, save_path, *switches)
    run.save(str(save_path))
    # The model layer of speculators itself reads the flat form.
    flags = argparse.Namespace(**run.flatten())
    draft = build_draft(flags)
    # The Trainer class wants an accelerator; the checkpointer it saves with does not.
    SingleGPUCheckpointer(save_path).save_checkpoint(draft, build_optimizers(draft, flags), EPOCH)


def convert(source: Path, verifier: Path, output: Path) -> None:
    """Run `speculators convert` on a checkpoint in the EAGLE style."""
    from speculators.cli import app

    app(
        [
            "convert",
            str(source),
            "--verifier",
            str(verifier),
            "--algorithm",
            "eagle3",
            "--output-path",
            str(output),
        ],
        standalone_mode=False,
    )


def modern_copy(source: Path, copy: Path) -> Path:
    """Copy a checkpoint with the rotary base in rope_parameters alone, as transformers 5 saves."""
    shutil.copytree(source, copy)
    path = copy / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    del config["rope_theta"]
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return copy


def export(output: Path, specforge: Path | None) -> None:
    """Write the verifier, both training exports and the conversions."""
    output.mkdir(parents=True, exist_ok=True)
    verifier = tiny.save_target(output / "verifier")
    data = write_token_counts(output / "data")
    train_export(verifier, data, output / "default")
    train_export(verifier, data, output / "variant", *VARIANT)
    if specforge is None:
        return
    for kind in ("hf", "sglang"):
        source = specforge / f"to_{kind}"
        convert(source, specforge / "target", output / f"converted_{kind}")
    modern = modern_copy(specforge / "to_hf", output / "modern")
    convert(modern, specforge / "target", output / "converted_modern")


def main() -> None:
    """Parse the command line and export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="directory to write")
    parser.add_argument("--specforge", type=Path, help="output of export_specforge.py to convert")
    arguments = parser.parse_args()
    with tiny.quiet():
        export(arguments.output, arguments.specforge)


if __name__ == "__main__":
    main()
