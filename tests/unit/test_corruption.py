"""Thousands of broken checkpoints: each opens or gives one clear line, never a traceback."""

from __future__ import annotations

import contextlib
import importlib
import random
import shutil
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_eagle_contract.checkpoint import Checkpoint, Config, open_checkpoint
from pytest_eagle_contract.checkpoint.geometry import read_geometry
from pytest_eagle_contract.checkpoint.reader import manifest_digest
from pytest_eagle_contract.errors import InputError

from .corrupt import CONFIG, FAMILIES, places, write

SEED = 20240607
MAX_PEAK = 64 * 1024 * 1024
SLOWEST = 5.0


@pytest.fixture
def traced() -> Iterator[None]:
    # Its import alone takes longer and more memory than any case may.
    with contextlib.suppress(ImportError):
        importlib.import_module("torch")
    tracemalloc.start()
    yield
    tracemalloc.stop()


def use(path: Path) -> str:
    """Open a checkpoint and use all of it; return what went wrong, or nothing."""
    try:
        checkpoint = open_checkpoint(path)
    except InputError as error:
        return line(error)
    for message in read_changed_places(checkpoint.config):
        assert "config.json" in message
    problems = [read_every_tensor(checkpoint)]
    try:
        assert len(manifest_digest(checkpoint)) == 64
        read_geometry(checkpoint.config)
    except InputError as error:
        problems.append(line(error))
    return next((p for p in problems if p), "")


def read_every_tensor(checkpoint: Checkpoint) -> str:
    for name, info in checkpoint.tensors.items():
        try:
            assert checkpoint.read(name).shape == info.shape
        except InputError as error:
            return line(error)
    return ""


def read_changed_places(config: Config) -> Iterator[str]:
    kinds = (
        config.integer,
        config.number,
        config.flag,
        config.text,
        config.texts,
        config.integers,
        config.table,
    )
    sound = Config(config.path, CONFIG)
    for place in (p for p in places(CONFIG) if config.raw(p) != sound.raw(p)):
        for kind in kinds:
            try:
                kind(place)
            except InputError as error:
                yield line(error)


def line(error: InputError) -> str:
    """Return the error's text after checking that a terminal shows it as one useful line."""
    text = str(error)
    assert text
    assert text.isprintable()
    assert len(text) <= 600
    assert error.problem
    assert error.remedy
    return text


def test_sweep_is_large() -> None:
    total = sum(1 for f in FAMILIES.values() for _ in f(random.Random(SEED)))
    assert total >= 2000


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.usefixtures("traced")
def test_each_case_opens_or_gives_one_line(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = 0
    for number, (name, build) in enumerate(FAMILIES[family](random.Random(SEED))):
        path = tmp_path / f"c{number}"
        build(path)
        started = time.perf_counter()
        try:
            failed += bool(use(path))
        # Whatever escapes is the finding, panics of compiled code included.
        except BaseException as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
        assert time.perf_counter() - started < SLOWEST, name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    assert failed
    assert tracemalloc.get_traced_memory()[1] < MAX_PEAK
    assert not (tmp_path / "pwned").exists()


def test_sound_checkpoint_gives_no_error(tmp_path: Path) -> None:
    write(tmp_path / "sound")
    checkpoint = open_checkpoint(tmp_path / "sound")
    assert read_every_tensor(checkpoint) == ""
    read_geometry(checkpoint.config)
