"""A draft and its target as the rest of the package sees them: sizes read, names canonical."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_eagle_contract.checkpoint.config import Config, Located, read_config
from pytest_eagle_contract.checkpoint.geometry import (
    NESTED,
    Geometry,
    places,
    read_geometry,
    text_places,
)
from pytest_eagle_contract.checkpoint.mistyped import refuse_mistyped
from pytest_eagle_contract.checkpoint.model import Checkpoint, TensorInfo
from pytest_eagle_contract.checkpoint.names import MAPS, canonical, stored_layers
from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.token_map import StoredMap, stored_in_checkpoint

PACKED = frozenset(
    {"F8_E4M3", "F8_E5M2", "F8_E8M0", "F6_E2M3", "F6_E3M2", "F4", "I8", "U8", "I32", "U32"},
)
"""dtypes of weights that some loader has to unpack."""

LLAMA_POSITIONS = 2048
"""The max_position_embeddings of transformers' LlamaConfig."""

DRAFT_MARKS = ("draft_vocab_size", "speculators_model_type", "eagle_config")
"""Keys that only a draft's config holds."""

FIRST_INPUTS = tuple(
    f"layers.0.self_attn.{name}.weight"
    for name in ("q_proj", "q_a_proj", "kv_a_proj_with_mqa", "qkv_proj")
)
"""Projections that take the input of layer 0, whose width tells a draft from a plain decoder."""

MOST_FACTOR = 10_000
MOST = {
    "vocab_size": 2**22,
    "draft_vocab_size": 2**22,
    "num_aux_hidden_states": 4096,
    "num_hidden_layers": 4096,
}
"""More than this is in no model known, by a factor of ten or more."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Hold what a target's config says; its weights are not needed at the static level.

    `generation` is the generation_config.json beside the config, where there is one to read.
    """

    config: Config
    geometry: Geometry
    architecture: str | None
    generation: Config | None = None

    @property
    def layers(self) -> int | None:
        """Return the number of decoder layers, L."""
        return self.geometry.layers.value if self.geometry.layers else None

    @property
    def dtype(self) -> Located[str] | None:
        """Return the type of the language model's weights as the config states it."""
        keys = ("dtype", "torch_dtype")
        return self.config.text(*(p for key in keys for p in text_places(self.config, key)))


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """Hold a checkpoint with its sizes, its tensors by canonical name and its stored map."""

    checkpoint: Checkpoint
    geometry: Geometry
    tensors: Mapping[str, TensorInfo]
    stored_map: StoredMap | None

    @property
    def config(self) -> Config:
        """Return the draft's config."""
        return self.checkpoint.config

    @property
    def architecture(self) -> str | None:
        """Return the first class name in `architectures`."""
        return first_architecture(self.config)

    @property
    def nested(self) -> bool:
        """Tell whether sizes stand in a table of their own, as in the speculators format."""
        return self.config.has("speculators_model_type") and self.config.has(NESTED)

    @property
    def layers(self) -> int:
        """Return the number of draft layers whose tensors are stored."""
        return stored_layers(self.tensors)

    @property
    def head_rows(self) -> int | None:
        """Return how many draft ids the stored head scores, what the config says without one."""
        head = self.tensors.get("lm_head.weight")
        return head.rows if head is not None else self.geometry.draft_rows

    @property
    def latent_attention(self) -> bool:
        """Tell whether the draft uses multi-head latent attention (DeepSeek's)."""
        return any(".kv_a_proj" in name for name in self.tensors)

    @property
    def weights(self) -> tuple[TensorInfo, ...]:
        """Return every tensor but those of the token map."""
        return tuple(info for name, info in self.tensors.items() if name not in MAPS)

    @property
    def quantization(self) -> Located[Mapping[str, object]] | None:
        """Return the config's declaration of packed weights."""
        return self.config.table(*places("quantization_config"))

    @property
    def packed(self) -> tuple[TensorInfo, ...]:
        """Return the weights that some loader has to unpack."""
        return tuple(info for info in self.weights if info.dtype in PACKED)

    @property
    def quantised(self) -> bool:
        """Tell whether weights are packed in a way that the config declares."""
        return self.quantization is not None and bool(self.packed)

    @property
    def positions(self) -> Located[int] | None:
        """Return how many positions the draft serves: what is written, times its rope factor.

        llama3 scaling and a stated original length count from the written number already. A Llama
        config that writes none gets the class's default.
        """
        written, rope = self.geometry.max_position_embeddings, self.geometry.rope
        if written is None:
            llama = self.config.text("model_type", f"{NESTED}.model_type")
            stated = llama is not None and llama.value == "llama"
            return Located(LLAMA_POSITIONS, "LlamaConfig's default") if stated else None
        factor = rope.parameters.get("factor")
        included = "original_max_position_embeddings" in rope.parameters or (
            rope.kind is not None and rope.kind.value == "llama3"
        )
        if included or not isinstance(factor, int | float) or not 1 <= factor < MOST_FACTOR:
            return written
        return Located(int(written.value * factor), f"{written.where} × {rope.where}.factor")

    def aux_states(self, target_width: int | None) -> int | None:
        """Return how many target states fc takes by its stored shape.

        0 without fc; None where the width does not divide or is not known.
        """
        fc = self.tensors.get("fc.weight")
        if fc is None:
            return 0
        if len(fc.shape) != 2 or not target_width or target_width < 1:
            return None
        count, rest = divmod(fc.shape[1], target_width)
        return count if rest == 0 else None


def is_eagle3(draft: Draft) -> bool:
    """Tell whether layer 0 takes an embedding and a hidden state side by side.

    That doubled input is what every EAGLE-3 draft has and no ordinary decoder does.
    """
    hidden, stored = draft.geometry.hidden_size, draft.tensors
    first = next((stored[name] for name in FIRST_INPUTS if name in stored), None)
    if first is None or hidden is None or len(first.shape) != 2:
        return "layers.0.hidden_norm.weight" in stored or "fc.weight" in stored
    return first.shape[1] != hidden.value


def read_draft(checkpoint: Checkpoint) -> Draft:
    """Return the draft in a checkpoint.

    Two names for one tensor, sizes that no model has and values of another type raise InputError.
    """
    refuse_mistyped(checkpoint.config)
    _refuse_absurd(checkpoint.config)
    tensors: dict[str, TensorInfo] = {}
    for name, info in checkpoint.tensors.items():
        short = canonical(name)
        if short in tensors:
            raise InputError(
                info.file,
                name,
                f"stands beside {tensors[short].name}, which is the same tensor",
                "export again from one state dict",
            )
        tensors[short] = info
    return Draft(
        checkpoint, read_geometry(checkpoint.config), tensors, stored_in_checkpoint(checkpoint)
    )


def _refuse_absurd(config: Config) -> None:
    """Refuse counts that would make every later step slow or large; a typo adds digits."""
    for key, most in MOST.items():
        found = config.integer(*places(key))
        if found is not None and found.value > most:
            raise InputError(
                config.path, found.where, f"is {found.value:,}", f"write at most {most:,}"
            )


def read_target(config: Config) -> Target:
    """Return what a target's config says about its shape.

    A draft's config, and values of another type, raise InputError.
    """
    mark = next((key for key in DRAFT_MARKS if config.has(key)), None)
    if mark is not None:
        raise InputError(
            config.path, mark, "is an EAGLE-3 draft's key", "give the target that it drafts for"
        )
    sizes = read_geometry(config)
    # LongCat's own spelling, which engines translate.
    layers = sizes.layers or config.integer(*text_places(config, "num_layers"))
    found = Target(
        config, replace(sizes, layers=layers), first_architecture(config), _generation(config)
    )
    # Contracts look at it much later, and one line for a mistyped value is enough.
    _ = found.dtype
    return found


def _generation(config: Config) -> Config | None:
    """Read the generation config of a target; engines start without one that they cannot read."""
    if config.path.name != "config.json":
        return None
    try:
        return read_config(config.path.with_name("generation_config.json"))
    except InputError:
        return None


def first_architecture(config: Config) -> str | None:
    """Return the first class name that a config's `architectures` lists."""
    names = config.texts("architectures")
    return names.value[0] if names and names.value else None
