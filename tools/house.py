"""What the house comes to in figures, and that none of them grows.

    uv run python -m tools.house [--check | --update]

Prints of each figure what it is now, the most that `tools/house.yaml` allows, and what belongs to it.
With --check it names the figures that are worse than allowed, and answers with 1 where there are any;
with --update it writes the file. Less is better of each. The figures are of the files that git knows.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import grimp
import yaml

PACKAGES = ("conformance", "generator", "opcert", "reference", "reports", "specs")
BESIDE = ("tools", "benchmarks")
SHORT = 60
"""A module of fewer lines is short."""
LONG_LINE = 160
GENERATED_PAGES = ("adequacy", "agreement", "differences", "operators", "runtimes", "upstream")
"""Pages of docs/tables/ that a command writes as a whole."""
RESIZING = re.compile(r"resiz|upsampl|interpolation/", re.IGNORECASE)
"""In the path of a file outside tests: Python, or the `spec.yaml` of a room."""
_Node = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.Constant
_WORD = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Figure:
    """A number of which less is better; what else belongs to it, in words."""

    name: str
    value: float
    beside: str = ""


class House:
    """The files of a checkout that git knows, and what its Python says. Paths are relative to `root`."""

    def __init__(self, root: Path) -> None:
        words = ["git", "ls-files", "-z"]
        listed = subprocess.run(words, cwd=root, check=True, capture_output=True).stdout
        self.root = root
        self.files = [name for name in listed.decode().split("\0") if name and (root / name).is_file()]

    def lines(self, name: str) -> list[bytes]:
        return (self.root / name).read_bytes().splitlines()

    def python(self, folders: Sequence[str]) -> Iterator[str]:
        """The Python files in folders, at any depth."""
        return (name for name in self.files if name.endswith(".py") and name.partition("/")[0] in folders)

    @cached_property
    def nodes(self) -> dict[str, list[_Node]]:
        """The classes, functions, assignments and constants of each Python file of the packages."""
        trees = {name: ast.parse((self.root / name).read_bytes()) for name in self.python(PACKAGES)}
        return {
            name: [node for node in ast.walk(tree) if isinstance(node, _Node)] for name, tree in trees.items()
        }

    @cached_property
    def modules(self) -> list[str]:
        """The Python files of the packages that are modules of their own, no `__init__`."""
        return [name for name in self.python(PACKAGES) if not name.endswith("__init__.py")]

    @cached_property
    def graph(self) -> grimp.ImportGraph:
        """Who imports whom in the packages that are here; imports within functions count."""
        sys.path.insert(0, str(self.root))
        packages = [name for name in PACKAGES if f"{name}/__init__.py" in self.files]
        return grimp.build_graph(*packages, cache_dir=None)


def figures(house: House) -> Iterator[Figure]:
    """Every figure, in the order in which they are printed."""
    yield _python_lines(house)
    yield from _knotted_rooms(house)
    yield from _small_modules(house)
    yield from _kinds(house)
    yield _shared_class_names(house)
    yield _spelled_verdicts(house)
    yield _counted("lines of JSON in git", house, [name for name in house.files if name.endswith(".json")])
    yield _counted("lines of Resize and Upsample", house, _of_resizing(house))
    yield from _markdown(house)
    yield _long_functions(house)
    yield from _operator_path(house)


def _counted(name: str, house: House, files: Sequence[str]) -> Figure:
    return Figure(name, sum(len(house.lines(file)) for file in files), f"{len(files)} files")


def _python_lines(house: House) -> Figure:
    counted = {
        folder: sum(len(house.lines(name)) for name in house.python([folder]))
        for folder in (*PACKAGES, *BESIDE)
    }
    parts = ", ".join(f"{folder} {lines}" for folder, lines in counted.items())
    return Figure("lines of Python outside tests", sum(counted.values()), parts)


def _knotted_rooms(house: House) -> Iterator[Figure]:
    """Of each package, its rooms, and the rooms in these, that import one another in a circle.

    Modules beside rooms are a room of their own, `.`.
    """
    edges: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module in house.graph.modules - set(PACKAGES):
        imported = house.graph.find_modules_directly_imported_by(module)
        for outer, room in _rooms(house, module):
            others = {
                other for name in imported for its_outer, other in _rooms(house, name) if its_outer == outer
            }
            edges[outer][room] |= others - {room}
    for package in PACKAGES:
        among = {
            outer: rooms
            for outer, rooms in edges.items()
            if outer.partition(".")[0] == package and rooms.keys() != {"."}
        }
        inside = sorted(
            f"{outer}.{room}".removeprefix(f"{package}.")
            for outer, rooms in among.items()
            for room in rooms
            if room in _reached(rooms, room)
        )
        beside = f"of {sum(map(len, among.values()))} {' '.join(inside)}".strip()
        yield Figure(f"rooms of {package} in a circle", len(inside), beside)


def _rooms(house: House, module: str) -> Iterator[tuple[str, str]]:
    """The rooms in which a module stands, each with the package or room around it; none of a package."""
    outer, *inner = module.split(".")
    while inner:
        room = inner.pop(0)
        is_room = f"{outer}.{room}".replace(".", "/") + "/__init__.py" in house.files
        yield outer, room if is_room else "."
        outer = f"{outer}.{room}"


def _reached(rooms: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    pending = [start]
    while pending:
        new = rooms[pending.pop()] - reached
        reached |= new
        pending.extend(new)
    return reached


def _small_modules(house: House) -> Iterator[Figure]:
    """What only one other module imports, and what is short: percent of all modules but `__init__`."""
    names = [name.removesuffix(".py").replace("/", ".") for name in house.modules]
    lonely = [name for name in names if len(house.graph.find_modules_that_directly_import(name)) == 1]
    short = [name for name in house.modules if len(house.lines(name)) < SHORT]
    for told, found in (
        ("percent of modules that one other imports", lonely),
        (f"percent of modules under {SHORT} lines", short),
    ):
        percent = round(100 * len(found) / max(1, len(names)), 1)
        yield Figure(told, percent, f"{len(found)} of {len(names)}")


def _kinds(house: House) -> Iterator[Figure]:
    """The kinds that there are, and those that the declaration of one operator alone names."""
    kinds = {
        Path(name).stem for name in house.modules if Path(name).parent.as_posix() == "generator/calls/kinds"
    }
    users: dict[str, list[str]] = {kind: [] for kind in kinds}
    for name in house.files:
        path = Path(name)
        if path.parts[0] == "specs" and (path.name == "spec.yaml" or path.parts[1] == "parts"):
            content = yaml.load((house.root / name).read_bytes(), Loader=yaml.CSafeLoader)
            declared = content.get("kinds") if isinstance(content, dict) else None
            for kind in kinds & {word for text in _texts(declared) for word in _WORD.findall(text)}:
                users[kind].append(name)
    alone = [kind for kind, names in users.items() if len(names) == 1 and names[0].endswith("/spec.yaml")]
    yield Figure("kinds", len(kinds))
    yield Figure("kinds that one operator alone uses", len(alone))


def _texts(content: Any) -> Iterator[str]:
    """The values within a tree of YAML, without the names that they stand under."""
    if isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from _texts(part)
    else:
        yield str(content)


def _shared_class_names(house: House) -> Figure:
    names = [node.name for nodes in house.nodes.values() for node in nodes if isinstance(node, ast.ClassDef)]
    public = Counter(name for name in names if not name.startswith("_"))
    shared = [name for name, count in public.most_common() if count > 1]
    beside = f"of {len(public)} {' '.join(shared[:6])}".strip()
    return Figure("class names that occur more than once", len(shared), beside)


def _spelled_verdicts(house: House) -> Figure:
    """Modules in which a whole text is the word of a verdict, as `rejected_valid` is.

    The words are those of the Literal that the packages call `Verdict`; of them those with an underscore
    count, since `pass` or `limit` mean other things as well.
    """
    assigned = (node for nodes in house.nodes.values() for node in nodes if isinstance(node, ast.Assign))
    verdicts = [
        node.value for node in assigned if [ast.unparse(target) for target in node.targets] == ["Verdict"]
    ]
    constants = [node for verdict in verdicts for node in ast.walk(verdict) if isinstance(node, ast.Constant)]
    words = {str(node.value) for node in constants if "_" in str(node.value)}
    spelling = [
        name
        for name, nodes in house.nodes.items()
        if any(isinstance(node, ast.Constant) and node.value in words for node in nodes)
    ]
    return Figure("modules that spell a verdict out", len(spelling), " ".join(sorted(words)))


def _of_resizing(house: House) -> list[str]:
    return [
        name
        for name in house.files
        if RESIZING.search(name) and not name.startswith("tests/") and name.endswith((".py", "/spec.yaml"))
    ]


def _markdown(house: House) -> Iterator[Figure]:
    lines = {name: house.lines(name) for name in house.files if name.endswith(".md")}
    every = [line for found in lines.values() for line in found]
    yield Figure("lines of Markdown in git", len(every), f"{len(lines)} files")
    long = sum(len(line.decode("utf-8")) > LONG_LINE for line in every)
    yield Figure(f"lines of Markdown with more than {LONG_LINE} characters", long)
    pages = {name: len(lines.get(f"docs/tables/{name}.md", ())) for name in GENERATED_PAGES}
    longest = max(pages, key=lambda name: pages[name])
    yield Figure("lines of the longest generated page", pages[longest], f"docs/tables/{longest}.md")


def _long_functions(house: House) -> Figure:
    found = [
        ((node.end_lineno or node.lineno) - node.lineno + 1, node.name, name)
        for name, nodes in house.nodes.items()
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    longest = sorted(found, key=lambda entry: (-entry[0], entry[1:]))[:10]
    beside = ", ".join(f"{name} {lines}" for lines, name, _ in longest)
    return Figure("lines of the ten longest functions", sum(lines for lines, _, _ in longest), beside)


def _operator_path(house: House) -> Iterator[Figure]:
    """What `tools.operator_path` prints, where the checkout has it: it runs the checkout's own generator."""
    if "tools/operator_path.py" in house.files:
        words = [sys.executable, "-m", "tools.operator_path"]
        told = subprocess.run(words, cwd=house.root, check=True, capture_output=True, text=True).stdout
        files, back = (int(number) for number in told.split())
        yield Figure("files that an operator's name goes through", files)
        yield Figure("steps of it back to a file", back)


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
