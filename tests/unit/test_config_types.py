"""Every key that is read, with a value of another type: refused once, before anything is judged."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from pytest_eagle_contract.assess import Inputs, assess
from pytest_eagle_contract.checkpoint import Config
from pytest_eagle_contract.engines.registry import default_engines
from pytest_eagle_contract.errors import InputError

WRONG: tuple[object, ...] = ("x", 3.5, [1], [["x"]], {"x": 1}, True)
PAIRS = (("specforge-hf", "llama"), ("speculators-default", "llama"), ("modelopt", "internvl"))


def judged(path: Path, target: Path) -> list[str]:
    """Return what no contract could read, [] where the run is refused as a whole."""
    engines = [e for e in default_engines() if e.label.split()[0] in ("sglang", "vllm")]
    try:
        results = assess(path, Inputs(target=target), engines)
    except InputError:
        return []
    return [
        f"{r.contract.id} [{r.subject}]: {r.outcome.measured}"
        for r in results
        if r.outcome.expected == "readable input"
    ]


def write(config: dict[str, object], place: str, value: object) -> dict[str, object]:
    """Return a config with a value at a dotted place, objects made on the way."""
    copy = json.loads(json.dumps(config))
    *above, key = place.split(".")
    node = copy
    for part in above:
        if not isinstance(node.get(part), dict):
            node[part] = {}
        node = node[part]
    node[key] = value
    return copy


def swept(file: Path, draft: Path, target: Path, places: set[str]) -> list[str]:
    """Write every wrong value to every place of one config, and return what was judged of it."""
    sound = json.loads(file.read_text())
    left = []
    for place in sorted(places):
        for value in WRONG:
            file.write_text(json.dumps(write(sound, place, value)))
            left += [f"{place} = {value!r}: {text}" for text in judged(draft, target)]
    return left


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> dict[Path, set[str]]:
    """Collect every place that is looked at, by the file's folder."""
    seen: dict[Path, set[str]] = defaultdict(set)
    look = Config.raw

    def spy(config: Config, place: str) -> object:
        seen[config.path.parent].add(place)
        return look(config, place)

    monkeypatch.setattr(Config, "raw", spy)
    return seen


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request: pytest.FixtureRequest, good: Path, targets: Path, tmp_path: Path) -> Path:
    """Copy a draft and a target side by side, and return their folder."""
    draft, target = request.param
    shutil.copytree(good / draft, tmp_path / "draft")
    shutil.copytree(targets / target, tmp_path / "target")
    return tmp_path


@pytest.mark.parametrize("side", ["draft", "target"])
def test_a_value_of_another_type_is_refused_before_anything_is_judged(
    side: str, pair: Path, looked_at: dict[Path, set[str]]
) -> None:
    draft, target = pair / "draft", pair / "target"
    assert judged(draft, target) == []
    places = set(looked_at[pair / side])
    assert len(places) > 20
    assert swept(pair / side / "config.json", draft, target, places) == []
