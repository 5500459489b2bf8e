"""Collect this folder only where it is asked for: it needs the trainers themselves."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("EAGLE_EXPORTS") else ["test_exports.py"]
