"""What transformers makes of a config's rotary settings before an engine sees them.

Before 5 it filled in nothing, and what an engine then lacks is a KeyError or ValueError there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BEFORE_5: Mapping[str, Any] = {
    "rope_tables": ("rope_scaling",),  # rope_parameters is a key like any other
    "rope_base": ("top level",),
    "rope_type_absent": "error",
    "rope_original_absent": "error",
}
CLASS_4 = "transformers 4.57.1 models/llama/configuration_llama.py:LlamaConfig.__init__"

SINCE_5: Mapping[str, Any] = {
    # Both become one table, and a written rope_scaling wins.
    "rope_tables": ("rope_scaling", "rope_parameters"),
    "rope_base": ("table", "top level"),
    "rope_type_absent": "default",
    "rope_original_absent": "max_position_embeddings",
}
MIXIN_5 = "transformers 5.12.1 modeling_rope_utils.py:RotaryEmbeddingConfigMixin"
