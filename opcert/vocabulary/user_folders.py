"""The folders of the user's own: what is kept and can be made again, and what is theirs alone."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """`opcert` in XDG_CACHE_HOME, or in `~/.cache`."""
    return _folder("XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """`opcert` in XDG_STATE_HOME, or in `~/.local/state`."""
    return _folder("XDG_STATE_HOME", ".local/state")


def _folder(variable: str, default: str) -> Path:
    chosen = os.environ.get(variable, "")
    return (Path(chosen) if Path(chosen).is_absolute() else Path.home() / default) / "opcert"
