"""Executable contracts between EAGLE-3 trainers and inference engines."""

__version__ = "0.1.0"
