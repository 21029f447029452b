"""The pytest plugin that gives tests their services before settings are read.

Without addresses in the environment it starts embedded ones below var/test, apart from those of `make run`.
"""

import os
from pathlib import Path

_BASE_DIR = Path(__file__).resolve().parent.parent

os.environ.setdefault("LARKFIELD_DATA_DIR", str(_BASE_DIR / "var" / "test"))
os.environ["LARKFIELD_ENV"] = "development"
# Tests say where their simulator is; nothing listens here.
os.environ.setdefault("PROVIDER_BASE_URL", "http://127.0.0.1:9/v1")
