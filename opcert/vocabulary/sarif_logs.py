"""What every SARIF 2.1.0 log has: code hosts and editors show what `lint` and `check` find."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from opcert.vocabulary.harmless import for_json

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
Entry = dict[str, Any]
"""An object of the log, ready for JSON."""


def render_log(runs: Sequence[Entry]) -> str:
    """The whole document."""
    return for_json({"$schema": SCHEMA, "version": "2.1.0", "runs": list(runs)}, indent=2) + "\n"


def tool_of(rules: Sequence[Entry]) -> Entry:
    """Who says it, and the rules that results name by their place."""
    return {"driver": {"name": "opcert", "version": version("opcert"), "rules": list(rules)}}


def uri_of(path: str) -> str:
    """A file as a reference that SARIF takes: relative with `/`, or a `file:` URI."""
    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(PurePath(path).as_posix())


def fingerprints(*parts: str) -> dict[str, str]:
    """By what a result is the same in another log."""
    return {"opcert/v1": hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]}
