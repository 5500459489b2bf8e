"""The direction of the arrows: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pytest_eagle_contract.engines.registry import PROFILES as ENGINES
from pytest_eagle_contract.trainers.registry import PROFILES as TRAINERS

PACKAGE = Path(__file__).parents[2] / "pytest_eagle_contract"
NAME = "pytest_eagle_contract"

# A room may import the rooms named here and itself, at any depth of its code.
ROOMS: dict[str, frozenset[str]] = {
    "report": frozenset({"contracts", "engines", "errors"}),
    "checkpoint": frozenset({"errors"}),
    "token_map": frozenset({"checkpoint", "errors"}),
    "engines": frozenset({"boundaries", "checkpoint", "errors", "pair"}),
    "trainers": frozenset({"boundaries", "checkpoint", "errors", "intent", "pair", "token_map"}),
    "contracts": frozenset(
        {
            "boundaries",
            "checkpoint",
            "engines",
            "errors",
            "intent",
            "mapping_fuzz",
            "pair",
            "token_map",
            "trainers",
        }
    ),
    "target": frozenset({"errors"}),
    "draft": frozenset(
        {"boundaries", "checkpoint", "contracts", "engines", "errors", "pair", "token_map"}
    ),
    "acceptance": frozenset({"boundaries", "contracts", "draft", "errors", "prompts", "target"}),
}
WITH_TORCH = frozenset({"target", "draft", "acceptance"})
"""Rooms of the numeric level: nothing else imports them but inside a function."""
AUTOLOADED = (
    "plugin.py",
    "settings.py",
    "options.py",
    "stash.py",
    "fixtures.py",
    "hookspec.py",
    "__init__.py",
)


def imports(path: Path, *, nested: bool) -> set[str]:
    """Return the modules that a file imports, inside functions too where `nested`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if nested else iter(tree.body)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_no_room_above_them(room: str) -> None:
    for path in (PACKAGE / room).glob("*.py"):
        rooms = {m.split(".")[1] for m in imports(path, nested=True) if m.startswith(f"{NAME}.")}
        assert rooms <= ROOMS[room] | {room}, path.name


@pytest.mark.parametrize("name", AUTOLOADED)
def test_what_autoloads_imports_pytest_and_the_standard_library(name: str) -> None:
    import sys

    for module in imports(PACKAGE / name, nested=False):
        top = module.split(".")[0]
        assert top in sys.stdlib_module_names | {"pytest", NAME}, module


def test_torch_and_transformers_are_imported_inside_functions_only() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name in WITH_TORCH:
            continue
        found = imports(path, nested=False)
        heavy = {m.split(".")[0] for m in found}
        assert heavy.isdisjoint({"torch", "transformers", "sglang", "vllm"}), path.name
        own = {m.split(".")[1] for m in found if m.startswith(f"{NAME}.")}
        assert own.isdisjoint(WITH_TORCH), path.name


@pytest.mark.parametrize("room", ["contracts", "report"])
def test_contracts_and_reports_know_no_engine_or_trainer(room: str) -> None:
    modules = {p.stem for p in (PACKAGE / "engines").glob("*.py")} | {
        p.stem for p in (PACKAGE / "trainers").glob("*.py")
    }
    own = {e.name for e in ENGINES} | {t.name for t in TRAINERS}
    profiles = {m for m in modules if m.split("_")[0] in {n.split("-")[0] for n in own}}
    for path in (PACKAGE / room).glob("*.py"):
        found = {m.rsplit(".", 1)[-1] for m in imports(path, nested=True)}
        assert found.isdisjoint(profiles), path.name
