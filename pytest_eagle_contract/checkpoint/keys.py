"""Keys of config.json that trainers write and engines read, each at its two places."""

from __future__ import annotations

TOP_IDS = "eagle_aux_hidden_state_layer_ids"
NESTED_IDS = f"eagle_config.{TOP_IDS}"
USE_AUX = "eagle_config.use_aux_hidden_state"
