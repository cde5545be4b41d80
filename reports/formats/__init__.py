"""Formats of a report: one module each, found by name; its `write(results, folder)` returns the file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from opcert.errors import UserError

if TYPE_CHECKING:  # so that the names of the formats are there at once, for --help
    from reports.results import Results


def list_formats() -> list[str]:
    """The names of the formats that there are."""
    return sorted(each.name for each in iter_modules(__path__))


def write_format(name: str, results: Results, folder: Path) -> Path:
    """Write a run in a format into a folder; returns the file. Raises UserError on an unknown format."""
    if name not in list_formats():
        raise UserError(
            "unknown format of a report", got=repr(name), expected=f"one of {', '.join(list_formats())}"
        )
    written: Path = import_module(f"{__name__}.{name}").write(results, folder)
    return written
