from __future__ import annotations

import pytest

from pytest_eagle_contract.report.command import repeat


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("--eagle-ckpt=a --eagle-engine=vllm", "--eagle-ckpt=a --eagle-engine=vllm"),
        ("-n 2 --eagle-ckpt a", "--eagle-ckpt a"),
        ("-n2 -nauto --numprocesses 2 --numprocesses=2 --dist loadfile", ""),
        ("-v -vv -q -qq -vq --verbose --quiet --verbosity=2", ""),
        ("-k old -kold", ""),
        ("--eagle-report=json=a.json --eagle-report md=b.md --junitxml=c", ""),
        ("-p no:cacheprovider -x -rA --tb=short", "-p no:cacheprovider -x -rA --tb=short"),
        ("tests --eagle-suite -m eagle_contract", "tests --eagle-suite -m eagle_contract"),
        ("--eagle-num-steps=3 --nothing", "--eagle-num-steps=3 --nothing"),
        ("-n", ""),
    ],
)
def test_keeps_what_decides_the_outcome(given: str, kept: str) -> None:
    expected = " ".join(["pytest", *kept.split(), "-k", "layers.engine"])
    assert repeat(given.split(), "layers.engine") == expected


def test_quotes_what_a_shell_would_split() -> None:
    given = ["--eagle-ckpt=my draft", "--eagle-engine=vllm>=0.30"]
    assert repeat(given, "mapping.mask") == (
        "pytest '--eagle-ckpt=my draft' '--eagle-engine=vllm>=0.30' -k mapping.mask"
    )
