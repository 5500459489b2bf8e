from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_eagle_contract.options import OPTIONS
from pytest_eagle_contract.settings import Settings

BY_NAME = {option.name: option for option in OPTIONS}


def convert(name: str, text: str) -> object:
    return BY_NAME[name].convert(text)


def test_every_option_has_all_spellings() -> None:
    for option in OPTIONS:
        assert option.cli == f"--eagle-{option.name.replace('_', '-')}"
        assert option.ini == f"eagle_{option.name}"
        assert option.env == f"EAGLE_CONTRACT_{option.name.upper()}"
        assert option.help
        assert bool(option.metavar) != option.flag
    assert len(BY_NAME) == len(OPTIONS)


@pytest.mark.parametrize(
    ("text", "boundaries"),
    [
        ("b:2,16,29", (2, 16, 29)),
        ("out:1,15,28", (2, 16, 29)),
        (" b: 2, 16 ,29 ", (2, 16, 29)),
        ("out:-1,3", (0, 4)),
        ("b:29,2", (29, 2)),
    ],
)
def test_layers(text: str, boundaries: tuple[int, ...]) -> None:
    assert convert("aux_layers", text) == boundaries


@given(st.lists(st.integers(0, 200), min_size=1, unique=True))
def test_layers_in_either_counting_are_the_same(boundaries: list[int]) -> None:
    inputs = "b:" + ",".join(map(str, boundaries))
    outputs = "out:" + ",".join(str(b - 1) for b in boundaries)
    assert convert("aux_layers", inputs) == convert("aux_layers", outputs) == tuple(boundaries)


@given(st.sampled_from(OPTIONS), st.text())
def test_any_text_is_taken_or_refused_in_words(option: object, text: str) -> None:
    assert option in OPTIONS
    try:
        BY_NAME[option.name].convert(text)  # type: ignore[attr-defined]
    except ValueError as error:
        assert str(error).strip()  # noqa: PT017


@pytest.mark.parametrize(
    "text", ["", "2,16", "x:1", "b:", "b:1,,2", "b:1.5", "out:-2", "b:-1", "1;2", "b:2,2,5"]
)
def test_other_layers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        convert("aux_layers", text)


def test_reports() -> None:
    assert convert("report", "json=out/a=b.json") == ("json", "out/a=b.json")
    assert convert("report", "md=x") == ("md", "x")


@pytest.mark.parametrize("text", ["json", "json=", "pdf=x", "=x", ""])
def test_other_reports_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write json=FILE, md=FILE or html=FILE"):
        convert("report", text)


def test_capabilities() -> None:
    assert convert("require", "target, engine") == ("target", "engine")


@pytest.mark.parametrize("text", ["", ",", "target,tpu"])
def test_other_capabilities_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="choose from torch, target, engine, gpu"):
        convert("require", text)


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "", "²", "1" * 5000])
def test_other_counts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        convert("max_examples", text)


def test_settings_are_true_when_something_was_given() -> None:
    assert not Settings({}, {}, {})
    some = Settings({"trainer": "eagle"}, {"trainer": "--eagle-trainer"}, {"trainer": "eagle"})
    assert some
    assert some.get("trainer") == "eagle"
    assert some.get("target") is None
    assert some.get("token_map", ()) == ()
