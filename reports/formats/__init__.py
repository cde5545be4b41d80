"""Formats of a report: one module each, found by name, with its `FILE` and what `render(results)` has in it.

Its `MARKS` say by a pattern what the file holds that it writes, so that a file of somebody else's is no such
one; the formats that `certify` writes have none. One that holds several runs in one file has
`write_together(runs, folder)` instead of `render`, which returns the file. In the name of a format a hyphen
stands for the underscore of its module's.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.whole_files import write_bytes, write_text

if TYPE_CHECKING:  # so that the names of the formats are there at once, for --help
    from reports.results.case_results import Results


def list_formats() -> list[str]:
    """The names of the formats that there are."""
    return sorted(module.name.replace("_", "-") for module in iter_modules(__path__))


def write_format(name: str, results: Results, folder: Path) -> Path:
    """Write a run in a format into a folder; returns the file.

    Raises UserError on an unknown format, or where the folder cannot be written.
    """
    module = _find(name)
    if hasattr(module, "write_together"):
        written: Path = module.write_together([results], folder)
        return written
    path, said = folder / module.FILE, module.render(results)
    return write_bytes(path, said) if isinstance(said, bytes) else write_text(path, said)


def write_together(name: str, runs: Sequence[Results], folder: Path) -> list[Path]:
    """Write several runs in a format into a folder; returns the files.

    Where a format does not hold them all in one, each of several has a folder of its own. Errors as of
    `write_format`.
    """
    module = _find(name)
    if len(runs) == 1:
        return [write_format(name, runs[0], folder)]
    if hasattr(module, "write_together"):
        return [module.write_together(runs, folder)]
    from reports.overview.headline import runtime_label
    from reports.pages.report import run_keys

    keys = run_keys([runtime_label(run.record) for run in runs])
    return [write_format(name, run, folder / key) for run, key in zip(runs, keys, strict=True)]


def read_marks() -> dict[str, bytes]:
    """What the files of all formats hold, as patterns by the files' names."""
    return {file: mark for name in list_formats() for file, mark in getattr(_find(name), "MARKS", {}).items()}


def _find(name: str) -> ModuleType:
    if name not in list_formats():
        raise UserError(
            "unknown format of a report", got=repr(name), expected=f"one of {', '.join(list_formats())}"
        )
    return import_module(f"{__name__}.{name.replace('-', '_')}")
