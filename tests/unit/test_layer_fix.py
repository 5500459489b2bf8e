"""The entries that a failure prints, written to the config, mend it."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_eagle_contract.assess import Inputs, build_case, for_engine
from pytest_eagle_contract.boundaries import same
from pytest_eagle_contract.checkpoint import Config, open_checkpoint
from pytest_eagle_contract.contracts import layers as contracts
from pytest_eagle_contract.contracts.case import Case
from pytest_eagle_contract.contracts.layer_fix import entries
from pytest_eagle_contract.engines.model import Engine
from pytest_eagle_contract.engines.registry import default_engines, find
from pytest_eagle_contract.engines.resolve import captured_with, resolve
from pytest_eagle_contract.intent import Evidence, Stated

FIXTURES = Path(__file__).parents[2] / "fixtures"
LAYERS = 8
ENGINES = (*default_engines(), find("vllm==0.12.0"), find("sglang==0.5.6"))
KEY = "eagle_aux_hidden_state_layer_ids"


@functools.cache
def base(name: str) -> Case:
    trainer = "specforge" if name.startswith("specforge") else None
    inputs = Inputs(target=FIXTURES / "targets" / "llama", trainer=trainer)
    return build_case(open_checkpoint(FIXTURES / "good" / name), inputs)


def intending(case: Case, wanted: tuple[int, ...], engines: tuple[Engine, ...]) -> Case:
    """Return a case whose draft was trained on `wanted`, held to `engines`."""
    stated = Stated(wanted, Evidence.DECLARED, "stated by the test")
    chosen = tuple(resolve(case.draft, case.target, engine) for engine in engines)
    return replace(case, intent=replace(case.intent, boundaries=stated), chosen=chosen)


def applied(config: Config, text: str) -> Config:
    """Return the config with the printed entries in the places printed, and no other ids."""
    printed = json.loads("{" + text.removeprefix("write ").split(" in config.json")[0] + "}")
    data: dict[str, Any] = {k: v for k, v in config.data.items() if k != KEY}
    eagle = {k: v for k, v in (data.pop("eagle_config", None) or {}).items() if k != KEY}
    eagle |= printed.pop("eagle_config", {})
    data |= printed
    if eagle:
        data["eagle_config"] = eagle
    return Config(config.path, data)


def unserved(text: str) -> str:
    found = re.search(r"\(does not serve (.*)\)", text)
    return found.group(1) if found else ""


def captures(case: Case, engine: Engine, config: Config, wanted: tuple[int, ...]) -> bool:
    """Tell whether the engine captures `wanted`, whatever the contract's own helper says."""
    return all(
        not found.error and not found.lost and same(wanted, found.boundaries, LAYERS) is True
        for found in (
            captured_with(config, reading.semantics, LAYERS)
            for reading in resolve(case.draft, case.target, engine)
        )
    )


@settings(deadline=None)
@given(
    st.sampled_from(["specforge-ids", "specforge-sglang", "modelopt-ids", "eagle"]),
    st.lists(st.integers(0, LAYERS), min_size=3, max_size=3, unique=True).map(tuple),
    st.lists(st.sampled_from(ENGINES), min_size=1, max_size=3, unique_by=lambda e: e.label),
)
def test_printed_entries_serve_the_engines(
    name: str, wanted: tuple[int, ...], engines: list[Engine]
) -> None:
    case = intending(base(name), wanted, tuple(engines))
    for engine in engines:
        text = entries(for_engine(case, engine))
        assert text
        if not text.startswith("write "):
            assert text.startswith("no entry makes this engine capture")
            continue
        config = applied(case.draft.config, text)
        assert captures(case, engine, config, wanted)
        for other in engines:
            if other.label not in unserved(text):
                assert captures(case, other, config, wanted), (other.label, text)
            else:
                assert not captures(case, other, config, wanted), (other.label, text)


@settings(deadline=None)
@given(st.lists(st.integers(1, LAYERS - 1), min_size=3, max_size=3, unique=True).map(sorted))
def test_ascending_states_can_always_be_written_for_sglang_and_vllm(wanted: list[int]) -> None:
    engines = (find("sglang==0.5.23"), find("vllm==0.32.0:v1"), find("vllm==0.32.0:v2"))
    case = intending(base("specforge-ids"), tuple(wanted), engines)
    for engine in engines:
        text = entries(for_engine(case, engine))
        assert text.startswith("write ")
        config = applied(case.draft.config, text)
        assert captures(case, engine, config, tuple(wanted))


@pytest.mark.parametrize("spec", ["vllm==0.32.0:v1", "vllm==0.32.0:v2"])
def test_failure_prints_them(spec: str) -> None:
    case = for_engine(base("specforge-ids"), find(spec))
    outcome = contracts.engine.check(case)
    assert outcome.status == "failed"
    assert outcome.fix == entries(case)
    mended = applied(case.draft.config, outcome.fix)
    assert captures(case, find(spec), mended, (1, 3, 6))


def test_nothing_is_printed_without_an_intent() -> None:
    case = for_engine(base("specforge-ids"), find("sglang"))
    unknown: Stated[Any] = Stated(None, Evidence.UNKNOWN, "not known")
    assert entries(replace(case, intent=replace(case.intent, boundaries=unknown))) == ""
