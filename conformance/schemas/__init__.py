"""JSON Schemas: suite manifests, the lines of run records, explanations, headers of the worker protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load_schema(name: str) -> dict[str, Any]:
    """The schema `manifest`, `header`, `result`, `footer`, `explanations` or `worker_protocol`."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
    return found
