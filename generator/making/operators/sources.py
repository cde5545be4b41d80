"""What an operator's part of a suite is made from, as digests: its spec, and the code that makes its cases.

Of an opcert that is installed, all of its code counts for every operator: that changes with a release alone.
In a checkout, the code counts that is imported to make the operator's cases, so that an edit makes again no
more than it may concern; to know that, this code is parsed, once a process.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import conformance
import generator
import opcert.vocabulary
import reference
import specs
from conformance.suite.canonical import canonical_json, sha256
from generator.asking.named_operators import REFERENCES, reference_module_of
from generator.making.operators.discovery import newer_versions
from generator.making.operators.opsets import default_operators
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import FileState, file_state
from opcert.vocabulary.yaml_files import load_file
from specs.files.declarations import find_declaration
from specs.files.shared_readings import FILE_NAME as READINGS
from specs.files.shared_readings import named_in, read_shared
from specs.files.spec_folders import (
    DECLARATION,
    OWN_FOLDER,
    PARTS,
    REGRESSIONS,
    SEARCHED,
    find_facts,
    find_part,
    find_room,
    group_file,
    room_of,
)
from specs.files.stated_values import group_of, parts_used

_DECLARED = (DECLARATION, SEARCHED)


def spec_files(operator: OperatorName, folders: Sequence[Path] = ()) -> dict[str, Path]:
    """The files of an operator's spec that its cases depend on, by their place in its room.

    Parts that the declaration uses are `parts/<part>.yaml`, the file of its group `groups/<group>.yaml`.
    Raises UserError for an unknown operator; what is wrong in files, their readers say.
    """
    facts = find_facts(operator, folders)
    own = (facts, *_calls(operator, facts.parent))
    found = {path.relative_to(facts.parent).as_posix(): path for path in own}
    every = (*folders, OWN_FOLDER)
    declaration = find_declaration(operator, every)
    if declaration is not None:
        # What the search for calls learned lies beside it.
        beside = (declaration.with_name(name) for name in _DECLARED)
        found.update((path.name, path) for path in beside if path.is_file())
        found.update((f"{path.parent.name}/{path.name}", path) for path in _shared(declaration, every))
    return found


def _calls(operator: OperatorName, room: Path) -> list[Path]:
    """The kept calls of a room that are about an operator version, by what they say of themselves."""
    wanted = re.compile(rb'"operator":\s*"%s"' % re.escape(str(operator)).encode())
    found = sorted((room / REGRESSIONS).glob("*.json"))
    return [path for path in found if wanted.search(path.read_bytes())]


def named_readings(files: Iterable[Path]) -> list[str]:
    """The ids of shared readings that a spec's files name, in order; of no damaged file.

    What documents say is not looked at: they name none.
    """
    written = [path for path in files if path.name == DECLARATION or PARTS in path.parts[-3:-1]]
    groups = [group for path in written for group in named_in(_content(path)).values()]
    return sorted({name for group in groups for name in group.values()})


def _shared(declaration: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """The file of a declaration's group, the parts that it uses, and those that these use."""
    seen: set[Path] = set()
    pending = [declaration]
    while pending:
        path = pending.pop()
        content = _content(path)
        if not isinstance(content, dict):
            continue
        try:
            group, used = group_of(path), parts_used(content, path)
        except OpcertError:
            continue  # a damaged group, of which whoever loads the spec says what is wrong
        if group is not None and (file := group_file(path, group)).is_file():
            yield file
        for name in used:
            part = find_part(str(name), folders, path)
            if part is not None and part not in seen:
                seen.add(part)
                pending.append(part)
                yield part


def _content(path: Path) -> Any:
    """What a file holds; None where it cannot be read, which whoever loads the spec says with its place."""
    try:
        documents = load_file(path)
    except OpcertError:
        return None
    return documents[0].value if documents else None


DIGITS = 16


def digest_of_file(path: Path) -> str:
    """The digest of a file as it is now; one that has its time, size and place still is not read again."""
    return _digest_of_file(path, file_state(path))


def imports_of(path: Path) -> tuple[str, ...]:
    """The modules that a file of Python imports, as `imported_names` has them; cached as its digest is."""
    return _imports_of(path, file_state(path))


@lru_cache(maxsize=4096)
def _digest_of_file(path: Path, _: FileState | None) -> str:
    return digest_of([path])


@lru_cache(maxsize=4096)
def _imports_of(path: Path, _: FileState | None) -> tuple[str, ...]:
    return imported_names(path.read_text(encoding="utf-8", errors="replace"))


def digest_of(files: Iterable[Path]) -> str:
    """A digest of files' contents, whatever the line ends of the checkout."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0")
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:DIGITS]


def imported_names(code: str) -> tuple[str, ...]:
    """The modules that code names in its imports, wherever these stand; names that are no modules among them.

    Where code lists the modules of a package (`package.__path__`), it is `package.*`, of its own one `.*`.
    Code that is no Python imports nothing.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return ()
    return tuple(dict.fromkeys(name for node in ast.walk(tree) for name in _names_in(node)))


def _names_in(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str(module)):
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        case ast.Attribute(attr="__path__"):
            yield f"{ast.unparse(node.value)}.*"
        case ast.Name(id="__path__"):
            yield ".*"


def modules_under(folder: Path, package: str) -> Mapping[str, Path]:
    """The files of a package's modules by their names, itself and all in it; none where it is not there."""
    found: dict[str, Path] = {}
    pending = [(package, str(folder))] if folder.is_dir() else []
    while pending:
        name, place = pending.pop()
        with os.scandir(place) as inside:
            for entry in inside:
                if entry.name == "__init__.py":
                    found.setdefault(name, Path(entry.path))
                elif entry.name.endswith(".py"):
                    found[f"{name}.{entry.name[:-3]}"] = Path(entry.path)
                elif entry.name.isidentifier() and entry.name != "__pycache__" and entry.is_dir():
                    pending.append((f"{name}.{entry.name}", entry.path))
    return found


ROOT = Path(specs.__file__).parents[1]
"""The folder that all of our packages lie in."""
_PACKAGES = {
    package.__name__: Path(package.__path__[0])
    for package in (conformance, generator, opcert.vocabulary, reference, specs)
}
"""The packages whose code has a say in what cases are."""
_PROJECT = "pyproject.toml"
MAKING = "generator.making.suites.operator_cases"
"""The module that makes an operator's cases: what it imports counts."""
_OWN_FILES = (".yaml", ".json", ".py")
_MEASURED = ("adequacy-", "agreement-")
"""Beginnings of files that say what was measured of cases."""


@dataclass(frozen=True)
class Sources:
    """What an operator's cases are made from: digests of its spec by file, and of the code."""

    specs: Mapping[str, str]
    code: str

    @property
    def digest(self) -> str:
        return sha256(canonical_json([dict(self.specs), self.code]))


class SourceReader:
    """Tells what operators are made from; what several of them share is read once."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folders)
        self._every = (*self._folders, OWN_FOLDER)
        self._shared: Mapping[str, object] | None = None
        self._own: list[Path] | None = None
        self._code: dict[frozenset[str], str] = {}

    def sources_of(self, operator: OperatorName) -> Sources:
        """What one operator is made from; UserError where it has no spec, or a shared reading is damaged."""
        start = self._start(operator) if _is_checkout() else frozenset[str]()
        if start not in self._code:
            files = self.code_of(operator) if start else code_files()
            self._code[start] = digest_of_many(files)
        return Sources(self.spec_digests(operator), self._code[start])

    def code_of(self, *operators: OperatorName) -> list[Path]:
        """The modules of ours that are imported to make operators' cases, and nothing else."""
        return self.imported_files(frozenset[str]().union(*map(self._start, operators)))

    def _start(self, operator: OperatorName) -> frozenset[str]:
        """The modules that the making of an operator's cases begins with; of several operators the same."""
        named = reference_module_of(operator, self._folders)
        own = self._own_imports if self.own_code(operator) else ()
        return frozenset((MAKING, *([named] if named is not None else []), *own))

    @cached_property
    def _own_imports(self) -> tuple[str, ...]:
        return tuple(name for path in self._own or () for name in imports_of(path))

    @cached_property
    def _modules(self) -> Mapping[str, Path]:
        """The file of each of our modules, by its name."""
        return {
            name: path
            for package, folder in _PACKAGES.items()
            for name, path in modules_under(folder, package).items()
        }

    def imported_files(self, start: Iterable[str]) -> list[Path]:
        """The files of these modules, and of all of ours that they import, directly or not.

        Whoever lists a package's modules imports them all, but for references: each operator has its own.
        """
        found: set[Path] = set()
        seen: set[str] = set()
        pending = list(start)
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if name.endswith(".*") and name != f"{REFERENCES}.*":
                package = name.removesuffix("*")
                pending += [module for module in self._modules if module.rpartition(".")[0] == package[:-1]]
            elif name in self._modules:
                path = self._modules[name]
                found.add(path)
                pending += [f"{name}.*" if each == ".*" else each for each in imports_of(path)]
        return sorted(found)

    def spec_digests(self, operator: OperatorName) -> dict[str, str]:
        """Digests by file; of newer versions as well, whose calls an older one takes over."""
        newer = newer_versions(operator, self._folders)
        files = {
            name: path
            for each in (*newer, operator)
            for name, path in spec_files(each, self._folders).items()
        }
        found = {name: digest_of_file(path) for name, path in files.items()}
        found.update((name, digest_of_file(path)) for name, path in self._own_files(operator).items())
        for name in named_readings(files.values()):
            if self._shared is None:
                self._shared = {each: one.model_dump() for each, one in read_shared(self._every).items()}
            if name in self._shared:
                found[f"{READINGS}: {name}"] = sha256(canonical_json(self._shared[name]))[:DIGITS]
        return found

    def _own_files(self, operator: OperatorName) -> dict[str, Path]:
        """What a user's modules may read: all in the operator's folder, and the code in all folders."""
        code = self.own_code(operator)
        if not code:
            return {}
        folder = find_room(operator, self._folders)
        beside = [path for path in folder.rglob("*") if path.suffix in _OWN_FILES]
        return {_place(path, self._folders): path for path in sorted({*code, *beside})}

    def own_code(self, operator: OperatorName) -> list[Path]:
        """The Python files of folders of specs, where the operator is in one: its modules may import any."""
        if not self._folders or find_room(operator, self._folders).is_relative_to(OWN_FOLDER):
            return []
        if self._own is None:
            self._own = sorted(path for folder in self._folders for path in folder.rglob("*.py"))
        return self._own


def code_files() -> list[Path]:
    """The files of all code that has a say in what cases are."""
    found = (modules_under(folder, package).values() for package, folder in _PACKAGES.items())
    return sorted(path for files in found for path in files)


def digest_of_many(files: Iterable[Path]) -> str:
    """A digest of the digests of files."""
    return hashlib.sha256("".join(map(digest_of_file, files)).encode()).hexdigest()[:DIGITS]


def _is_checkout() -> bool:
    """Whether the code that runs lies in a checkout of the project, where it may be edited."""
    return any((folder / _PROJECT).is_file() for folder in Path(specs.__file__).parents[1:3])


def sources_digest(folders: Sequence[Path] = (), operators: Sequence[OperatorName] = ()) -> str:
    """A digest of all that the default suite is made from: specs, and code.

    With folders of specs, of all that the suite of their operators is made from; with operators that ship,
    of all that the suite of these is. It is of more files than matter: nothing is parsed for it. What
    was measured of cases is none of them.
    """
    shipped = operators or default_operators()
    rooms = {room_of(operator, OWN_FOLDER) for operator in shipped}
    data = {path for room in rooms for path in room.rglob("*.*") if _makes_cases(path)}
    data.update(
        path for form in ("*/*/spec.yaml", "parts/**/*.yaml", READINGS) for path in OWN_FOLDER.glob(form)
    )
    own = {path for folder in folders for path in folder.rglob("*") if _makes_cases(path)}
    digest = digest_of([*code_files(), *sorted(data), *sorted(own)])
    if not operators:
        return digest
    return hashlib.sha256(" ".join([digest, *map(str, operators)]).encode()).hexdigest()[:DIGITS]


def _makes_cases(path: Path) -> bool:
    return path.suffix in _OWN_FILES and not (path.suffix == ".json" and path.name.startswith(_MEASURED))


def _place(path: Path, folders: Sequence[Path]) -> str:
    """Where a file lies in the folder of specs that holds it, and which of the folders that is."""
    number, folder = next((at, each) for at, each in enumerate(folders) if path.is_relative_to(each))
    return f"{number}/{path.relative_to(folder).as_posix()}"
