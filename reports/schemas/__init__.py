"""JSON Schemas of what this package writes for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load_schema(name: str) -> dict[str, Any]:
    """The schema of a name, `report` for one; raises FileNotFoundError where there is none."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
    return found
