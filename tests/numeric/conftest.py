"""Collect this folder only where it is asked for: it needs torch, transformers and the trainers."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("EAGLE_NUMERIC") else ["test_*.py"]

# speculators compiles its forward, which takes a minute and a C++ compiler. Nothing reaches a hub.
os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Models this small are slower on several threads, by far where another process has the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
