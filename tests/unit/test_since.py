"""The first version that honours a switch, and the words made of it."""

from __future__ import annotations

import pytest

from pytest_eagle_contract.contracts.remedies import entry
from pytest_eagle_contract.engines.registry import find
from pytest_eagle_contract.engines.since import honoured_since

LLAMA = "LlamaForCausalLMEagle3"


@pytest.mark.parametrize(
    ("spec", "switch", "wrapped", "since"),
    [
        ("sglang==0.5.11", "fc_norm", None, "0.5.12"),
        ("sglang==0.5.16", "norm_before_fc", None, "0.5.17"),
        ("sglang==0.5.23", "norm_before_residual", None, None),
        ("vllm==0.21.0:v1", "fc_norm", None, "0.22"),
        ("vllm==0.24.0:v1", "norm_output", "llama", "0.25"),
        ("vllm==0.32.0:v2", "use_aux_hidden_state", None, None),
        ("lmdeploy", "fc_norm", None, None),
    ],
)
def test_first_version_that_honours_a_switch(
    spec: str, switch: str, wrapped: str | None, since: str | None
) -> None:
    found = honoured_since(find(spec), None, LLAMA, wrapped)
    assert found.get(switch) == since


def test_an_entry_says_where_it_stands() -> None:
    assert entry("bias", "true") == '"bias": true at top level'
    nested = entry("eagle_config.norm_before_fc", "true")
    assert nested == '"norm_before_fc": true under eagle_config'
