"""Python files that the specs of a user name: run, because the user named their folder, and only then."""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from opcert.vocabulary.errors import OpcertError, Place, UserError


@cache
def load_module(path: Path) -> ModuleType:
    """The module in that file, run once for a process; raises UserError, with the line, where it fails."""
    name = f"opcert_user_module_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    found = spec_from_file_location(name, path)
    if found is None or found.loader is None:
        raise UserError("not a Python file", where=Place(str(path)))
    module = module_from_spec(found)
    # Type hints are resolved by the name of their module.
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except Exception as error:  # the user's code may raise anything, and the user is told
        del sys.modules[name]
        raise UserError(
            "a module that a spec names cannot be loaded",
            got=f"{type(error).__name__}: {error}",
            where=Place(str(path), _line(error, path)),
        ) from error
    return module


@contextmanager
def mistakes_of(module: Path | None) -> Iterator[None]:
    """Tell what goes wrong while a user's module is at work as its mistake, with the line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if module is None:
            raise
        told = str(error) if isinstance(error, OpcertError) else f"{type(error).__name__}: {error}"
        said = " ".join([told, *getattr(error, "__notes__", ())])
        raise UserError(
            "a module that a spec names makes a mistake",
            got=said,
            where=Place(str(module), _line(error, module)),
        ) from error


def _line(error: Exception, path: Path) -> int | None:
    """The last line of that file that led to an error."""
    if isinstance(error, SyntaxError):
        return error.lineno
    lines = [
        frame_summary.lineno
        for frame_summary in traceback.extract_tb(error.__traceback__)
        if frame_summary.filename == str(path)
    ]
    return lines[-1] if lines else None
