"""Writes the docstrings of the list: `python -m tests.documents.docstrings FOLDER [PACKAGE]`.

FOLDER gets a file for each operator of the list; PACKAGE is the folder `tensorflow` of an environment with
tensorflow-cpu 2.21.0, by default of the one that `opcert run tensorflow` keeps. Nothing of the package is
run, its sources are read.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path, PurePosixPath

from conformance.runtimes.environments import environments_folder
from specs.documents.packages.dump_tensorflow import docstrings, parameters
from tests.documents.gathering import read_digests

RELEASE = "tensorflow_cpu-2.21.0"


def write_docstrings(package: Path, folder: Path) -> list[Path]:
    """Write each docstring below three lines that say where it stands; KeyError where one lacks."""
    found = docstrings(package)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for place in sorted(digest for digest in read_digests() if digest.startswith("tensorflow/")):
        source, function, text = found[PurePosixPath(place).stem]
        defaults = [ast.unparse(default) for default in function.args.defaults]
        head = (
            f"# op: {PurePosixPath(place).stem}\n# source: {RELEASE} {source}\n"
            f"# signature: {function.name}({', '.join(parameters(function))}) defaults={defaults}\n\n"
        )
        written.append(folder / PurePosixPath(place).name)
        written[-1].write_text(f"{head}{text}\n", encoding="utf-8", newline="\n")
    return written


def kept_package() -> Path | None:
    """The folder of TensorFlow in the environment that is kept for it, where there is one."""
    kept = environments_folder().glob("tensorflow-cpu-*/*/lib/python3*/site-packages/tensorflow")
    return next((path for path in sorted(kept) if (path.parent / f"{RELEASE}.dist-info").is_dir()), None)


def main(arguments: list[str]) -> int:
    """Write them; the exit code is 2 where something is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.documents.docstrings", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("package", nargs="?", type=Path, metavar="PACKAGE")
    asked = parser.parse_args(arguments)
    package: Path | None = asked.package or kept_package()
    if package is None or not (package.parent / f"{RELEASE}.dist-info").is_dir():
        parser.error(f"PACKAGE names the folder of an installed tensorflow, with {RELEASE}.dist-info beside")
    print(f"{len(write_docstrings(package, asked.folder))} docstrings of {package}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
