"""Find the later version in which an engine starts to honour a switch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from pytest_eagle_contract.engines.model import Engine, Facts, Switch


@lru_cache(maxsize=256)
def honoured_since(
    engine: Engine, architecture: str | None, draft: str | None, wrapped: str | None
) -> Mapping[str, str]:
    """Map switches to the first version after the engine's own that honours them.

    Only versions that the profile names are tried; a switch that none of them honours is left out.
    """
    facts = [
        f
        for f in engine.profile.facts
        if "switches" in f.sets and (not f.targets or architecture in f.targets)
    ]
    found: dict[str, str] = {}
    for version in _later(facts, Version(engine.version)):
        switches: dict[str, Switch] = {}
        for entry in facts:
            if entry.holds(version, engine.runner, draft, wrapped):
                switches.update(entry.sets["switches"])
        for name, switch in switches.items():
            if switch.effect == "honoured":
                found.setdefault(name, str(version))
    return found


def _later(facts: Iterable[Facts], own: Version) -> list[Version]:
    return sorted({v for entry in facts for v in _named(entry.versions) if v > own})


def _named(versions: str) -> Iterator[Version]:
    for specifier in SpecifierSet(versions):
        try:
            yield Version(specifier.version)
        except InvalidVersion:  # a wildcard, `==0.5.*`
            continue
