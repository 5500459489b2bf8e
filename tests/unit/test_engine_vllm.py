"""vLLM's profile against what its source does, release by release and runner by runner."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from safetensors.numpy import save_file

from pytest_eagle_contract.boundaries import REFERENCE
from pytest_eagle_contract.checkpoint import open_checkpoint
from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.engines import registry
from pytest_eagle_contract.engines.model import FIELDS, Engine, Facts, Semantics, readings
from pytest_eagle_contract.engines.resolution import Captured, Resolution
from pytest_eagle_contract.engines.resolve import captured_with, resolve
from pytest_eagle_contract.engines.vllm import VLLM
from pytest_eagle_contract.engines.vllm_targets import DEEPSEEK, SUPPORTED
from pytest_eagle_contract.pair import read_draft

LAYERS = 32
DEFAULT = (2, 16, 29)
LLAMA, QWEN3, DEEPSEEK_V3 = "LlamaForCausalLM", "Qwen3ForCausalLM", "DeepseekV3ForCausalLM"
LLAMA_DRAFT, QWEN3_DRAFT = "LlamaForCausalLMEagle3", "Eagle3Qwen3ForCausalLM"
LATENT_DRAFT = "Eagle3DeepseekV2ForCausalLM"
TOP = "eagle_aux_hidden_state_layer_ids"
V1, V2 = ("0.32.0", "v1"), ("0.32.0", "v2")
HIDDEN, VOCAB, DRAFT_VOCAB = 8, 16, 12


def facts(
    version: str, runner: str = "v1", target: str = LLAMA, draft: str = LLAMA_DRAFT
) -> Semantics:
    (reading,) = readings(Engine(VLLM, version, runner), target, draft)
    return reading.semantics


def captured(
    config: Mapping[str, object], version: str, runner: str = "v1", target: str = LLAMA
) -> Captured:
    semantics = facts(version, runner, target)
    return captured_with(Config(Path("config.json"), config), semantics, LAYERS)


def nested(*ids: int) -> dict[str, object]:
    return {"eagle_config": {TOP: list(ids)}}


def top(*ids: int) -> dict[str, object]:
    return {TOP: list(ids)}


# The table "What a default-trained checkpoint gets": vLLM 0.11.1-0.21, V1 from 0.22 on, V2.
COLUMNS = (("0.21.0", "v1"), V1, V2)


@pytest.mark.parametrize("column", range(len(COLUMNS)))
@pytest.mark.parametrize(
    ("config", "row"),
    [
        ({}, (DEFAULT, DEFAULT, DEFAULT)),
        (nested(1, 15, 28), (DEFAULT, (1, 15, 28), DEFAULT)),
        (nested(2, 16, 29), (DEFAULT, DEFAULT, DEFAULT)),
        (top(2, 16, 29), (DEFAULT, DEFAULT, DEFAULT)),
        (nested(4, 15, 24), (DEFAULT, (4, 15, 24), DEFAULT)),
        (top(4, 16, 25), ((4, 16, 25), (4, 16, 25), (4, 16, 25))),
    ],
)
def test_the_table_of_default_trained_checkpoints(
    config: Mapping[str, object], row: tuple[tuple[int, ...], ...], column: int
) -> None:
    assert captured(config, *COLUMNS[column]).boundaries == row[column]


@pytest.mark.parametrize(
    ("config", "version", "runner", "boundaries"),
    [
        # The file is not asked before 0.11.1.
        (top(4, 16, 25), "0.11.0", "v1", DEFAULT),
        (top(4, 16, 25), "0.11.1", "v1", (4, 16, 25)),
        (nested(4, 15, 24), "0.21.0", "v1", DEFAULT),
        (nested(4, 15, 24), "0.22.0", "v1", (4, 15, 24)),
        ({**top(4, 16, 25), **nested(3, 15, 24)}, "0.32.0", "v1", (4, 16, 25)),
        ({"eagle_config": {"layer_ids": [4, 16, 25]}}, "0.32.0", "v1", DEFAULT),
        ({"eagle_config": {"layer_ids": [4, 16, 25]}}, "0.26.0", "v2", DEFAULT),
        ({"eagle_config": {"layer_ids": [4, 16, 25]}}, "0.27.0", "v2", (4, 16, 25)),
        # These three count layer outputs.
        ({"target_layer_ids": [3, 15, 24]}, "0.24.0", "v2", DEFAULT),
        ({"target_layer_ids": [3, 15, 24]}, "0.25.0", "v2", (4, 16, 25)),
        ({"target_layer_ids": [3, 15, 24]}, "0.32.0", "v1", DEFAULT),
        ({"dspark_target_layer_ids": [3, 15, 24]}, "0.32.0", "v2", (4, 16, 25)),
        ({"dflash_config": {"target_layer_ids": [3, 15, 24]}}, "0.19.0", "v1", DEFAULT),
        ({"dflash_config": {"target_layer_ids": [3, 15, 24]}}, "0.20.0", "v1", (4, 16, 25)),
        ({"dflash_config": {"target_layer_ids": [3, 15, 24]}}, "0.23.0", "v2", DEFAULT),
        ({"dflash_config": {"target_layer_ids": [3, 15, 24]}}, "0.24.0", "v2", (4, 16, 25)),
        # Measured: order is the engine's own, and duplicates are one state.
        (top(29, 2, 16), "0.32.0", "v1", DEFAULT),
        (top(2, 2, 29), "0.32.0", "v1", (2, 29)),
    ],
)
def test_where_ids_are_read(
    config: Mapping[str, object], version: str, runner: str, boundaries: tuple[int, ...]
) -> None:
    assert captured(config, version, runner).boundaries == boundaries


@pytest.mark.parametrize("runner", ["v1", "v2"])
def test_embedding_and_final_state_since_0_18(runner: str) -> None:
    assert captured(top(0, 16, 29), "0.17.0", runner).error
    assert captured(top(0, 16, 29), "0.18.0", runner).boundaries == (0, 16, 29)
    assert captured(top(2, 16, 32), "0.17.0", runner).lost == (32,)
    assert captured(top(2, 16, 32), "0.18.0", runner).boundaries == (2, 16, 32)
    assert captured(top(2, 16, 33), "0.32.0", runner).lost == (33,)


@pytest.mark.parametrize("target", sorted(DEEPSEEK))
def test_the_deepseek_family_never_gives_the_embedding_state(target: str) -> None:
    assert captured(top(0, 16, 29), "0.32.0", target=target).error
    assert captured(top(2, 16, 32), "0.24.0", target=target).lost == (32,)
    assert captured(top(2, 16, 32), "0.25.0", target=target).boundaries == (2, 16, 32)


def test_a_small_target_loses_states_of_the_default() -> None:
    config = Config(Path("config.json"), {})
    assert captured_with(config, facts(*V1), 5).boundaries == (2,)
    assert captured_with(config, facts(*V1), 4).boundaries == (1, 2)


@pytest.mark.parametrize(
    ("version", "runner", "boundaries"),
    [("0.11.2", "v1", DEFAULT), ("0.12.0", "v1", ()), ("0.32.0", "v1", ()), (*V2, DEFAULT)],
)
def test_aux_states_can_be_off_in_v1_alone(
    version: str, runner: str, boundaries: tuple[int, ...]
) -> None:
    off = {"eagle_config": {"use_aux_hidden_state": False}}
    assert captured(off, version, runner).boundaries == boundaries


@pytest.mark.parametrize(
    ("name", "runner", "since", "before", "after"),
    [
        ("draft_vocab_absent", "v1", "0.11.0", "error", "vocab_size"),
        ("map_equal_vocab", "v1", "0.30.0", "used", "error"),
        ("map_equal_vocab", "v2", "0.30.0", "used", "error"),
        ("embedding", "v1", "0.9.0", "kept if present", "target's"),
        ("embedding", "v1", "0.11.1", "target's", "kept if different"),
        ("embedding", "v2", "0.22.0", "kept if present", "kept if different"),
        ("lm_head", "v1", "0.11.1", "own", "target's if absent"),
        ("max_layers", "v1", "0.11.1", 1, 0),
        ("later_layer_norm", "v1", "0.11.1", "", "input_layernorm"),
        ("speculators_format", "v1", "0.10.1", False, True),
        ("unknown_dropped", "v1", "0.25.0", (), (".bias",)),
        ("sliding_window", "v1", "0.10.1", "ignored", "error"),
        ("sliding_window", "v1", "0.10.2", "error", "honoured"),
        ("context_shorter", "v1", "0.11.0", "as is", "stops drafting"),
        ("context_shorter", "v2", "0.27.0", "as is", "raised to the target's"),
        ("aux_count_keys", "v1", "0.22.0", (), ("num_aux_hidden_states", f"eagle_config.{TOP}")),
    ],
)
def test_facts_that_change_at_a_release(
    name: str, runner: str, since: str, before: object, after: object
) -> None:
    assert getattr(facts(_before(since), runner), name) == before
    assert getattr(facts(since, runner), name) == after


def _before(release: str) -> str:
    named = {Version(v) for f in VLLM.facts for v in re.findall(r"[\d.]+\d", f.versions)}
    return str(max(v for v in named | {Version("0.8.5")} if v < Version(release)))


def test_v1_still_stops_drafting_in_the_latest_release() -> None:
    assert facts(*V1).context_shorter == "stops drafting"
    assert facts(*V2).context_shorter == "raised to the target's"


@pytest.mark.parametrize(
    ("version", "tables", "base"),
    [
        ("0.11.2", ("rope_scaling",), ("top level",)),
        ("0.12.0", ("rope_scaling", "rope_parameters"), ("top level",)),
        ("0.19.0", ("rope_scaling", "rope_parameters"), ("top level",)),
        ("0.20.0", ("rope_scaling", "rope_parameters"), ("table", "top level")),
    ],
)
def test_rope_keys(version: str, tables: tuple[str, ...], base: tuple[str, ...]) -> None:
    assert facts(version).rope_tables == tables
    assert facts(version).rope_base == base


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Eagle3LlamaForCausalLM", "0.9.0"),
        ("LlamaForCausalLM", "0.9.0"),
        (LLAMA_DRAFT, "0.10.1"),
        ("Eagle3Qwen2_5vlForCausalLM", "0.11.1"),
        ("Eagle3Qwen3vlForCausalLM", "0.12.0"),
        (LATENT_DRAFT, "0.18.0"),
        ("Eagle3MiniMaxM2ForCausalLM", "0.20.0"),
        (QWEN3_DRAFT, "0.24.0"),
        ("Qwen3ForCausalLM", "0.24.0"),
    ],
)
def test_the_release_that_knows_an_architecture(name: str, first: str) -> None:
    assert name in facts(first).architectures
    if first != "0.9.0":
        assert name not in facts(_before(first)).architectures
    assert facts("0.8.5").architectures == frozenset()
    assert "Eagle3Speculator" not in facts("0.32.0").architectures


@pytest.mark.parametrize(
    ("target", "first"),
    [
        (LLAMA, "0.8.5"),
        (QWEN3, "0.10.1"),
        ("Qwen2ForCausalLM", "0.10.2"),
        ("GptOssForCausalLM", "0.11.0"),
        ("Qwen3MoeForCausalLM", "0.11.1"),
        (DEEPSEEK_V3, "0.18.0"),
        ("Gemma4ForCausalLM", "0.20.0"),
        ("MistralForCausalLM", "0.22.0"),
        ("Qwen3NextForCausalLM", "0.24.0"),
        ("GraniteForCausalLM", "0.32.0"),
    ],
)
def test_the_release_that_captures_a_target(target: str, first: str) -> None:
    assert target in facts(first).target_architectures
    if first != "0.8.5":
        assert target not in facts(_before(first)).target_architectures


def test_targets_without_capture_stay_out() -> None:
    latest = facts("0.32.0").target_architectures
    assert not latest & {"Gemma3ForCausalLM", "Glm4MoeForCausalLM", "Qwen2MoeForCausalLM"}


@pytest.mark.parametrize(
    ("version", "default", "all_of_them"),
    [
        ("0.8.5", "v1", {"v1"}),
        ("0.16.0", "v1", {"v1"}),
        ("0.17.0", "v1", {"v1", "v2"}),
        ("0.22.0", "v1", {"v1", "v2"}),
        ("0.23.0", "v2", {"v1", "v2"}),
        ("0.32.0", "v2", {"v1", "v2"}),
    ],
)
def test_the_runner_of_a_dense_llama(version: str, default: str, all_of_them: set[str]) -> None:
    assert registry.find(f"vllm=={version}").runner == default
    existing = {r for r, v in VLLM.runners if SpecifierSet(v).contains(version)}
    assert existing == all_of_them


# From here on tiny checkpoints are written and resolved.


def weights(*without: str, **more: int) -> dict[str, NDArray[np.float32]]:
    """Return the tensors of a one-layer draft; `more` are vectors by name, `__` for a dot."""
    layer = "layers.0."
    shapes: dict[str, tuple[int, ...]] = {
        "fc.weight": (HIDDEN, 3 * HIDDEN),
        layer + "self_attn.q_proj.weight": (HIDDEN, 2 * HIDDEN),
        layer + "self_attn.k_proj.weight": (HIDDEN, 2 * HIDDEN),
        layer + "self_attn.v_proj.weight": (HIDDEN, 2 * HIDDEN),
        layer + "self_attn.o_proj.weight": (HIDDEN, HIDDEN),
        layer + "mlp.gate_proj.weight": (HIDDEN, HIDDEN),
        layer + "mlp.up_proj.weight": (HIDDEN, HIDDEN),
        layer + "mlp.down_proj.weight": (HIDDEN, HIDDEN),
        layer + "input_layernorm.weight": (HIDDEN,),
        layer + "hidden_norm.weight": (HIDDEN,),
        layer + "post_attention_layernorm.weight": (HIDDEN,),
        "norm.weight": (HIDDEN,),
        "lm_head.weight": (DRAFT_VOCAB, HIDDEN),
    }
    shapes |= {name.replace("__", "."): (size,) for name, size in more.items()}
    return {n: np.ones(s, np.float32) for n, s in shapes.items() if n not in without}


SIZES: dict[str, object] = {
    "hidden_size": HIDDEN,
    "intermediate_size": HIDDEN,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "vocab_size": VOCAB,
}
FLAT: dict[str, object] = {
    **SIZES,
    "architectures": [LLAMA_DRAFT],
    "model_type": "llama",
    "draft_vocab_size": DRAFT_VOCAB,
}
WRAPPED: dict[str, object] = {
    "architectures": ["Eagle3DraftModel"],
    "speculators_model_type": "eagle3",
    "speculators_config": {},
    "draft_vocab_size": DRAFT_VOCAB,
    "transformer_layer_config": {**SIZES, "model_type": "llama"},
}


class Written:
    """Write checkpoints into one directory and resolve them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(
        self,
        config: Mapping[str, object],
        version: str = "0.32.0",
        runner: str = "v1",
        tensors: Mapping[str, NDArray[np.float32]] | None = None,
        d2t: int | None = DRAFT_VOCAB,
    ) -> Resolution:
        (self.root / "config.json").write_text(json.dumps(config))
        stored: dict[str, NDArray[np.generic]] = {**(weights() if tensors is None else tensors)}
        if d2t is not None:
            stored["d2t"] = np.zeros(d2t, np.int64)
            stored["t2d"] = np.arange(VOCAB) < d2t
        save_file(stored, self.root / "model.safetensors")
        draft = read_draft(open_checkpoint(self.root))
        return resolve(draft, None, Engine(VLLM, version, runner))[0]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


@pytest.mark.parametrize(
    ("name", "config", "first", "before"),
    [
        ("norm_before_residual", {"norm_before_residual": True}, "0.10.1", "ignored"),
        ("norm_before_fc", {"norm_before_fc": True}, "0.18.0", "error"),
        ("norm_before_fc", {"eagle_config": {"norm_before_fc": True}}, "0.22.0", "honoured"),
        ("fc_norm", {"fc_norm": True}, "0.22.0", "error"),
        ("norm_output", {"norm_output": True}, "0.22.0", "ignored"),
        ("attention_bias", {"attention_bias": True}, "0.16.0", "error"),
    ],
)
def test_the_release_that_honours_a_switch(
    written: Written, name: str, config: dict[str, object], first: str, before: str
) -> None:
    late = written({**FLAT, **config}, first).switches[name]
    early = written({**FLAT, **config}, _before(first)).switches[name]
    assert (late.value, late.effect) == (True, "honoured")
    assert (early.value, early.effect) == (False, before)


def test_a_nested_false_wins_over_norm_before_fc_at_top_level(written: Written) -> None:
    config = {**FLAT, "norm_before_fc": True, "eagle_config": {"norm_before_fc": False}}
    assert written(config, "0.21.0").switches["norm_before_fc"].value
    assert not written(config, "0.22.0").switches["norm_before_fc"].value


@pytest.mark.parametrize("key", ["use_aux_norm", "qkv_bias", "eagle_config"])
def test_keys_that_no_release_reads_as_fc_norm(written: Written, key: str) -> None:
    config = {**FLAT, key: {"fc_norm": True} if key == "eagle_config" else True}
    assert not written(config).switches["fc_norm"].value


def test_switched_off_aux_states_by_runner(written: Written) -> None:
    config = {**FLAT, "eagle_config": {"use_aux_hidden_state": False}}
    honoured = written(config, "0.32.0", "v1").switches["use_aux_hidden_state"]
    fails = written(config, "0.32.0", "v2").switches["use_aux_hidden_state"]
    ignored = written(config, "0.11.2", "v1").switches["use_aux_hidden_state"]
    assert (honoured.value, honoured.effect) == (False, "honoured")
    assert (fails.value, fails.effect) == (True, "error")
    assert (ignored.value, ignored.effect) == (True, "ignored")
    at_top = written({**FLAT, "use_aux_hidden_state": False})
    assert at_top.switches["use_aux_hidden_state"].value


@pytest.mark.parametrize(
    ("config", "version", "value"),
    [(FLAT, "0.32.0", False), (WRAPPED, "0.32.0", True), (WRAPPED, "0.10.1", True)],
)
def test_the_default_of_norm_before_residual_depends_on_the_format(
    written: Written, config: dict[str, object], version: str, value: bool
) -> None:
    assert written(config, version).switches["norm_before_residual"].value is value
    stated = written({**config, "norm_before_residual": not value}, version)
    assert stated.switches["norm_before_residual"].value is not value


@pytest.mark.parametrize(
    ("name", "last_lost", "first", "effect"),
    [
        ("norm_before_fc", "0.18.0", "0.19.0", "ignored"),
        ("fc_norm", "0.24.0", "0.25.0", "error"),
        ("norm_output", "0.24.0", "0.25.0", "ignored"),
    ],
)
def test_switches_that_the_speculators_format_lost(
    written: Written, name: str, last_lost: str, first: str, effect: str
) -> None:
    config = {**WRAPPED, name: True}
    lost, kept = written(config, last_lost).switches[name], written(config, first).switches[name]
    assert (lost.value, lost.effect) == (False, effect)
    assert kept.value
    inside = {**WRAPPED, "eagle_config": {name: True}}
    assert not written(inside).switches[name].value


def test_the_speculators_format_keeps_its_own_places(written: Written) -> None:
    ids = [1, 2, 3, 4]
    count = {**SIZES, "model_type": "llama", "num_aux_hidden_states": 4}
    assert written({**WRAPPED, TOP: ids}).width.states == 3
    assert written({**WRAPPED, "num_aux_hidden_states": 4}).width.states == 3
    assert written({**WRAPPED, "transformer_layer_config": count}).width.states == 4
    assert written({**WRAPPED, "eagle_config": {TOP: ids}}).captured.boundaries == REFERENCE
    assert written({**WRAPPED, TOP: ids}).captured.boundaries == (1, 2, 3, 4)
    assert written({**WRAPPED, TOP: ids}, "0.11.0").captured.boundaries == REFERENCE
    assert written(WRAPPED).semantics.architectures == frozenset()


@pytest.mark.parametrize(
    ("config", "version", "states"),
    [
        ({"num_aux_hidden_states": 4}, "0.21.0", 3),
        ({"num_aux_hidden_states": 4}, "0.22.0", 4),
        (top(1, 2, 3, 4), "0.32.0", 3),
        (nested(1, 2, 3, 4), "0.21.0", 3),
        (nested(1, 2, 3, 4), "0.32.0", 4),
        ({"architectures": [QWEN3_DRAFT], **top(1, 2, 3, 4)}, "0.32.0", 4),
        ({"architectures": [QWEN3_DRAFT], "num_aux_layers": 5, **top(1, 2)}, "0.32.0", 5),
        ({"architectures": [LATENT_DRAFT], **top(1, 2, 3, 4)}, "0.32.0", 3),
        ({"architectures": [LATENT_DRAFT], **nested(1, 2, 3, 4)}, "0.21.0", 3),
        ({"architectures": [LATENT_DRAFT], **nested(1, 2, 3, 4)}, "0.22.0", 4),
    ],
)
@pytest.mark.parametrize("runner", ["v1", "v2"])
def test_what_decides_the_width_of_fc(
    written: Written, config: dict[str, object], version: str, states: int, runner: str
) -> None:
    assert written({**FLAT, **config}, version, runner).width.states == states


def test_a_healthy_checkpoint_loads_whole(written: Written) -> None:
    for version in ("0.8.5", "0.9.1", "0.11.1", "0.25.0", "0.32.0"):
        tensors = written(FLAT, version).tensors
        assert (tensors.unknown, tensors.missing) == ((), ())


@pytest.mark.parametrize("layer", ["midlayer.", "layers.0."])
def test_both_names_of_the_layer_and_no_prefix(written: Written, layer: str) -> None:
    plain = {n.replace("layers.0.", layer): t for n, t in weights().items()}
    prefixed = {f"model.{n}": t for n, t in plain.items()}
    assert written(FLAT, tensors=plain).tensors.unknown == ()
    refused = written(FLAT, tensors=prefixed)
    assert sorted(refused.tensors.unknown) == sorted(prefixed)
    assert refused.semantics.unknown == "error"


@pytest.mark.parametrize(
    ("config", "version", "bias", "known"),
    [
        ({"attention_bias": True}, "0.15.0", "q_proj", False),
        ({"attention_bias": True}, "0.16.0", "q_proj", True),
        ({"attention_bias": True}, "0.8.5", "o_proj", True),
        ({"bias": True}, "0.32.0", "o_proj", True),
        ({"bias": True}, "0.32.0", "q_proj", False),
        ({}, "0.32.0", "q_proj", False),
        ({"attention_bias": True, "architectures": [QWEN3_DRAFT]}, "0.32.0", "q_proj", True),
        ({"attention_bias": True, "architectures": [QWEN3_DRAFT]}, "0.32.0", "o_proj", False),
    ],
)
def test_which_biases_are_built(
    written: Written, config: dict[str, object], version: str, bias: str, known: bool
) -> None:
    name = f"layers.0.self_attn.{bias}.bias"
    tensors = weights(**{name: HIDDEN})
    assert (name in written({**FLAT, **config}, version, tensors=tensors).tensors.loaded) is known


def test_fc_has_no_bias(written: Written) -> None:
    tensors = weights(fc__bias=HIDDEN)
    assert written({**FLAT, "bias": True}, tensors=tensors).tensors.unknown == ("fc.bias",)


def test_only_the_qwen3_class_normalises_queries_and_keys(written: Written) -> None:
    name = "layers.0.self_attn.q_norm.weight"
    tensors = weights(**{name: HIDDEN // 2})
    inner = {**SIZES, "model_type": "qwen3"}
    wrapped = {**WRAPPED, "transformer_layer_config": inner}
    assert name in written({**FLAT, "architectures": [QWEN3_DRAFT]}, tensors=tensors).tensors.loaded
    assert name in written(wrapped, tensors=tensors).tensors.loaded
    assert name in written(wrapped, "0.23.0", tensors=tensors).tensors.unknown
    assert name in written(FLAT, tensors=tensors).tensors.unknown


def test_the_embedding_of_0_9_0_has_no_place(written: Written) -> None:
    tensors = {**weights(), "embed_tokens.weight": np.ones((VOCAB, HIDDEN), np.float32)}
    assert written(FLAT, "0.9.0.1", tensors=tensors).tensors.unknown == ("embed_tokens.weight",)
    assert written(FLAT, "0.9.1", tensors=tensors).tensors.unknown == ()


@pytest.mark.parametrize(
    ("version", "kind"),
    [("0.8.5", "stored"), ("0.9.0.1", "none"), ("0.9.1", "stored"), ("0.32.0", "stored")],
)
def test_0_9_0_forgets_every_map(written: Written, version: str, kind: str) -> None:
    assert written(FLAT, version).token_map.kind == kind


def test_without_a_map_draft_ids_are_target_ids(written: Written) -> None:
    assert written(FLAT, d2t=None).token_map.kind == "identity"


def test_a_map_for_equal_vocabularies_is_refused_from_0_30_on(written: Written) -> None:
    config = {**FLAT, "draft_vocab_size": VOCAB}
    tensors = {**weights(), "lm_head.weight": np.ones((VOCAB, HIDDEN), np.float32)}
    assert written(config, "0.29.0", tensors=tensors, d2t=VOCAB).token_map.kind == "stored"
    assert written(config, "0.30.0", tensors=tensors, d2t=VOCAB).token_map.kind == "error"
    assert written(config, "0.30.0", tensors=tensors, d2t=None).token_map.kind == "none"


def test_the_latent_draft_class(written: Written) -> None:
    config = {**FLAT, "architectures": [LATENT_DRAFT], "norm_before_fc": True, "fc_norm": True}
    effects = {
        version: tuple(
            written(config, version).switches[name].effect for name in ("norm_before_fc", "fc_norm")
        )
        for version in ("0.22.0", "0.23.0", "0.25.0")
    }
    assert effects == {
        "0.22.0": ("ignored", "ignored"),
        "0.23.0": ("ignored", "honoured"),
        "0.25.0": ("error", "honoured"),
    }
    assert written(config, "0.24.0").semantics.unknown == "dropped"
    assert written(config, "0.25.0").semantics.unknown == "error"
    assert written(config, "0.27.0").semantics.rope_theta == "ignored"
    assert written(config, "0.28.0").semantics.rope_theta == "honoured"
    assert written(config).switches["use_aux_hidden_state"].effect == "error"


@pytest.mark.parametrize("entry", VLLM.facts, ids=map(str, range(len(VLLM.facts))))
def test_every_fact_is_well_formed(entry: Facts) -> None:
    assert set(entry.sets) <= FIELDS
    assert ":" in entry.source or ".py" in entry.source
    assert entry.runner in ("", "v1", "v2")
    assert entry.wrapped in ("", "any", "qwen3")
    SpecifierSet(entry.versions)


def test_releases_are_in_order_and_inside_the_profile() -> None:
    releases = [Version(release) for release, _ in SUPPORTED]
    assert all(one < other for one, other in pairwise(releases))
    assert all(SpecifierSet(VLLM.versions).contains(v) for v in releases)
    assert SpecifierSet(VLLM.versions).contains(VLLM.latest)


def test_an_unknown_target_gives_one_reading_more_for_deepseek() -> None:
    found = readings(Engine(VLLM, "0.32.0", "v1"), None, LLAMA_DRAFT)
    assert [reading.semantics.aux_lowest for reading in found] == [0, 1]
