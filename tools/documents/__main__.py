"""Measures the documents of one family: `python -m tools.documents openvino`."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module

from tests.documents.gathering import passing_documents
from tools import documents


def main(arguments: list[str]) -> int:
    """Print the measure of a family; the exit code is 2 where there is no such family."""
    families = [each.name for each in pkgutil.iter_modules(documents.__path__) if each.name != "__main__"]
    if not arguments or arguments[0] not in families:
        print(f"usage: python -m tools.documents {{{','.join(families)}}}", file=sys.stderr)
        return 2
    with passing_documents() as found:
        print(import_module(f"tools.documents.{arguments[0]}").report(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
