"""How `--eagle-engine` names an engine."""

from __future__ import annotations

from importlib import metadata

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pytest_eagle_contract.engines import registry
from pytest_eagle_contract.engines.model import EngineProfile, Facts
from pytest_eagle_contract.engines.registry import PROFILES, default_engines, find
from pytest_eagle_contract.errors import InputError

DEMO = EngineProfile(
    name="demo",
    title="Demo",
    versions=">=1.0,<3",
    latest="2.9.1",
    facts=(
        Facts({}, "demo.py:a"),
        Facts({}, "demo.py:b", ">=1.4"),
        Facts({}, "demo.py:c", ">=2.0,<2.5"),
        Facts({}, "demo.py:d", "==1.7.*"),
    ),
    distributions=("demo-engine", "demo-cpu"),
    runners=(("v1", ">=1.0"), ("v2", ">=2.0,<2.9"), ("v3", ">=2.5")),
    aliases={"dm": "demo"},
)
SNAPSHOT = EngineProfile("snap", "Snap", "", "2026.8", (), distributions=("snap",))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Know the demo engines only, and let a test say what is installed."""
    versions: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(registry, "PROFILES", (DEMO, SNAPSHOT))
    monkeypatch.setattr(metadata, "version", version)
    return versions


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("spec", "version", "runner"),
    [
        ("demo", "2.9.1", "v3"),
        ("dm", "2.9.1", "v3"),
        (" demo ", "2.9.1", "v3"),
        ("demo:v1", "2.9.1", "v1"),
        ("demo==2.6", "2.6", "v3"),
        ("demo==2.6:v2", "2.6", "v2"),
        ("demo == 2.6 :v2", "2.6", "v2"),
        ("demo===2.6", "2.6", "v3"),
        ("demo==1.2", "1.2", "v1"),
        ("demo==2.9.2.dev1", "2.9.2.dev1", "v3"),
        ("demo>=1.4", "2.9.1", "v3"),
        ("demo<2.5", "2.0", "v2"),
        ("demo<2.5,!=2.0", "1.4", "v1"),
        ("demo~=1.0", "1.4", "v1"),
        ("demo==1.*", "1.4", "v1"),
        ("snap", "2026.8", ""),
        ("snap>=2026", "2026.8", ""),
        ("snap==2026.8", "2026.8", ""),
    ],
)
def test_specs(spec: str, version: str, runner: str) -> None:
    found = find(spec)
    assert (found.version, found.runner) == (version, runner)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", "write NAME"),
        (":v1", "write NAME"),
        ("==1.0", "write NAME"),
        ("demo:", "write NAME"),
        ("demo:v1:v2", "write NAME"),
        ("demo v1", "write NAME"),
        ("demp", "did you mean demo?"),
        ("sglang,vllm", "repeat the option for each"),
        ("zzz", "demo or snap"),
        ("demo==", "no version specifier"),
        ("demo>=x", "no version specifier"),
        ("demo===x", "no version specifier"),
        ("demo==0.9", ">=1.0,<3"),
        ("demo>=3", ">=1.0,<3"),
        ("demo==3.0.dev1", ">=1.0,<3"),
        ("demo>2.9.1", ">=1.0,<3"),
        ("demo==2.6:v9", "v1 or v2 or v3"),
        ("demo==1.2:v3", "write v1"),
        ("snap==1.0", "only one snapshot"),
        ("snap:v1", "leave :v1 out"),
    ],
)
def test_refused_specs(spec: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        find(spec)
    text = str(refused.value)
    assert said in text
    assert text.startswith("--eagle-engine")
    assert "\n" not in text


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({"demo-engine": "2.4"}, "2.4"),
        ({"demo-cpu": "2.4"}, "2.4"),
        ({"demo-engine": "0.1", "demo-cpu": "1.5"}, "1.5"),
        ({"demo-engine": "3.1"}, "2.9.1"),
        ({"demo-engine": "local build"}, "2.9.1"),
        ({"demo-engine": "2.4+cpu"}, "2.4"),
    ],
)
def test_the_installed_version_is_taken_where_it_is_known(
    installed: dict[str, str], versions: dict[str, str], expected: str
) -> None:
    installed.update(versions)
    assert find("demo").version == expected


@pytest.mark.parametrize(
    ("versions", "spec", "said"),
    [
        ({"demo-engine": "3.1+cu"}, "demo", "demo 3.1 is installed, facts cover >=1.0,<3: judged"),
        ({"demo-engine": "0.2"}, "dm:v1", "write --eagle-engine=demo==2.9.1 to choose"),
        ({"demo-engine": "3.1"}, "demo==2.9.1", ""),
        ({"demo-engine": "3.1"}, "demo>=1", ""),
        ({"demo-engine": "3.1", "demo-cpu": "1.5"}, "demo", ""),
        ({"demo-engine": "local build"}, "demo", ""),
        ({"snap": "1.0"}, "snap", ""),
        ({}, "demo", ""),
    ],
)
def test_a_release_without_facts_is_said(
    installed: dict[str, str], versions: dict[str, str], spec: str, said: str
) -> None:
    installed.update(versions)
    line = registry.unknown_release(spec)
    assert said in line
    assert bool(line) == bool(said)


def test_a_snapshot_does_not_take_the_installed_version(installed: dict[str, str]) -> None:
    installed["snap"] = "1.0"
    assert find("snap").version == "2026.8"


def test_the_matrix_holds_each_runner_at_the_latest_version(installed: dict[str, str]) -> None:
    installed["demo-engine"] = "1.0"
    labels = [engine.label for engine in default_engines()]
    assert labels == ["demo 2.9.1 v1", "demo 2.9.1 v3", "snap 2026.8"]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_shipped_profiles(profile: EngineProfile) -> None:
    assert find(f"{profile.name}=={profile.latest}").version == profile.latest
    assert SpecifierSet(profile.versions).contains(Version(profile.latest))
    for alias, name in profile.aliases.items():
        assert name == profile.name
        assert find(f"{alias}=={profile.latest}").profile is profile


def test_names_and_aliases_are_unique() -> None:
    names = [name for p in PROFILES for name in (p.name, *p.aliases)]
    assert len(names) == len(set(names))
    assert [p.name for p in PROFILES] == [
        "sglang",
        "vllm",
        "tensorrt-llm",
        "llama.cpp",
        "tokenspeed",
        "lmdeploy",
        "openvino",
        "safeai-eagle",
    ]


@pytest.mark.parametrize(
    "spec", ["sglang", "vllm==0.32.0:v2", "sglang>=0.5.12", "vllm:v1", "tensorrt-llm", "eagle"]
)
def test_documented_specs(spec: str) -> None:
    assert find(spec).profile in PROFILES
