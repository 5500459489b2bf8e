"""The target model through transformers: load it, run it, capture its hidden states."""
