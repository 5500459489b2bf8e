"""SGLang's profile against what its source does, release by release."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pytest_eagle_contract.boundaries import REFERENCE, DefaultBoundaries
from pytest_eagle_contract.checkpoint import Checkpoint
from pytest_eagle_contract.checkpoint.config import Config
from pytest_eagle_contract.checkpoint.keys import NESTED_IDS
from pytest_eagle_contract.checkpoint.model import TensorInfo
from pytest_eagle_contract.engines.model import Effect, Engine, Facts, Semantics, Switch, readings
from pytest_eagle_contract.engines.resolution import Captured
from pytest_eagle_contract.engines.resolve import captured_with, engine_name, resolve
from pytest_eagle_contract.engines.sglang import LATENT_DRAFT, LLAMA_DRAFT, SGLANG
from pytest_eagle_contract.engines.sglang_targets import FAMILIES, SUPPORTED
from pytest_eagle_contract.pair import Draft, read_draft

LAYERS = 32
DEFAULT = (2, 16, 29)
LLAMA, QWEN3, MOE = "LlamaForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM"
DEEPSEEK, KIMI = "DeepseekV3ForCausalLM", "KimiK25ForConditionalGeneration"
GLM5, GLM_LITE = "GlmMoeDsaForCausalLM", "Glm4MoeLiteForCausalLM"
GPT_OSS, GEMMA = "GptOssForCausalLM", "Gemma4ForConditionalGeneration"
M3, M3_VL = "MiniMaxM3SparseForCausalLM", "MiniMaxM3SparseForConditionalGeneration"
LLAMA4, APERTUS, M2 = "Llama4ForCausalLM", "ApertusForCausalLM", "MiniMaxM2ForCausalLM"
QWEN3_5, GLM4V = "Qwen3_5ForConditionalGeneration", "Glm4vForConditionalGeneration"


def facts(version: str, target: str = LLAMA, draft: str = LLAMA_DRAFT) -> Semantics:
    (reading,) = readings(Engine(SGLANG, version), target, draft)
    return reading.semantics


def nested(*ids: int) -> dict[str, object]:
    return {"eagle_config": {"eagle_aux_hidden_state_layer_ids": list(ids)}}


def top(*ids: int) -> dict[str, object]:
    return {"eagle_aux_hidden_state_layer_ids": list(ids)}


def captured(
    config: Mapping[str, object], version: str, target: str = LLAMA, layers: int | None = LAYERS
) -> Captured:
    return captured_with(Config(Path("config.json"), config), facts(version, target), layers)


# The table "What a default-trained checkpoint gets": 0.5.12.post1, then 0.5.23 for Llama, DeepSeek.
COLUMNS = (
    ("0.5.12.post1", LLAMA),
    ("0.5.12.post1", DEEPSEEK),
    ("0.5.23", LLAMA),
    ("0.5.23", DEEPSEEK),
)
SHIFTED, MOVED = (3, 17, 30), (5, 16, 25)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param({}, (DEFAULT,) * 4, id="no ids"),
        pytest.param(nested(1, 15, 28), (DEFAULT,) * 4, id="default outputs"),
        pytest.param(nested(2, 16, 29), (SHIFTED, SHIFTED, SHIFTED, DEFAULT), id="boundaries"),
        pytest.param(top(2, 16, 29), (DEFAULT,) * 4, id="top level"),
        pytest.param(nested(4, 15, 24), (MOVED, MOVED, MOVED, (4, 15, 24)), id="other outputs"),
        pytest.param(top(4, 16, 25), (DEFAULT,) * 4, id="other top level"),
    ],
)
@pytest.mark.parametrize("column", range(len(COLUMNS)))
def test_the_table_of_default_trained_checkpoints(
    config: dict[str, object], expected: tuple[tuple[int, ...], ...], column: int
) -> None:
    assert captured(config, *COLUMNS[column]).boundaries == expected[column]


@pytest.mark.parametrize(
    ("version", "target", "ids", "expected"),
    [
        # Before 0.4.9 no id is read.
        ("0.4.4.post2", LLAMA, (4, 15, 24), DEFAULT),
        ("0.4.8.post1", LLAMA, (4, 15, 24), DEFAULT),
        ("0.4.9", LLAMA, (4, 15, 24), MOVED),
        ("0.4.9.post6", QWEN3, (4, 15, 24), MOVED),
        # Always captured in layer order, a repeated id once.
        ("0.5.23", LLAMA, (24, 4, 15), MOVED),
        ("0.5.23", LLAMA, (4, 4, 24), (5, 25)),
        # DeepSeek's rule by the first id as listed, since 0.5.13.
        ("0.5.12.post1", KIMI, (2, 16, 29), SHIFTED),
        ("0.5.13", KIMI, (2, 16, 29), DEFAULT),
        ("0.5.13", GLM5, (1, 15, 28), DEFAULT),
        ("0.5.13", GLM_LITE, (2, 16, 29), DEFAULT),
        ("0.5.12.post1", GLM_LITE, (2, 16, 29), SHIFTED),
        ("0.5.23", DEEPSEEK, (28, 15, 1), (1, 15, 28)),
        # gpt-oss by the largest id, since 0.5.17.
        ("0.5.17", GPT_OSS, (1, 17, 32), (1, 17, 32)),
        ("0.5.17", GPT_OSS, (1, 15, 28), DEFAULT),
        ("0.5.23", GPT_OSS, (1, 15, 31), (2, 16, 32)),
        # Everything else adds one.
        ("0.5.12", GEMMA, (1, 15, 28), DEFAULT),
        ("0.5.18", M3, (2, 16, 29), SHIFTED),
        ("0.5.18", M3_VL, (2, 16, 29), SHIFTED),
        ("0.5.23", "Glm4MoeForCausalLM", (2, 16, 29), SHIFTED),
        ("0.5.23", "NoSuchTargetForCausalLM", (2, 16, 29), SHIFTED),
    ],
)
def test_ids_become_boundaries(
    version: str, target: str, ids: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    found = captured(nested(*ids), version, target)
    assert (found.boundaries, found.lost, found.error) == (expected, (), "")


LAST = (1, 15, LAYERS - 1)


@pytest.mark.parametrize(
    ("version", "target", "outcome"),
    [
        ("0.4.9", LLAMA, "lost"),
        ("0.5.23", LLAMA, "lost"),
        ("0.5.23", QWEN3, "lost"),
        ("0.5.4.post1", MOE, "lost"),
        ("0.5.4.post2", MOE, "error"),
        ("0.5.9", "Qwen3NextForCausalLM", "error"),
        ("0.5.22", QWEN3_5, "error"),
        ("0.5.16", DEEPSEEK, "lost"),
        ("0.5.17", DEEPSEEK, "error"),
        ("0.5.17", KIMI, "error"),
        ("0.5.23", GLM_LITE, "lost"),
        ("0.5.16", GPT_OSS, "lost"),
        ("0.5.17", GPT_OSS, "captured"),
        ("0.5.12", GEMMA, "captured"),
        ("0.5.22", M3, "lost"),
        ("0.5.23", M3, "captured"),
        ("0.5.22", M3_VL, "lost"),
        ("0.5.23", M3_VL, "captured"),
    ],
)
def test_the_final_state(version: str, target: str, outcome: str) -> None:
    found = captured(nested(*LAST), version, target)
    assert bool(found.error) is (outcome == "error")
    assert found.lost == (() if outcome == "captured" else (LAYERS,))
    if outcome == "captured":
        assert found.boundaries == (2, 16, LAYERS)
    elif outcome == "lost":
        assert found.boundaries == (2, 16)


def test_gpt_oss_reads_ids_verbatim_only_when_they_reach_the_last_layer() -> None:
    assert captured(nested(1, 17, 32), "0.5.16", GPT_OSS).lost == (33,)
    assert captured(nested(1, 17, 32), "0.5.17", GPT_OSS, layers=36).boundaries == (2, 18, 33)
    assert captured(nested(1, 17, 32), "0.5.17", GPT_OSS, layers=None).boundaries is None


@pytest.mark.parametrize(
    ("target", "last_failing", "first_working"),
    [
        (LLAMA, "0.5.21", "0.5.22"),
        ("ExaoneMoEForCausalLM", "0.5.21", "0.5.22"),
        (LLAMA4, "0.5.20", "0.5.21"),
        ("Glm4MoeForCausalLM", "0.5.20", "0.5.21"),
        ("LongcatFlashForCausalLM", "0.5.20", "0.5.21"),
        (GPT_OSS, "0.5.16", "0.5.17"),
        (M2, "0.5.10.post1", "0.5.11"),
        (APERTUS, "0.5.14", "0.5.22"),
        (APERTUS, "0.5.21", "0.5.13.post1"),
        (QWEN3, None, "0.4.9"),
        (MOE, None, "0.5.4.post2"),
        (GEMMA, None, "0.5.12"),
        ("BailingMoeV2ForCausalLM", None, "0.5.9"),
        (M3, None, "0.5.18"),
        (M3_VL, None, "0.5.18"),
    ],
)
def test_the_embedding_state(target: str, last_failing: str | None, first_working: str) -> None:
    assert captured(nested(-1, 15, 28), first_working, target).boundaries == (0, 16, 29)
    if last_failing is not None:
        assert captured(nested(-1, 15, 28), last_failing, target).error


def test_deepseek_takes_the_embedding_state_as_id_0() -> None:
    assert captured(nested(0, 16, 29), "0.5.13.post1", DEEPSEEK).error
    assert captured(nested(0, 16, 29), "0.5.14", DEEPSEEK).boundaries == (0, 16, 29)
    assert captured(nested(0, 16, 29), "0.5.20", GLM_LITE).error
    assert captured(nested(0, 16, 29), "0.5.21", GLM_LITE).boundaries == (0, 16, 29)
    # -1 is verbatim too, and the packer then misses one state.
    assert captured(nested(-1, 16, 29), "0.5.16", DEEPSEEK).lost == (-1,)
    assert captured(nested(-1, 16, 29), "0.5.17", DEEPSEEK).error


def test_only_the_multimodal_minimax_m3_moves_its_default() -> None:
    assert captured({}, "0.5.18", M3_VL).boundaries == (3, 17, 30)
    assert captured({}, "0.5.18", M3).boundaries == DEFAULT
    assert captured({}, "0.5.23", M3_VL, layers=None).boundaries == DefaultBoundaries(3, 1, -2)
    assert captured({}, "0.5.23", LLAMA, layers=None).boundaries == REFERENCE


@pytest.mark.parametrize("config", [{"eagle_config": None}, {"eagle_config": 3}, {}])
def test_an_unreadable_place_means_the_default(config: dict[str, object]) -> None:
    assert captured(config, "0.5.23").boundaries == DEFAULT


def test_aux_states_are_switched_off_since_0_5_8() -> None:
    config = {"eagle_config": {"use_aux_hidden_state": False}}
    assert captured(config, "0.5.7").boundaries == DEFAULT
    assert captured(config, "0.5.8").boundaries == ()
    assert captured({"use_aux_hidden_state": False}, "0.5.23").boundaries == DEFAULT


@pytest.mark.parametrize(
    ("target", "since", "until"),
    [
        (LLAMA, "0.4.4.post2", None),
        (LLAMA4, "0.4.5", None),
        (QWEN3, "0.4.9", None),
        (GPT_OSS, "0.5.1", None),
        (GLM4V, "0.5.2", "0.5.4.post1"),
        (DEEPSEEK, "0.5.4.post2", None),
        (M2, "0.5.5.post1", None),
        (GLM5, "0.5.9", None),
        (KIMI, "0.5.10", None),
        (GEMMA, "0.5.12", None),
        ("Gemma4UnifiedForConditionalGeneration", "0.5.13", None),
        (M3, "0.5.18", None),
        (M3_VL, "0.5.18", None),
        (APERTUS, "0.5.3", None),
        ("Glm4MoeForCausalLM", "0.5.5", None),
        ("TeleFLMForCausalLM", "0.5.5.post3", None),
        ("LongcatFlashForCausalLM", "0.5.6", None),
        ("MistralLarge3ForCausalLM", "0.5.6.post1", None),
        (GLM_LITE, "0.5.8", None),
        ("Qwen3VLForConditionalGeneration", "0.5.11", None),
        ("MellumForCausalLM", "0.5.16", None),
        ("Glm5NextForConditionalGeneration", "0.5.20", None),
        (QWEN3_5, "0.5.22", None),
    ],
)
def test_the_releases_in_which_a_target_can_be_captured(
    target: str, since: str, until: str | None
) -> None:
    for version, _ in SUPPORTED:
        inside = Version(since) <= Version(version)
        inside &= until is None or Version(version) <= Version(until)
        assert (target in facts(version).target_architectures) is inside, version


def test_unsupported_targets_stay_out() -> None:
    known = facts("0.5.23").target_architectures
    assert not known & {"DeepseekV4ForCausalLM", "Glm4ForCausalLM", "KimiK3ForCausalLM"}
    assert all(targets <= frozenset().union(*(s for _, s in SUPPORTED)) for targets in _families())


def test_the_count_of_states() -> None:
    assert facts("0.5.11").aux_count_keys == ()
    assert facts("0.5.12").aux_count_keys == ("num_aux_hidden_states", NESTED_IDS)
    latent = facts("0.5.12", KIMI, LATENT_DRAFT).aux_count_keys
    assert latent == (NESTED_IDS, "eagle_aux_hidden_state_layer_ids")


@pytest.mark.parametrize(
    ("version", "draft", "stored", "canonical"),
    [
        ("0.4.8", LLAMA_DRAFT, "midlayer.mlp.up_proj.weight", "layers.0.mlp.up_proj.weight"),
        ("0.4.8", LLAMA_DRAFT, "layers.0.mlp.up_proj.weight", None),
        ("0.4.8", LLAMA_DRAFT, "model.norm.weight", None),
        ("0.4.9", LLAMA_DRAFT, "model.norm.weight", "norm.weight"),
        ("0.5.11", LLAMA_DRAFT, "model.midlayer.hidden_norm.weight", "layers.0.hidden_norm.weight"),
        ("0.5.11", LLAMA_DRAFT, "layers.0.mlp.up_proj.weight", None),
        ("0.5.11", LLAMA_DRAFT, "model.layers.0.mlp.up_proj.weight", None),
        ("0.5.12", LLAMA_DRAFT, "model.layers.0.mlp.up_proj.weight", "layers.0.mlp.up_proj.weight"),
        ("0.5.12", LLAMA_DRAFT, "midlayer.mlp.up_proj.weight", "layers.0.mlp.up_proj.weight"),
        ("0.5.12", LLAMA_DRAFT, "aux_norm_mid.weight", "fc_norm.1.weight"),
        ("0.5.11", LLAMA_DRAFT, "aux_norm_mid.weight", "aux_norm_mid.weight"),
        ("0.5.23", LLAMA_DRAFT, "lm_head.weight", "lm_head.weight"),
        ("0.5.23", LLAMA_DRAFT, "model.lm_head.weight", None),
        ("0.5.23", LLAMA_DRAFT, "draft_model.norm.weight", "draft_model.norm.weight"),
        ("0.5.23", LATENT_DRAFT, "midlayer.mlp.up_proj.weight", "layers.0.mlp.up_proj.weight"),
        ("0.5.23", LATENT_DRAFT, "layers.0.mlp.up_proj.weight", "layers.0.mlp.up_proj.weight"),
        ("0.5.23", LATENT_DRAFT, "model.norm.weight", None),
        ("0.5.23", LATENT_DRAFT, "aux_norm_mid.weight", "aux_norm_mid.weight"),
    ],
)
def test_tensor_names(version: str, draft: str, stored: str, canonical: str | None) -> None:
    chosen = facts(version, draft=draft)
    refused = any(stored.startswith(prefix) for prefix in chosen.refused)
    assert (None if refused else engine_name(stored, chosen)) == canonical


@pytest.mark.parametrize(
    ("name", "since", "before", "after"),
    [
        ("map_absent", "0.4.9", "error", "identity"),
        ("lm_head", "0.5.2", "own", "target's if draft vocab is null"),
        ("draft_vocab_null", "0.5.2", "as absent", "vocab_size"),
        ("context_shorter", "0.5.1", "as is", "error"),
        ("rope_tables", "0.5.10", ("rope_scaling",), ("rope_scaling", "rope_parameters")),
        ("rope_base", "0.5.10", ("top level",), ("table", "top level")),
        ("max_layers", "0.5.12", 1, 0),
        ("later_layer_norm", "0.5.12", "", "hidden_norm"),
        ("architectures", "0.5.12", {LLAMA_DRAFT}, {LLAMA_DRAFT, LATENT_DRAFT}),
    ],
)
def test_facts_that_changed_once(name: str, since: str, before: object, after: object) -> None:
    for version, _ in (*SUPPORTED, ("0.5.23", None)):
        expected = after if Version(version) >= Version(since) else before
        assert getattr(facts(version), name) == expected, version


@pytest.mark.parametrize(
    ("switch", "draft", "since"),
    [
        ("norm_before_residual", LLAMA_DRAFT, None),
        ("attention_bias", LLAMA_DRAFT, None),
        ("bias", LLAMA_DRAFT, "0.4.9"),
        ("use_aux_hidden_state", LLAMA_DRAFT, "0.5.8"),
        ("fc_norm", LLAMA_DRAFT, "0.5.12"),
        ("norm_output", LLAMA_DRAFT, "0.5.12"),
        ("norm_before_fc", LLAMA_DRAFT, "0.5.17"),
        ("fc_norm", LATENT_DRAFT, "0.5.13"),
        ("norm_output", LATENT_DRAFT, "0.5.13"),
        ("norm_before_fc", LATENT_DRAFT, None),
    ],
)
def test_the_release_from_which_a_switch_is_honoured(
    switch: str, draft: str, since: str | None
) -> None:
    versions = [v for v, _ in SUPPORTED] + ["0.4.8.post1", "0.5.12.post1", "0.5.17", "0.5.23"]
    for version in versions:
        honoured = since is not None and Version(version) >= Version(since)
        expected = "honoured" if honoured else "ignored"
        assert facts(version, draft=draft).switches[switch].effect == expected, version


def test_the_nested_norm_before_fc_is_read_first() -> None:
    switch = facts("0.5.23").switches["norm_before_fc"]
    assert switch.places == ("eagle_config.norm_before_fc", "norm_before_fc")


class NoWeights:
    """Stand in for weight files where only their headers matter."""

    def infos(self) -> Iterator[TensorInfo]:
        """Yield nothing: the checkpoint below brings its own."""
        return iter(())

    def read(
        self, name: str, start: int | None = None, stop: int | None = None
    ) -> NDArray[np.generic]:
        """Fail, because no fact about an engine may need a weight."""
        raise AssertionError(name)


def draft_of(config: dict[str, object], *names: str) -> Draft:
    here = Path()
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": 64}
    data = {"architectures": [LLAMA_DRAFT], **sizes, **config}
    tensors = {n: TensorInfo(n, "BF16", (8,), here / "model.safetensors") for n in names}
    read = Config(here / "config.json", data)
    return read_draft(Checkpoint(here, here, "safetensors", read, tensors, (), NoWeights()))


@pytest.mark.parametrize(
    ("config", "version", "kind"),
    [
        ({"draft_vocab_size": None}, "0.5.1.post3", "unsized"),
        ({"draft_vocab_size": None}, "0.5.2", "none"),
        ({}, "0.5.23", "unsized"),
        ({"draft_vocab_size": 16}, "0.5.23", "identity"),
        ({"draft_vocab_size": 16}, "0.4.8", "error"),
        ({"architectures": [LATENT_DRAFT]}, "0.5.23", "none"),
    ],
)
def test_the_vocabulary_size_left_out_or_null(
    config: dict[str, object], version: str, kind: str
) -> None:
    found = resolve(draft_of(config), None, Engine(SGLANG, version))
    assert {reading.token_map.kind for reading in found} == {kind}


PROJECTIONS = tuple(f"midlayer.self_attn.{p}_proj.bias" for p in "qkvo")
BIASES = (*PROJECTIONS, "fc.bias")


@pytest.mark.parametrize(
    ("config", "version", "loaded"),
    [
        ({}, "0.5.23", set()),
        ({}, "0.4.8", {"fc.bias"}),
        ({"attention_bias": True}, "0.5.23", {"o_proj.bias"}),
        ({"bias": True}, "0.5.23", {"o_proj.bias", "fc.bias"}),
    ],
)
def test_biases_are_loaded_where_their_switch_creates_them(
    config: dict[str, object], version: str, loaded: set[str]
) -> None:
    draft = draft_of({"draft_vocab_size": 16, **config}, *BIASES)
    for reading in resolve(draft, None, Engine(SGLANG, version)):
        assert {".".join(n.split(".")[-2:]) for n in reading.tensors.loaded} == loaded
        assert len(reading.tensors.unknown) == len(BIASES) - len(loaded)


def test_a_latent_draft_may_leave_out_its_vocabulary_size() -> None:
    assert facts("0.5.23").draft_vocab_absent == "error"
    latent = facts("0.5.23", KIMI, LATENT_DRAFT)
    assert (latent.draft_vocab_absent, latent.max_layers) == ("vocab_size", 1)


HINTS = get_type_hints(Semantics)


def fits(value: object, hint: object) -> bool:
    """Tell whether a value is of a field's declared type, Literal and containers included."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in inner
    if origin is Mapping:
        pairs = value.items() if isinstance(value, Mapping) else None
        return pairs is not None and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in pairs)
    if origin is tuple and Ellipsis not in inner:
        items = value if isinstance(value, tuple) else ()
        return len(items) == len(inner) and all(map(fits, items, inner))
    if origin in (tuple, frozenset):
        return isinstance(value, origin) and all(fits(item, inner[0]) for item in value)
    return type(value) is hint


@pytest.mark.parametrize(
    "entry",
    [pytest.param(e, id=f"{i} {e.versions} {e.source}") for i, e in enumerate(SGLANG.facts)],
)
def test_every_fact_is_well_formed(entry: Facts) -> None:
    assert entry.sets
    for name, value in entry.sets.items():
        assert fits(value, HINTS[name]), f"{name} = {value!r} is no {HINTS[name]}"
    for switch in entry.sets.get("switches", {}).values():  # type: ignore[attr-defined]
        assert isinstance(switch, Switch)
        assert switch.effect in get_args(Effect)
        assert bool(switch.places) is (switch.effect == "honoured")
    assert re.match(r"[\w/*]+\.py(, \w+\.py)*:\w+", entry.source), entry.source
    # `<=` and `==` would leave out post-releases, `>` would leave out those of the version itself.
    operators = {s.operator for s in SpecifierSet(entry.versions)}
    assert operators <= {">=", "<"}


def test_the_type_check_notices_wrong_values() -> None:
    assert not fits("sometimes", HINTS["unknown"])
    assert not fits(["d2t"], HINTS["skipped"])
    assert not fits({"a"}, HINTS["architectures"])
    assert not fits(True, HINTS["max_layers"])


def test_releases_are_in_order_and_inside_the_profile() -> None:
    versions = [Version(v) for v, _ in SUPPORTED]
    assert all(one < other for one, other in pairwise(versions))
    inside = SpecifierSet(SGLANG.versions)
    assert all(v in inside for v in (*versions, Version(SGLANG.latest)))
    assert Version("0.4.4.post1") not in inside


def _families() -> list[frozenset[str]]:
    return list({f.targets: None for f in FAMILIES})


def test_families_are_disjoint_so_that_an_unknown_target_gets_whole_readings() -> None:
    assert not any(one & other for one, other in combinations(_families(), 2))


@pytest.mark.parametrize("version", [v for v, _ in SUPPORTED] + ["0.5.14", "0.5.17", "0.5.23"])
def test_the_readings_of_an_unknown_target_are_those_of_its_families(version: str) -> None:
    engine = Engine(SGLANG, version)
    found = [r.semantics for r in readings(engine, None, LLAMA_DRAFT)]
    for targets in _families():
        for architecture in targets:
            assert facts(version, architecture) in found
    assert facts(version, LLAMA) == found[0]


def test_the_readings_name_a_source_for_every_fact() -> None:
    (reading,) = readings(Engine(SGLANG, "0.5.23"), KIMI, LATENT_DRAFT)
    changed = {n for n in HINTS if getattr(reading.semantics, n) != getattr(Semantics(), n)}
    assert changed <= set(reading.sources)
    # Facts that happen to equal the defaults are stated all the same.
    stated = {"aux_order", "aux_duplicates", "map_absent", "rope_tables", "unknown", "missing"}
    assert stated <= set(reading.sources)
