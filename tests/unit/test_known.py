from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from pytest_eagle_contract.errors import InputError
from pytest_eagle_contract.known import Known, complaints, read_known

TODAY = datetime.date(2026, 12, 1)
FULL = """
[[known]]
contract = "layers.engine"
engine = "vllm>=0.30,<0.33"
reason = "the next export writes the ids"
issue = "https://example.org/7"
expires = 2027-01-31
"""


def read(directory: Path, text: str) -> tuple[Known, ...]:
    file = directory / "known.toml"
    file.write_text(text, encoding="utf-8")
    return read_known(str(file))


def said(known: Known, *outcomes: tuple[str, str, str]) -> list[str]:
    return list(complaints([known], outcomes, TODAY))


def test_nothing_given() -> None:
    assert read_known(None) == ()


def test_whole_entry(tmp_path: Path) -> None:
    assert read(tmp_path, FULL) == (
        Known(
            "layers.engine",
            "the next export writes the ids",
            "vllm>=0.30,<0.33",
            "https://example.org/7",
            datetime.date(2027, 1, 31),
        ),
    )


def test_empty_file(tmp_path: Path) -> None:
    assert read(tmp_path, "") == ()


def test_several_entries(tmp_path: Path) -> None:
    entry = '[[known]]\ncontract = "mapping.mask"\nreason = "x"\n'
    assert len(read(tmp_path, FULL + entry)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "[[known]",
        "known = 1",
        "known = [1]",
        "other = 1",
        "[known]\na = 1",
        "[[known]]",
        '[[known]]\ncontract = "a.b"',
        '[[known]]\ncontract = "a.b"\nreason = " "',
        '[[known]]\ncontract = "a.b"\nreason = 1',
        '[[known]]\ncontract = "ab"\nreason = "x"',
        '[[known]]\ncontract = "a.b"\nreason = "x"\nother = 1',
        '[[known]]\ncontract = "a.b"\nreason = "x"\nengine = 1',
        '[[known]]\ncontract = "a.b"\nreason = "x"\nengine = "vllm>>1"',
        '[[known]]\ncontract = "a.b"\nreason = "x"\nexpires = "2027-01-31"',
        '[[known]]\ncontract = "a.b"\nreason = "x"\nexpires = 2027-01-31T10:00:00',
        "x = " + "[" * 5000,
    ],
)
def test_malformed_file_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert "known.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not TOML"):
        read_known(str(tmp_path / "known.toml"))


@pytest.mark.parametrize("kind", ["absent", "directory"])
def test_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path if kind == "directory" else tmp_path / "none"
    with pytest.raises(InputError):
        read_known(str(path))


@pytest.mark.parametrize(
    ("engine", "subject", "matches"),
    [
        ("", "files", True),
        ("", "vllm 0.32.0 v2", True),
        ("vllm", "vllm 0.32.0 v2", True),
        ("vllm", "vllm 0.32.0", True),
        ("vllm", "files", False),
        ("vllm", "sglang 0.5.23", False),
        ("vllm>=0.30", "vllm 0.32.0 v1", True),
        ("vllm >=0.30", "vllm 0.32.0 v1", True),
        ("vllm<0.30", "vllm 0.32.0 v1", False),
        ("vllm==0.32.0", "vllm 0.32.0 v1", True),
        ("vllm<=0.32.0", "vllm 0.32.0rc1 v1", True),
        ("llama.cpp", "llama.cpp 2026.8", True),
    ],
)
def test_matches_by_engine(engine: str, subject: str, matches: bool) -> None:
    assert Known("layers.engine", "x", engine).matches("layers.engine", subject) == matches


def test_matches_one_contract_alone() -> None:
    assert not Known("layers.engine", "x").matches("layers.order", "files")


def test_expires_after_its_day() -> None:
    known = Known("a.b", "x", expires=TODAY)
    assert not known.expired(TODAY)
    assert known.expired(TODAY + datetime.timedelta(days=1))
    assert not Known("a.b", "x").expired(TODAY)


def test_no_complaint_where_it_is_known_somewhere() -> None:
    known = Known("a.b", "x")
    assert said(known, ("a.b", "files", "passed"), ("a.b", "vllm 0.32.0", "known")) == []


@pytest.mark.parametrize("engine", ["vllm", "vllm<0.20", "sglang"])
def test_no_complaint_about_an_engine_that_was_not_judged(engine: str) -> None:
    outcomes = (("a.b", "files", "failed"), ("a.b", "vllm 0.32.0 v2", "failed"))
    assert said(Known("a.b", "x", engine), *outcomes[: 1 if engine == "vllm" else 2]) == []


def test_text_holds_the_issue_in_one_line() -> None:
    known = Known("a.b", "two\nlines", "vllm<1", "https://example.org/7")
    assert str(known) == "a.b on vllm<1 (two lines; https://example.org/7)"


@pytest.mark.parametrize(
    ("known", "outcomes", "start"),
    [
        (Known("a.b", "x"), (), "matches no contract"),
        (Known("a.b", "x"), (("a.c", "files", "failed"),), "matches no contract"),
        (Known("a.b", "x", "vllm<2"), (("a.c", "vllm 1.0", "failed"),), "matches no contract"),
        (Known("a.b", "x"), (("a.b", "files", "passed"),), "stale"),
        (
            Known("a.b", "x", expires=datetime.date(2020, 1, 1)),
            (("a.b", "files", "failed"),),
            "expired on 2020-01-01",
        ),
    ],
)
def test_complaints(known: Known, outcomes: tuple[tuple[str, str, str], ...], start: str) -> None:
    (line,) = said(known, *outcomes)
    assert line.startswith(start)
    assert str(known) in line


def test_what_was_not_judged_is_not_stale() -> None:
    assert not said(Known("a.b", "x"), ("a.b", "files", "unverified"))
    assert not said(Known("a.b", "x"), ("a.b", "files", "unverified"), ("a.b", "vllm 1", "passed"))
