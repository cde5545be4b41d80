"""What the house comes to in figures, and that none of them grows.

    uv run python -m tools.house [--check | --update]

Prints of each figure what it is now, the most that `tools/house.yaml` allows, and what belongs to it.
With --check it names the figures that are worse than allowed, and answers with 1 where there are any;
with --update it writes the file. Less is better of each. The figures are of the files that git knows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from tools.house_figures import Figure, House, figures

HERE = Path(__file__).parents[1]
FILE_NAME = "tools/house.yaml"
_HEADER = "# Written by `python -m tools.house --update`: the most that each figure may be.\n"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--root", type=Path, default=HERE, help="another checkout")
    asked = parser.parse_args(words)
    file = asked.root / FILE_NAME
    found = list(figures(House(asked.root)))
    if asked.update:
        content = {figure.name: figure.value for figure in found}
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=200)
        file.write_text(_HEADER + text, encoding="utf-8")
    allowed = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for figure in found:
        most = allowed.get(figure.name, "-")
        print(f"{figure.name:50} {figure.value:>9} {most:>9}  {figure.beside}".rstrip())
    worse = list(_worse(found, allowed)) if asked.check else []
    for line in worse:
        print(line, file=sys.stderr)
    return 1 if worse else 0


def _worse(found: Sequence[Figure], allowed: Mapping[str, float]) -> Iterator[str]:
    """What is more than allowed, and what the file and the figures do not have both."""
    for figure in found:
        if figure.name not in allowed:
            yield f"{FILE_NAME} has no figure `{figure.name}`; write it with --update"
        elif figure.value > allowed[figure.name]:
            yield (
                f"{figure.name}: {figure.value}, more than the {allowed[figure.name]} of {FILE_NAME}. "
                "Make it less, or say in the change why it must be more and write it with --update"
            )
    for name in allowed.keys() - {figure.name for figure in found}:
        yield f"{FILE_NAME} has a figure `{name}` that nothing counts any more; write it with --update"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
