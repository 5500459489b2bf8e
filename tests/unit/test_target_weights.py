"""Of a target's weights only the shard with the embedding is opened, and a broken one is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from pytest_eagle_contract.assess import FILES, Inputs, assess
from pytest_eagle_contract.checkpoint.reader import open_target, target_weights
from pytest_eagle_contract.checkpoint.target_weights import TargetWeights
from pytest_eagle_contract.contracts.embedding_rows import NAMES
from pytest_eagle_contract.contracts.needs import READABLE_WEIGHTS
from pytest_eagle_contract.contracts.outcome import Outcome
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.errors import InputError

SHARDS = [f"model-{n:05d}-of-00003.safetensors" for n in (1, 2, 3)]
INDEX = "model.safetensors.index.json"
EMBEDDING = "model.embed_tokens.weight"


@pytest.fixture
def target(targets: Path, tmp_path: Path) -> Path:
    """Return a target in three shards, the embedding in the second."""
    directory = tmp_path / "target"
    directory.mkdir()
    shutil.copy(targets / "llama" / "config.json", directory)
    embedding = np.random.default_rng(1).normal(size=(320, 24)).astype(np.float32)
    named = {"lm_head.weight": embedding[:9], EMBEDDING: embedding, "model.norm.weight": embedding}
    for shard, (name, values) in zip(SHARDS, named.items(), strict=True):
        save_file({name: values}, directory / shard)
    index = {"weight_map": dict(zip(named, SHARDS, strict=True))}
    (directory / INDEX).write_text(json.dumps(index))
    return directory


def opened(target: Path) -> TargetWeights | None:
    return target_weights(target, open_target(target))


def judged(draft: Path, target: Path) -> dict[str, Outcome]:
    engine = find("sglang==0.5.23")
    return {
        r.subject: r.outcome
        for r in assess(draft, Inputs(target=target), [engine])
        if r.contract.id == "checkpoint.embedding"
    }


def test_other_shards_are_not_opened(target: Path) -> None:
    (target / SHARDS[0]).write_bytes(b"broken")
    (target / SHARDS[2]).unlink()
    weights = opened(target)
    assert weights is not None
    found = weights.find(NAMES)
    assert found is not None
    info, source = found
    assert (info.name, info.file.name, info.shape) == (EMBEDDING, SHARDS[1], (320, 24))
    assert source.read(info.name, 0, 2).shape == (2, 24)
    assert weights.find(["lm_head.bias"]) is None


@pytest.mark.parametrize("layout", ["one file", "shards without an index"])
def test_weights_without_an_index(target: Path, layout: str) -> None:
    (target / INDEX).unlink()
    if layout == "one file":
        (target / SHARDS[1]).rename(target / "model.safetensors")
        (target / SHARDS[0]).write_bytes(b"a leftover that no engine reads")
    weights = opened(target)
    assert weights is not None
    assert weights.find(NAMES) is not None


@pytest.mark.parametrize("kind", ["config alone", "index alone", "torch files"])
def test_no_weights(target: Path, kind: str) -> None:
    for shard in SHARDS:
        (target / shard).unlink()
    if kind != "index alone":
        (target / INDEX).unlink()
    if kind == "torch files":
        (target / "pytorch_model.bin").touch()
    assert opened(target) is None


def test_a_config_that_is_named_itself_is_all_that_is_read(target: Path) -> None:
    assert opened(target / "config.json") is None


def test_an_index_may_be_larger_than_a_config(target: Path) -> None:
    index = json.loads((target / INDEX).read_text())
    (target / INDEX).write_text(json.dumps(index) + " " * 2**24)
    weights = opened(target)
    assert weights is not None
    assert weights.find(NAMES) is not None


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda t: (t / SHARDS[1]).write_bytes(b"\x08"), "is cut off"),
    "pointer": (
        lambda t: (t / SHARDS[1]).write_bytes(b"version https://git-lfs.github.com/spec/v1\n"),
        "git lfs pull",
    ),
    "shard missing": (lambda t: (t / SHARDS[1]).unlink(), "is missing"),
    "index": (lambda t: (t / INDEX).write_text("{"), "is not JSON"),
    "index to elsewhere": (
        lambda t: (t / INDEX).write_text(json.dumps({"weight_map": {EMBEDDING: "../x"}})),
        "is no file name",
    ),
    "other tensor": (lambda t: shutil.copy(t / SHARDS[0], t / SHARDS[1]), "not in this shard"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_weights_are_said_and_fail_nothing(good: Path, target: Path, fault: str) -> None:
    damage, says = BROKEN[fault]
    damage(target)
    weights = opened(target)
    assert weights is not None
    with pytest.raises(InputError, match=says):
        weights.find(NAMES)
    outcome = judged(good / "specforge-hf", target)[FILES]
    assert outcome.status == "unverified"
    assert says in outcome.measured
    assert outcome.needs == (READABLE_WEIGHTS,)


def test_without_readable_weights_an_engine_is_judged_by_the_trainer(
    good: Path, target: Path
) -> None:
    """SpecForge freezes the target's embedding, so an engine that takes the target's is right."""
    sglang = "sglang 0.5.23"
    assert judged(good / "specforge-hf", target)[sglang].status == "failed"
    (target / SHARDS[1]).write_bytes(b"")
    assert judged(good / "specforge-hf", target)[sglang].status == "passed"
