"""Predict what an engine accepts, and judge accept lengths."""
