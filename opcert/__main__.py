"""The program `opcert`, and `python -m opcert`: our packages are ours, whatever else has their names."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from opcert.vocabulary.errors import UserError

FOLDER = Path(__file__).resolve().parents[1]
PACKAGES = ("conformance", "generator", "reference", "reports", "specs")
MARK = '"""opcert: '
"""How the `__init__.py` of each of them begins."""


def main() -> NoReturn:
    """Run the command line."""
    try:
        take_own_packages()
    except UserError as error:
        from opcert.commands.failures import explain

        sys.exit(explain(error, sys.argv[1:]))
    from opcert.commands import main as run_command_line

    run_command_line()


def take_own_packages() -> None:
    """Have our packages imported from where `opcert` is; call this before any of them is.

    What lies in the current folder is not looked at, nor what is relative in PYTHONPATH; a folder with a
    package of the same name is looked at behind our own. Raises UserError where another distribution has
    written over ours.
    """
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    left_out = {_place(each) for each in ("", *given) if not Path(each).is_absolute()}
    own, behind = str(FOLDER), len(sys.path)
    path: list[str] = []
    for folder in sys.path:
        place = _place(folder)
        if place == own:
            behind = len(path)
        elif place not in left_out:
            path.append(folder)
    clashing = [each for each in path[:behind] if _has_a_package_of_ours(each)]
    sys.path[:] = [*(each for each in path[:behind] if each not in clashing), own, *clashing, *path[behind:]]
    for package in PACKAGES:
        _check(package)


def _place(folder: str) -> str:
    try:
        return os.path.realpath(folder)
    except OSError:  # the current folder is gone, which is said where the command begins
        return folder


def _has_a_package_of_ours(folder: str) -> bool:
    return any(Path(folder, f"{package}{end}").exists() for package in PACKAGES for end in ("", ".py"))


def _check(package: str) -> None:
    place = FOLDER / package / "__init__.py"
    try:
        with place.open("rb") as file:
            begin = file.read(len(MARK))
    except OSError:
        begin = b""
    if begin == MARK.encode():
        return
    owners = _owners(f"{package}/__init__.py")
    by = f" of {' and '.join(owners)}" if owners else ""
    raise UserError(
        f"the package `{package}` is not opcert's",
        got=f"{place}{by}" if place.exists() else f"no {place}",
        remedy="Install opcert in an environment of its own (uv tool install opcert), or uninstall what has "
        f"`{package}` too and then install opcert again.",
    )


def _owners(file: str) -> list[str]:
    """The other distributions of our folder that have installed a file of this name."""
    # Imported here, because only mistakes need it.
    from importlib import metadata

    found = []
    for distribution in metadata.distributions(path=[str(FOLDER)]):
        name = str(distribution.metadata["Name"])
        if name != "opcert" and any(str(path) == file for path in distribution.files or ()):
            found.append(f"{name} {distribution.version}")
    return sorted(found)


if __name__ == "__main__":
    main()
