"""Every known engine, and how `--eagle-engine` names one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from importlib import metadata

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from pytest_eagle_contract.engines.llama_cpp import LLAMA_CPP
from pytest_eagle_contract.engines.lmdeploy import LMDEPLOY
from pytest_eagle_contract.engines.model import Engine, EngineProfile
from pytest_eagle_contract.engines.openvino import OPENVINO
from pytest_eagle_contract.engines.safeai import SAFEAI
from pytest_eagle_contract.engines.sglang import SGLANG
from pytest_eagle_contract.engines.tensorrt_llm import TENSORRT_LLM
from pytest_eagle_contract.engines.tokenspeed import TOKENSPEED
from pytest_eagle_contract.engines.vllm import VLLM
from pytest_eagle_contract.errors import InputError

PROFILES: tuple[EngineProfile, ...] = (
    SGLANG,
    VLLM,
    TENSORRT_LLM,
    LLAMA_CPP,
    TOKENSPEED,
    LMDEPLOY,
    OPENVINO,
    SAFEAI,
)
OPTION = "--eagle-engine"
SPEC = re.compile(r"(?P<name>[^<>=!~:\s]+)\s*(?P<versions>[<>=!~][^:]*)?(:(?P<runner>[\w.-]+))?")
EXACT = re.compile(r"={2,3}\s*(?P<version>[^\s,*]+)\s*")


def find(spec: str) -> Engine:
    """Return the engine that `NAME[SPECIFIER][:RUNNER]` names; InputError where there is none.

    `sglang`, `vllm==0.32.0:v2`, `sglang>=0.5.12` and `vllm:v1` are examples.
    """
    if "," in spec and not any(c in spec for c in "<>=!~"):
        raise _refusal(spec, "names several engines", "repeat the option for each")
    parts = SPEC.fullmatch(spec.strip())
    if parts is None:
        raise _refusal(spec, "is no engine", "write NAME[SPECIFIER][:RUNNER], as vllm==0.32.0:v2")
    profile = _profile(parts["name"], spec)
    if parts["versions"]:
        version = _chosen(profile, parts["versions"], spec)
    else:
        version = _installed(profile) or profile.latest
    return Engine(profile, version, _runner(profile, version, parts["runner"], spec))


def default_engines() -> tuple[Engine, ...]:
    """Return every engine at its latest known version, once for each of its runners."""
    return tuple(
        Engine(profile, profile.latest, runner)
        for profile in PROFILES
        for runner in _runners(profile, profile.latest) or ("",)
    )


def is_installed(profile: EngineProfile) -> bool:
    """Tell whether one of an engine's distributions is installed here, in any version."""
    return any(_has(name) for name in profile.distributions)


def beyond_facts(engine: Engine) -> str:
    """Return the line that says that an engine is newer than what was read; empty where not."""
    profile = engine.profile
    if Version(engine.version) <= Version(profile.latest):
        return ""
    return f"{engine.label} is newer than {profile.latest}, the last release that facts are of"


def unknown_release(spec: str) -> str:
    """Return the line that says that facts of another version are used than of the one installed.

    Nothing is said where a version was named, or where the installed one is known.
    """
    parts = SPEC.fullmatch(spec.strip())
    if parts is None or parts["versions"]:
        return ""
    profile = _profile(parts["name"], spec)
    found = list(_releases(profile))
    if not found or any(_covers(profile, version) for version in found):
        return ""
    name, latest = profile.name, profile.latest
    return (
        f"{name} {found[0].public} is installed, facts cover {profile.versions}: judged as "
        f"{latest}; write {OPTION}={name}=={latest} to choose"
    )


def _has(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _profile(name: str, spec: str) -> EngineProfile:
    known = {profile.name: profile for profile in PROFILES}
    known |= {alias: profile for profile in PROFILES for alias in profile.aliases}
    if name.lower() in known:
        return known[name.lower()]
    close = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5) or known
    near = dict.fromkeys(known[found].name for found in close)
    raise _refusal(spec, f"there is no engine {name}", f"did you mean {' or '.join(near)}?")


def _chosen(profile: EngineProfile, text: str, spec: str) -> str:
    """Return the newest known version that a specifier admits."""
    exact = EXACT.fullmatch(text)
    try:
        wanted, candidates = SpecifierSet(text), [Version(exact["version"])] if exact else []
    except (InvalidSpecifier, InvalidVersion):
        raise _refusal(spec, f"{text} is no version specifier", "write one as >=0.5.12") from None
    if wanted.contains(profile.latest, prereleases=True):
        return profile.latest
    if not profile.versions:
        remedy = f"leave the version out or write {profile.name}=={profile.latest}"
        raise _refusal(spec, f"only one snapshot is known, {profile.latest}", remedy)
    candidates = candidates or _boundaries(profile)
    admitted = [v for v in candidates if wanted.contains(v, prereleases=True)]
    covered = [v for v in admitted if _covers(profile, v)]
    if covered:
        return str(max(covered))
    raise _refusal(spec, "no known version fits", f"choose one within {profile.versions}")


def _boundaries(profile: EngineProfile) -> list[Version]:
    """Return the versions at which something changes, as far as the profile names them."""
    ranges = [profile.versions, *(facts.versions for facts in profile.facts)]
    ranges += [versions for _, versions in profile.runners]
    return [version for text in ranges for version in _named(text)]


def _named(ranges: str) -> Iterator[Version]:
    for specifier in SpecifierSet(ranges):
        try:
            yield Version(specifier.version)
        except InvalidVersion:  # a wildcard, `==0.5.*`
            continue


def _installed(profile: EngineProfile) -> str | None:
    """Return the version installed here, where the profile speaks of it.

    A profile read at one snapshot says nothing of the release that happens to be installed.
    """
    known = (version for version in _releases(profile) if _covers(profile, version))
    found = next(known, None)
    return None if found is None else found.public


def _releases(profile: EngineProfile) -> Iterator[Version]:
    """Yield the versions of an engine's distributions that are installed here."""
    for name in profile.distributions if profile.versions else ():
        try:
            yield Version(metadata.version(name))
        except (metadata.PackageNotFoundError, InvalidVersion):
            continue


def _covers(profile: EngineProfile, version: Version) -> bool:
    return SpecifierSet(profile.versions).contains(version, prereleases=True)


def _runner(profile: EngineProfile, version: str, runner: str | None, spec: str) -> str:
    existing = _runners(profile, version)
    if runner is None:
        return existing[-1] if existing else ""
    if runner in existing:
        return runner
    if not existing:
        raise _refusal(spec, f"{profile.name} {version} has no runners", f"leave :{runner} out")
    listed = " or ".join(existing)
    raise _refusal(spec, f"{profile.name} {version} has no runner {runner}", f"write {listed}")


def _runners(profile: EngineProfile, version: str) -> tuple[str, ...]:
    return tuple(
        runner
        for runner, versions in profile.runners
        if SpecifierSet(versions).contains(version, prereleases=True)
    )


def _refusal(spec: str, problem: str, remedy: str) -> InputError:
    return InputError(OPTION, spec, problem, remedy)
