"""What a worker must not read: right answers, wherever opcert knows of them; and what of it must be seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from opcert.vocabulary.user_folders import cache_folder, state_folder

ENVIRONMENTS = "environments"
"""The folder of the user's cache from which runtimes run."""
_OUT = "out"
_OF_A_SUITE = ("manifest.json", "known.json", "goldens")


def files_with_answers(*places: Path | None) -> tuple[Path, ...]:
    """What is hidden where somebody names these places: a suite, a record, a folder of specs or results.

    Of the folder of a suite its own files alone: a worker may lie beside them. A record goes with the files
    of outputs beside it. A place that is not there, or that the caller works in, hides nothing.
    """
    found: list[Path] = []
    for each in filter(None, places):
        if each.is_dir() and (each / _OF_A_SUITE[0]).is_file():
            found += [each / name for name in _OF_A_SUITE]
        elif each.is_dir() and not _is_around(each):
            found.append(each)
        elif each.is_file():
            found += [each, each.with_name(f"{each.name}.outputs")]
    return tuple(found)


def _is_around(folder: Path) -> bool:
    try:
        return Path.cwd().resolve().is_relative_to(folder.resolve())
    except OSError:  # the folder of the caller is gone
        return False


def hidden_places(named: Iterable[Path]) -> list[str]:
    """All that is hidden: what is named, the user's cache and secret, and `out` of the caller's folder."""
    every = (cache_folder(), state_folder(), Path(_OUT), *named)
    return sorted({os.path.realpath(each) for each in every if each.exists()})


def shown_places(folder: Path, command: Sequence[str], more: Iterable[str]) -> list[str]:
    """What is seen of the hidden: a worker's own folder, the environments, its program and what it is given.

    `more` are folders that it finds its modules in.
    """
    program = Path(command[0])
    places = [folder, cache_folder() / ENVIRONMENTS, *map(Path, command), *map(Path, more)]
    if (program.parent.parent / "pyvenv.cfg").is_file():
        places.append(program.parent.parent)
    absolute = [os.path.abspath(each) for each in places if each.is_absolute() and each.exists()]  # noqa: PTH100
    return sorted({*absolute, *map(os.path.realpath, absolute)})
