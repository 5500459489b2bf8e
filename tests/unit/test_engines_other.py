"""What the engines other than SGLang and vLLM do with one checkpoint after another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from pytest_eagle_contract.boundaries import at
from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.checkpoint.model import Checkpoint, TensorInfo
from pytest_eagle_contract.engines.llama_cpp import LLAMA_CPP
from pytest_eagle_contract.engines.lmdeploy import LMDEPLOY
from pytest_eagle_contract.engines.model import Engine, EngineProfile, Semantics, readings
from pytest_eagle_contract.engines.openvino import OPENVINO
from pytest_eagle_contract.engines.resolution import Captured, Resolution
from pytest_eagle_contract.engines.resolve import captured_with, resolve
from pytest_eagle_contract.engines.safeai import SAFEAI
from pytest_eagle_contract.engines.tensorrt_llm import TENSORRT_LLM
from pytest_eagle_contract.engines.tokenspeed import BASE, K3, NO_CAPTURE, OWN_LOOP, TOKENSPEED
from pytest_eagle_contract.pair import read_draft

ALL = (TENSORRT_LLM, LLAMA_CPP, TOKENSPEED, LMDEPLOY, OPENVINO, SAFEAI)
IGNORE_IDS = (TENSORRT_LLM, LLAMA_CPP, LMDEPLOY, OPENVINO, SAFEAI)
KEY = "eagle_aux_hidden_state_layer_ids"
LLAMA = "LlamaForCausalLM"
DRAFT = "LlamaForCausalLMEagle3"
LATENT = "Eagle3DeepseekV2ForCausalLM"
SWITCHES = {
    "norm_before_residual",
    "norm_before_fc",
    "fc_norm",
    "norm_output",
    "use_aux_hidden_state",
    "attention_bias",
    "bias",
}
LAYER = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "hidden_norm",
    "input_layernorm",
    "post_attention_layernorm",
)

nothing: dict[str, Any] = {}


def ids(nested: list[int] | None = None, top: list[int] | None = None) -> dict[str, Any]:
    data: dict[str, Any] = {} if nested is None else {"eagle_config": {KEY: nested}}
    return data if top is None else data | {KEY: top}


def semantics(profile: EngineProfile, target: str = LLAMA, draft: str = DRAFT) -> Semantics:
    (reading,) = readings(Engine(profile, profile.latest), target, draft)
    return reading.semantics


def captured(
    profile: EngineProfile, data: dict[str, Any], target: str = LLAMA, layers: int | None = 32
) -> Captured:
    return captured_with(Config(Path("config.json"), data), semantics(profile, target), layers)


class Stored:
    """Stand in for weights: nothing here reads a value."""

    def infos(self) -> Any:
        raise NotImplementedError

    def read(self, name: str, start: int | None = None, stop: int | None = None) -> Any:
        raise NotImplementedError


def resolved(profile: EngineProfile, names: list[str], **config: Any) -> Resolution:
    sizes: dict[str, Any] = {
        "architectures": [DRAFT],
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "vocab_size": 512,
        "draft_vocab_size": 128,
    }
    root = Path("draft")
    infos = {n: TensorInfo(n, "BF16", (64, 64), root / "model.safetensors") for n in names}
    data = {k: v for k, v in (sizes | config).items() if v is not ...}
    checkpoint = Checkpoint(
        root, root, "safetensors", Config(root / "config.json", data), infos, (), Stored()
    )
    (reading, *_) = resolve(read_draft(checkpoint), None, Engine(profile, profile.latest))
    return reading


def tensors(layer: str = "midlayer.", prefix: str = "") -> list[str]:
    names = [f"{layer}{part}.weight" for part in LAYER] + ["fc.weight", "norm.weight"]
    return [prefix + name for name in names] + ["lm_head.weight"]


# The columns of the table "what a default-trained checkpoint gets", 32 layers, wanted {2, 16, 29}.

CHECKPOINTS = {
    "no ids": nothing,
    "nested outputs": ids(nested=[1, 15, 28]),
    "nested boundaries": ids(nested=[2, 16, 29]),
    "top-level boundaries": ids(top=[2, 16, 29]),
    "other nested outputs": ids(nested=[4, 15, 24]),
    "other top-level boundaries": ids(top=[4, 16, 25]),
}


@pytest.mark.parametrize("data", CHECKPOINTS.values(), ids=CHECKPOINTS)
@pytest.mark.parametrize("profile", IGNORE_IDS, ids=lambda p: p.name)
def test_an_engine_that_reads_no_ids_captures_its_default(
    profile: EngineProfile, data: dict[str, Any]
) -> None:
    expected = (3, 17, 30) if profile is OPENVINO else (2, 16, 29)
    argument = semantics(profile).aux_argument
    where = f"the default of {argument or 'the engine'}"
    assert captured(profile, data) == Captured(where, expected, argument=argument)


@pytest.mark.parametrize("family", [sorted(BASE), sorted(OWN_LOOP)], ids=["base", "own loop"])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no ids", (2, 16, 29)),
        ("nested outputs", (2, 16, 29)),
        ("nested boundaries", (3, 17, 30)),
        ("top-level boundaries", (3, 17, 30)),
        ("other nested outputs", (5, 16, 25)),
        ("other top-level boundaries", (5, 17, 26)),
    ],
)
def test_tokenspeed_counts_outputs(name: str, expected: tuple[int, ...], family: list[str]) -> None:
    for target in family:
        assert captured(TOKENSPEED, CHECKPOINTS[name], target).boundaries == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("no ids", (2, 16, 29)),
        ("nested outputs", (1, 15, 28)),
        ("nested boundaries", (2, 16, 29)),
        ("top-level boundaries", (2, 16, 29)),
        ("other nested outputs", (4, 15, 24)),
        ("other top-level boundaries", (4, 16, 25)),
    ],
)
def test_kimi_k3_in_tokenspeed_takes_ids_as_they_are(name: str, expected: tuple[int, ...]) -> None:
    (target,) = K3
    assert captured(TOKENSPEED, CHECKPOINTS[name], target).boundaries == expected


@pytest.mark.parametrize("data", CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_tokenspeed_captures_nothing_of_qwen(data: dict[str, Any]) -> None:
    for target in NO_CAPTURE:
        found = captured(TOKENSPEED, data, target)
        assert found.boundaries is None
        assert "fc is skipped silently" in found.error


# TokenSpeed's edges.


def test_tokenspeed_nested_config_hides_the_top_level() -> None:
    both = ids(nested=[4, 15, 24], top=[9, 10, 11])
    assert captured(TOKENSPEED, both).where == f"eagle_config.{KEY}"
    empty = ids(top=[4, 16, 25]) | {"eagle_config": {}}
    assert captured(TOKENSPEED, empty).boundaries == (2, 16, 29)
    null = ids(top=[4, 16, 25]) | {"eagle_config": None}
    assert captured(TOKENSPEED, null).boundaries == (5, 17, 26)


@pytest.mark.parametrize(
    ("target", "last", "boundaries", "lost"),
    [
        ("GptOssForCausalLM", 36, (2, 18, 36), ()),
        ("GptOssForCausalLM", 35, (2, 18), (36,)),
        ("DeepseekV3ForCausalLM", 36, (2, 18), (37,)),
        ("DeepseekV3ForCausalLM", 35, (2, 18), (36,)),
    ],
)
def test_tokenspeed_at_the_last_layer(
    target: str, last: int, boundaries: tuple[int, ...], lost: tuple[int, ...]
) -> None:
    found = captured(TOKENSPEED, ids(nested=[1, 17, last]), target, layers=36)
    assert (found.boundaries, found.lost) == (boundaries, lost)


def test_tokenspeed_loses_the_last_output_beside_the_final_state() -> None:
    found = captured(TOKENSPEED, ids(nested=[1, 31, 32]))
    assert (found.boundaries, found.lost) == ((2, 32), (32,))


def test_tokenspeed_without_a_layer_count_shifts_every_id() -> None:
    assert captured(TOKENSPEED, ids(nested=[1, 15, 28]), layers=None).boundaries == (2, 16, 29)


def test_tokenspeed_sorts_and_collapses() -> None:
    assert captured(TOKENSPEED, ids(nested=[28, 1, 1])).boundaries == (2, 29)


@pytest.mark.parametrize("listed", [[3, 2, 1], [1, 1, 2], [0, 1, 2], [1, 2, 33], [-1, 2, 3]])
def test_kimi_k3_refuses_ids_out_of_order_or_range(listed: list[int]) -> None:
    (target,) = K3
    found = captured(TOKENSPEED, ids(nested=listed), target)
    assert found.error
    assert found.boundaries is None


def test_kimi_k3_reaches_the_final_state() -> None:
    (target,) = K3
    assert captured(TOKENSPEED, ids(nested=[1, 31, 32]), target).boundaries == (1, 31, 32)


def test_tokenspeed_sizes_fc_by_top_level_ids_only() -> None:
    four = [2, 8, 16, 29]
    assert resolved(TOKENSPEED, tensors(), **ids(top=four)).width.states == 4
    assert resolved(TOKENSPEED, tensors(), **ids(nested=four)).width.states == 3
    latent = ids(nested=four) | {"architectures": [LATENT]}
    assert resolved(TOKENSPEED, tensors(), **latent).width.states == 4


def test_tokenspeed_depends_on_an_unknown_target() -> None:
    found = readings(Engine(TOKENSPEED, TOKENSPEED.latest), None, DRAFT)
    assert [len(found), found[0].targets] == [4, "most targets"]


def test_tokenspeed_latent_draft_ignores_norm_before_fc() -> None:
    assert semantics(TOKENSPEED).switches["norm_before_fc"].places == ("norm_before_fc",)
    assert semantics(TOKENSPEED, draft=LATENT).switches["norm_before_fc"].effect == "ignored"


# Small targets.


@pytest.mark.parametrize(
    ("profile", "layers", "expected"),
    [
        (TENSORRT_LLM, 6, (2, 3)),
        (LLAMA_CPP, 6, (2, 3, 3)),
        (LLAMA_CPP, 4, (2, 2, 1)),
        (LMDEPLOY, 6, (2, 3)),
        (SAFEAI, 4, (1, 2)),
        (OPENVINO, 10, (3, 6, 8)),
    ],
    ids=lambda value: value.name if isinstance(value, EngineProfile) else None,
)
def test_defaults_of_small_targets(
    profile: EngineProfile, layers: int, expected: tuple[int, ...]
) -> None:
    assert captured(profile, nothing, layers=layers).boundaries == expected


@pytest.mark.parametrize(
    ("profile", "layers"),
    [(TENSORRT_LLM, 5), (OPENVINO, 9), (LMDEPLOY, 3)],
    ids=lambda value: value.name if isinstance(value, EngineProfile) else None,
)
def test_targets_that_are_too_small(profile: EngineProfile, layers: int) -> None:
    assert captured(profile, nothing, layers=layers).error


@pytest.mark.parametrize("profile", ALL, ids=lambda p: p.name)
def test_the_default_is_a_formula_while_the_layer_count_is_unknown(profile: EngineProfile) -> None:
    found = captured(profile, nothing, layers=None).boundaries
    assert found == semantics(profile).aux_default
    assert at(found, 61) == ((3, 31, 59) if profile is OPENVINO else (2, 30, 58))


# Maps, names and switches.


@pytest.mark.parametrize(
    ("profile", "kind"),
    [
        (TENSORRT_LLM, "error"),
        (LLAMA_CPP, "error"),
        (TOKENSPEED, "identity"),
        (LMDEPLOY, "zeros"),
        (OPENVINO, "identity"),
        (SAFEAI, "identity"),
    ],
    ids=lambda value: value.name if isinstance(value, EngineProfile) else value,
)
def test_without_a_map(profile: EngineProfile, kind: str) -> None:
    assert resolved(profile, tensors()).token_map.kind == kind
    equal = resolved(profile, tensors(), draft_vocab_size=512).token_map.kind
    assert equal == ("zeros" if profile is LMDEPLOY else "none")


@pytest.mark.parametrize(
    ("profile", "absent", "null"),
    [
        (TENSORRT_LLM, "none", "none"),
        (LLAMA_CPP, "unsized", "none"),
        (TOKENSPEED, "none", "none"),
        (LMDEPLOY, "unsized", "unsized"),
        (OPENVINO, "unsized", "unsized"),
        (SAFEAI, "unsized", "unsized"),
    ],
    ids=lambda value: value.name if isinstance(value, EngineProfile) else value,
)
def test_without_a_draft_vocabulary(profile: EngineProfile, absent: str, null: str) -> None:
    assert resolved(profile, tensors(), draft_vocab_size=...).token_map.kind == absent
    assert resolved(profile, tensors(), draft_vocab_size=None).token_map.kind == null


@pytest.mark.parametrize(
    ("profile", "accepted"),
    [
        (TENSORRT_LLM, {"midlayer", "layers"}),
        (LLAMA_CPP, {"midlayer", "layers", "model layers"}),
        (TOKENSPEED, {"midlayer", "layers", "model midlayer"}),
        (LMDEPLOY, {"midlayer"}),
        (OPENVINO, {"midlayer", "model midlayer"}),
        (SAFEAI, {"midlayer"}),
    ],
    ids=lambda value: value.name if isinstance(value, EngineProfile) else "",
)
def test_names_of_the_first_layer(profile: EngineProfile, accepted: set[str]) -> None:
    spellings = {
        "midlayer": "midlayer.",
        "layers": "layers.0.",
        "model midlayer": "model.midlayer.",
        "model layers": "model.layers.0.",
    }
    unknown = {s: resolved(profile, tensors(spellings[s])).tensors.unknown for s in spellings}
    assert {spelling for spelling, lost in unknown.items() if not lost} == accepted


def test_llama_cpp_needs_bare_names_beside_the_layer() -> None:
    found = resolved(LLAMA_CPP, tensors("layers.0.", prefix="model.")).tensors
    assert found.unknown == ("model.fc.weight",)


@pytest.mark.parametrize("profile", ALL, ids=lambda p: p.name)
def test_every_switch_is_declared(profile: EngineProfile) -> None:
    switches = semantics(profile).switches
    assert set(switches) >= SWITCHES
    for switch in switches.values():
        assert bool(switch.places) == (switch.effect == "honoured")
    assert switches["use_aux_hidden_state"].default


HONOURED = {
    TENSORRT_LLM.name: {"norm_before_fc", "fc_norm", "norm_output", "attention_bias", "bias"},
    LLAMA_CPP.name: {"norm_before_residual"},
    TOKENSPEED.name: {"norm_before_fc", "fc_norm", "norm_output", "attention_bias"},
    LMDEPLOY.name: set[str](),
    OPENVINO.name: set[str](),
    SAFEAI.name: set[str](),
}


@pytest.mark.parametrize("profile", ALL, ids=lambda p: p.name)
def test_honoured_switches(profile: EngineProfile) -> None:
    switches = semantics(profile).switches
    assert {n for n in SWITCHES if switches[n].effect == "honoured"} == HONOURED[profile.name]


def test_norm_before_fc_is_nested_in_tensorrt_and_top_level_in_tokenspeed() -> None:
    nested, top = {"eagle_config": {"norm_before_fc": True}}, {"norm_before_fc": True}
    assert resolved(TENSORRT_LLM, tensors(), **nested).switches["norm_before_fc"].value
    assert not resolved(TENSORRT_LLM, tensors(), **top).switches["norm_before_fc"].value
    assert resolved(TOKENSPEED, tensors(), **top).switches["norm_before_fc"].value
    assert not resolved(TOKENSPEED, tensors(), **nested).switches["norm_before_fc"].value


def test_only_the_output_bias_has_a_place_in_lmdeploy() -> None:
    biases = [f"midlayer.self_attn.{p}_proj.bias" for p in "qkvo"]
    found = resolved(LMDEPLOY, tensors() + biases, attention_bias=True).tensors
    assert found.unknown == tuple(biases[:3])


def test_tensorrt_has_no_fc_bias_unless_the_key_says_so() -> None:
    names = [*tensors(), "fc.bias"]
    assert resolved(TENSORRT_LLM, names).tensors.unknown == ("fc.bias",)
    assert not resolved(TENSORRT_LLM, names, bias=True).tensors.unknown


# Structure.


def test_structure() -> None:
    assert semantics(LMDEPLOY).architectures == {LLAMA}
    assert semantics(LMDEPLOY).target_architectures == {LLAMA}
    assert semantics(SAFEAI).head_dim == "hidden_size / heads"
    assert semantics(SAFEAI).rope_types == {"linear", "dynamic"}
    assert semantics(SAFEAI).rope_tables == ("rope_scaling",)
    assert not semantics(SAFEAI).rope_base_scaled
    assert "sharded safetensors" not in semantics(SAFEAI).weights
    assert semantics(LLAMA_CPP).speculators_format
    assert semantics(TENSORRT_LLM).later_layer_norm == "hidden_norm"
    assert semantics(TENSORRT_LLM).tie == "error"


@pytest.mark.parametrize("profile", ALL, ids=lambda p: p.name)
def test_every_fact_has_a_source(profile: EngineProfile) -> None:
    for facts in profile.facts:
        assert ":" in facts.source or "ForCausalLM" in facts.source
    families = [facts.targets for facts in profile.facts if facts.targets]
    assert sum(map(len, set(families))) == len(frozenset().union(*families))
    Version(profile.latest)
