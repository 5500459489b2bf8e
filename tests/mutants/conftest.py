from __future__ import annotations

import sys
from pathlib import Path

# The fault tables lie in fixtures/, which is no part of the installed package.
sys.path.insert(0, str(Path(__file__).parents[2]))
