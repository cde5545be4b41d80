"""What a suite is made from: which files of ours, of people's specs, and a digest of their contents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import specs
from opcert.names import OperatorName
from reference.registry import find_operator
from specs import shared_readings
from specs.curated_files import FILE_NAME
from specs.library import REGRESSIONS, find_spec_folder

ROOT = Path(specs.__file__).parents[1]
"""The folder that all of our packages lie in."""
DIGITS = 16
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.M
)
_FOUND_BY_NAME = ("families", "levels")
"""The packages of the generator whose modules are imported by their file's name."""


def generating_files() -> list[Path]:
    """The code that makes a suite, without the reference: what is imported for it, and nothing else."""
    start = [f"generator.{name}" for name in _FOUND_BY_NAME]
    start += [
        f"generator.{name}.{each.stem}"
        for name in _FOUND_BY_NAME
        for each in (ROOT / "generator" / name).glob("*.py")
    ]
    return imported_files(["generator.suites", *start], ("generator", "specs", "conformance", "opcert"))


def reference_files(operator: OperatorName) -> list[Path]:
    """The code that says what is right for an operator that ships."""
    return imported_files([find_operator(operator).function.__module__], ("reference",))


def spec_files(operator: OperatorName) -> dict[str, Path]:
    """The files of an operator's spec that its cases depend on, by their place in its folder."""
    folder = find_spec_folder(operator)
    files = sorted([*folder.glob("*.yaml"), *folder.glob(f"{REGRESSIONS}/*.json")])
    return {path.relative_to(folder).as_posix(): path for path in files}


def sources_digest(folders: Iterable[Path] = ()) -> str:
    """A digest of all that the default suite is made from: specs, adequacy, reference, generating code.

    With folders of specs, of all that the suite of their operators is made from.
    """
    shipped = ROOT / "specs"
    data = [path for each in shipped.glob(f"*/*/{FILE_NAME}") for path in each.parent.rglob("*.*")]
    code = [*(ROOT / "reference").rglob("*.py"), *generating_files()]
    kept = [*shipped.glob("adequacy/*/*.json"), shipped / shared_readings.FILE_NAME]
    own = [path for each in folders for path in each.rglob("*") if path.suffix in (".yaml", ".json", ".py")]
    return digest_of([*sorted([*data, *code, *kept]), *sorted(own)])


def digest_of(files: Iterable[Path]) -> str:
    """A digest of files' contents, whatever the line ends of the checkout."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0")
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:DIGITS]


def imported_files(start: Iterable[str], packages: Sequence[str]) -> list[Path]:
    """The files of these modules, and of all in these packages of ours that they import, directly or not."""
    found: dict[str, Path] = {}
    pending = list(start)
    while pending:
        name = pending.pop()
        path = _file_of(name) if name.partition(".")[0] in packages and name not in found else None
        if path is not None:
            found[name] = path
            pending += _imported_names(path.read_text(encoding="utf-8"))
    return sorted(set(found.values()))


def _imported_names(code: str) -> list[str]:
    """The modules that code names in its imports; names that are no modules among them."""
    names = []
    for module, listed, plain in _IMPORT.findall(code):
        names.append(module or plain)
        names += [f"{module}.{each}" for each in re.findall(r"\w+", listed) if module]
    return names


def _file_of(name: str) -> Path | None:
    path = ROOT.joinpath(*name.split("."))
    found = [each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()]
    return found[0] if found else None
