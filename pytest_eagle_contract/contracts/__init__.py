"""The shipped contracts."""
