"""A JSON config whose every value knows where it was found."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pytest_eagle_contract.checkpoint.files import read_json
from pytest_eagle_contract.errors import InputError

T = TypeVar("T")
MISSING = object()


@dataclass(frozen=True, slots=True)
class Located(Generic[T]):
    """Pair a value with the dotted place it was read from."""

    value: T
    where: str


@dataclass(frozen=True, slots=True)
class Config:
    """Read typed values from a config file by dotted place (`eagle_config.layer_ids`).

    A key that is absent or null gives None. A value of the wrong type raises InputError with the
    file, the place, what was found and what belongs there.
    """

    path: Path
    data: Mapping[str, object]

    def raw(self, place: str) -> object:
        """Return the value at a dotted place, null included; MISSING where there is none."""
        node: object = self.data
        for part in place.split("."):
            if not isinstance(node, Mapping) or part not in node:
                return MISSING
            node = node[part]
        return node

    def has(self, place: str) -> bool:
        """Tell whether the key is written, null included."""
        return self.raw(place) is not MISSING

    def integer(self, *places: str) -> Located[int] | None:
        """Return the first written integer among `places`."""
        return self._first(places, _as_integer, "an integer")

    def number(self, *places: str) -> Located[float] | None:
        """Return the first written number among `places`."""
        return self._first(places, _as_number, "a number")

    def flag(self, *places: str) -> Located[bool] | None:
        """Return the first written boolean among `places`."""
        return self._first(places, _as_flag, "true or false")

    def text(self, *places: str) -> Located[str] | None:
        """Return the first written string among `places`."""
        return self._first(places, _as_text, "a string")

    def texts(self, *places: str) -> Located[tuple[str, ...]] | None:
        """Return the first written list of strings among `places`."""
        return self._first(places, _as_texts, "a list of strings")

    def integers(self, *places: str) -> Located[tuple[int, ...]] | None:
        """Return the first written list of integers among `places`."""
        return self._first(places, _as_integers, "a list of integers")

    def table(self, *places: str) -> Located[Mapping[str, object]] | None:
        """Return the first written object among `places`."""
        return self._first(places, _as_table, "an object")

    def _first(
        self, places: tuple[str, ...], convert: Callable[[object], T | None], wanted: str
    ) -> Located[T] | None:
        for place in places:
            value = self.raw(place)
            if value is MISSING or value is None:
                continue
            converted = convert(value)
            if converted is None:
                raise InputError(
                    self.path, place, f"found {_shown(value)}", f"write {wanted} there"
                )
            return Located(converted, place)
        return None


def read_config(path: Path) -> Config:
    """Read a JSON config of at most 16 MB; InputError for anything but a UTF-8 JSON object."""
    return Config(path, read_json(path))


def _as_integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    # Exporters that go through YAML or numpy write 32000.0; the value is still exact.
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _as_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _as_flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _as_texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        return None
    return tuple(value)


def _as_integers(value: object) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    items = [_as_integer(v) for v in value]
    return None if None in items else tuple(v for v in items if v is not None)


def _as_table(value: object) -> Mapping[str, object] | None:
    return value if isinstance(value, dict) else None


def _shown(value: object, limit: int = 60) -> str:
    # reprlib stops early: a config may nest deeply or hold a list of a million items.
    shown = reprlib.repr(value)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
