"""What an operator's part of a suite is made from, as digests: its spec, its reference, the other code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import specs
from conformance.suite.canonical import canonical_json, sha256
from generator.making.named_operators import known_operators, reference_module_of
from generator.making.newer_versions import newer_versions
from generator.making.opsets import default_operators
from generator.making.source_files import DIGITS, digest_of, imported_names, modules_under, read_source
from opcert.vocabulary.names import OperatorName
from specs.shared_readings import FILE_NAME as READINGS
from specs.shared_readings import read_shared
from specs.spec_files import named_readings, spec_files
from specs.spec_folders import OWN_FOLDER, SEARCHED, find_room, room_of

ROOT = Path(specs.__file__).parents[1]
"""The folder that all of our packages lie in."""
_CODE = ("generator", "specs", "conformance", "opcert", "reference")
_REFERENCE = "reference"
MAKING = "generator.making.operator_cases"
"""The module that makes an operator's cases: what it imports counts."""
_FOUND_BY_NAME = {
    MAKING: "generator.families",
    "generator.spaces.declared_kinds": "generator.kinds",
    "specs.functions": "specs.functions",
}
"""Modules that import all of a package, by the names of its files."""
_OWN_FILES = (".yaml", ".json", ".py")
_MEASURED = ("adequacy-", "agreement-")
"""Beginnings of files that say what was measured of cases."""


@dataclass(frozen=True)
class Sources:
    """What an operator's cases are made from: digests of its spec by file, its reference, the other code."""

    specs: Mapping[str, str]
    reference: str
    generator: str

    @property
    def digest(self) -> str:
        return sha256(canonical_json([dict(self.specs), self.reference, self.generator]))


class SourceReader:
    """Tells what operators are made from; what several of them share is read once."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folders)
        self._every = (*self._folders, OWN_FOLDER)
        self._imports: dict[str, tuple[Path, tuple[str, ...]] | None] = {}
        self._modules: dict[str, Mapping[str, str]] = {}
        self._digests: dict[Path, str] = {}
        self._shared: Mapping[str, object] | None = None
        self._own: list[Path] | None = None
        self._code: dict[frozenset[str], tuple[str, str]] = {}

    def sources_of(self, operator: OperatorName) -> Sources:
        """What one operator is made from; UserError where it has no spec, or a shared reading is damaged."""
        start = self._start(operator)
        if start not in self._code:
            files = self.imported_files(start)
            right = {path: path.is_relative_to(ROOT / _REFERENCE) for path in files}
            reference = self._digest(path for path in files if right[path])
            self._code[start] = (reference, self._digest(path for path in files if not right[path]))
        return Sources(self.spec_digests(operator), *self._code[start])

    def code_of(self, *operators: OperatorName) -> list[Path]:
        """The modules of ours that are imported to make operators' cases, and nothing else."""
        return self.imported_files(frozenset[str]().union(*map(self._start, operators)))

    def _start(self, operator: OperatorName) -> frozenset[str]:
        """The modules that the making of an operator's cases begins with; of several operators the same."""
        named = reference_module_of(operator)
        own = self._own_imports if self.own_code(operator) else ()
        return frozenset((MAKING, *([named] if named is not None else []), *own))

    @cached_property
    def _own_imports(self) -> tuple[str, ...]:
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in self._own or ()]
        return tuple(name for text in texts for name in imported_names(text))

    def imported_files(self, start: Iterable[str], packages: Sequence[str] = _CODE) -> list[Path]:
        """The files of these modules, and of all in these packages that they import, directly or not."""
        found: set[Path] = set()
        seen: set[str] = set()
        pending = list(start)
        while pending:
            name = pending.pop()
            if name in seen or name.partition(".")[0] not in packages:
                continue
            seen.add(name)
            module = self._module(name)
            if module is not None:
                found.add(module[0])
                pending += module[1]
        return sorted(found)

    def _module(self, name: str) -> tuple[Path, tuple[str, ...]] | None:
        """The file of a module, and the names that it imports; None where there is no such module of ours."""
        if name not in self._imports:
            package = name.partition(".")[0]
            if package not in self._modules:
                self._modules[package] = modules_under(ROOT, package)
            place = self._modules[package].get(name)
            path = None if place is None else Path(place)
            named = _modules_in(_FOUND_BY_NAME[name]) if name in _FOUND_BY_NAME else []
            self._imports[name] = None if path is None else (path, (*read_source(path).imports, *named))
        return self._imports[name]

    def spec_digests(self, operator: OperatorName) -> dict[str, str]:
        """Digests by file; of newer versions as well, whose calls an older one takes over."""
        newer = newer_versions(operator, self._folders)
        files = {
            name: path
            for each in (*newer, operator)
            for name, path in spec_files(each, self._folders).items()
        }
        found = {name: self._digest_of(path) for name, path in files.items()}
        found.update((name, self._digest_of(path)) for name, path in self._own_files(operator).items())
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

    def _digest(self, files: Iterable[Path]) -> str:
        digest = hashlib.sha256()
        for path in files:
            digest.update(self._digest_of(path).encode())
        return digest.hexdigest()[:DIGITS]

    def _digest_of(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = read_source(path).digest
        return self._digests[path]


def digest_of_spec(operator: OperatorName) -> str:
    """The digest of what decides in a spec which calls there are: not of what is kept of searches."""
    files = SourceReader().spec_digests(operator)
    own = {name: each for name, each in files.items() if name != SEARCHED and not name.endswith(".json")}
    return sha256(canonical_json(own))[:DIGITS]


def sources_digest(folders: Sequence[Path] = (), operators: Sequence[OperatorName] = ()) -> str:
    """A digest of all that the default suite is made from: specs, reference, generating code.

    With folders of specs, of all that the suite of their operators is made from; with operators that ship,
    of all that the suite of these is. It is of more files than matter, and no YAML is read for it. What
    was measured of cases is none of them.
    """
    reader = SourceReader(folders)
    shipped = operators or default_operators()
    every = {*shipped, *(known_operators(folders) if folders else ())}
    code = reader.code_of(*every)
    rooms = {room_of(operator, OWN_FOLDER) for operator in shipped}
    data = {path for room in rooms for path in room.rglob("*.*") if _makes_cases(path)}
    data.update(
        path for form in ("*/*/spec.yaml", "parts/*.yaml", READINGS) for path in OWN_FOLDER.glob(form)
    )
    own = {path for each in folders for path in each.rglob("*") if _makes_cases(path)}
    digest = digest_of([*code, *sorted(data), *sorted(own)])
    if not operators:
        return digest
    return hashlib.sha256(" ".join([digest, *map(str, operators)]).encode()).hexdigest()[:DIGITS]


def _makes_cases(path: Path) -> bool:
    return path.suffix in _OWN_FILES and not (path.suffix == ".json" and path.name.startswith(_MEASURED))


def _place(path: Path, folders: Sequence[Path]) -> str:
    """Where a file lies in the folder of specs that holds it, and which of the folders that is."""
    number, folder = next((at, each) for at, each in enumerate(folders) if path.is_relative_to(each))
    return f"{number}/{path.relative_to(folder).as_posix()}"


def _modules_in(package: str) -> list[str]:
    folder = ROOT.joinpath(*package.split("."))
    return sorted(f"{package}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__")
