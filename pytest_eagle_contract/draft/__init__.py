"""The reference EAGLE-3 draft in PyTorch."""
