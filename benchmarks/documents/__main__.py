"""Measures the documents of one family: `python -m benchmarks.documents openvino [FOLDER]`."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import documents

_SHARED = Path(__file__).resolve().parents[2].parent / "shared"


def main(arguments: list[str]) -> int:
    """Print the measure of a family; the exit code is 2 where there is no such family or folder."""
    families = [each.name for each in pkgutil.iter_modules(documents.__path__) if each.name != "__main__"]
    if not arguments or arguments[0] not in families:
        print(f"usage: python -m benchmarks.documents {{{','.join(families)}}} [FOLDER]", file=sys.stderr)
        return 2
    folder = Path(arguments[1]) if len(arguments) > 1 else _SHARED
    if not folder.is_dir():
        print(f"no such folder: {folder}", file=sys.stderr)
        return 2
    print(import_module(f"benchmarks.documents.{arguments[0]}").report(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
