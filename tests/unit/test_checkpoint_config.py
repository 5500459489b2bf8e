"""Typed values with the place they were read from."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_eagle_contract.checkpoint import Config, Located
from pytest_eagle_contract.checkpoint.config import MISSING, read_config
from pytest_eagle_contract.errors import InputError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def config(**data: object) -> Config:
    return Config(Path("config.json"), data)


def written(tmp_path: Path, content: bytes) -> Config:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    return read_config(path)


def test_first_written_place_wins_and_is_named() -> None:
    found = config(a=None, b={"c": 5}, d=6)
    assert found.integer("a", "b.c", "d") == Located(5, "b.c")
    assert found.integer("a", "x", "b.x") is None
    assert found.raw("a") is None
    assert found.raw("b.x") is MISSING
    assert found.has("a")
    assert not found.has("d.x")


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("integer", 3, 3),
        ("integer", 32000.0, 32000),
        ("number", 3, 3.0),
        ("number", 0.5, 0.5),
        ("flag", False, False),
        ("text", "", ""),
        ("texts", ["a"], ("a",)),
        ("texts", [], ()),
        ("integers", [1, 2.0], (1, 2)),
        ("table", {}, {}),
    ],
)
def test_right_type_is_read(kind: str, value: object, expected: object) -> None:
    assert getattr(config(key=value), kind)("key") == Located(expected, "key")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("integer", True),
        ("integer", 1.5),
        ("integer", float("inf")),
        ("integer", "3"),
        ("number", False),
        ("number", 10**400),
        ("flag", 1),
        ("flag", "true"),
        ("text", 1),
        ("texts", "abc"),
        ("texts", ["a", 1]),
        ("integers", 3),
        ("integers", [True]),
        ("integers", [[1]]),
        ("table", []),
    ],
)
def test_wrong_type_names_place_and_wanted_type(kind: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        getattr(config(outer={"key": value}), kind)("outer.key")
    assert str(caught.value).startswith("config.json: outer.key: found ")
    assert "; write " in str(caught.value)


@given(json_values)
def test_any_json_value_converts_or_is_an_input_error(value: object) -> None:
    found = config(key=value)
    for kind in ("integer", "number", "flag", "text", "texts", "integers", "table"):
        with contextlib.suppress(InputError):
            located = getattr(found, kind)("key")
            assert (located is None) == (value is None)


def test_reads_nan_and_keeps_the_last_of_a_repeated_key(tmp_path: Path) -> None:
    found = written(tmp_path, b'{"a": 1, "b": NaN, "a": 2}')
    assert found.integer("a") == Located(2, "a")
    assert found.number("b") is not None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[]", "is no JSON object but list"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (json.dumps({}).encode("utf-16"), "is not JSON"),
        (b'{"a": "\xff"}', "is not JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b" " * (16 * 1024 * 1024 + 1), "is larger than"),
    ],
    ids=["empty", "cut", "list", "bom", "utf16", "latin1", "digits", "deep", "huge"],
)
def test_unusable_file_gives_one_line(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        written(tmp_path, content)
    assert str(caught.value).isprintable()


def test_named_pipe_never_blocks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(InputError, match="is a named pipe"):
        read_config(tmp_path / "config.json")
