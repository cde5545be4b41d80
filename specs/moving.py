"""Moving a folder of specs from the form of before into rooms, by which nothing is lost or changed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import Place, UserError, unwritable
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_text
from opcert.vocabulary.yaml_files import load
from specs.library import load_spec
from specs.model import Spec
from specs.old_form import ADDED, FACTS, OldOperator, find_old_operators, load_old, read_added
from specs.spec_folders import DECLARATION, REGRESSIONS
from specs.version_merging import merge_versions
from specs.yaml_writer import dump

_MODULES = ("reference", "levels")
_TOGETHER = """\
# What people add to the facts of several versions: put together from the files curated-<version>.yaml.before,
# which hold it as it was written, remarks and all. They may go when somebody has looked at this one.
"""


@dataclass
class Moves:
    """What is moved where, by old place; the texts of new files; the old files whose whole text is in one."""

    files: dict[Path, Path] = field(default_factory=dict)
    texts: dict[Path, str] = field(default_factory=dict)
    gone: list[Path] = field(default_factory=list)
    versions: dict[OperatorName, Path] = field(default_factory=dict)
    """The old folders by what they are about."""


def plan_moves(folder: Path) -> Moves:
    """What moving a folder of specs comes to; empty where nothing has the form of before.

    Raises UserError where something stands at a target, or a `curated.yaml` cannot be read.
    """
    moves = Moves()
    for old in find_old_operators(folder):
        moves.versions.update(old.versions)
        for operator, path in old.adequacy.items():
            moves.files[path] = old.room / f"adequacy-{operator.since_version}.json"
        _plan_files(old, moves)
        if old.added:
            _plan_declaration(old, moves)
    for target in sorted({*moves.files.values(), *moves.texts}):
        if target.exists():
            raise UserError(
                "a file stands where another would be moved to",
                got=str(target),
                expected="no such file",
                remedy="Nothing was moved. Put both together by hand, or move one of them away.",
            )
    return moves


def _plan_files(old: OldOperator, moves: Moves) -> None:
    apart = _are_apart(old)
    room: dict[Path, Path] = {}
    for operator, folder in old.versions.items():
        version = operator.since_version
        if (folder / FACTS).is_file():
            moves.files[folder / FACTS] = old.room / f"imported-{version}.yaml"
        for name, path in _others(folder).items():
            target = old.room / (f"{version}" if apart and name.parts[0] != REGRESSIONS else "") / name
            if target in room and room[target].read_bytes() != path.read_bytes():
                target = target.with_name(f"{target.stem}_{version}{target.suffix}")
            room[target] = path
            moves.files[path] = target


def _are_apart(old: OldOperator) -> bool:
    """Whether files of a user's own differ by version, so that each version needs a folder for them."""
    seen: dict[Path, bytes] = {}
    for folder in old.versions.values():
        for name, path in _others(folder).items():
            if name.parts[0] != REGRESSIONS and seen.setdefault(name, path.read_bytes()) != path.read_bytes():
                return True
    return False


def _others(folder: Path) -> dict[Path, Path]:
    """The files of a version's folder that are neither facts nor what people added, by their place in it."""
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: path for name, path in found.items() if name not in (Path(FACTS), Path(ADDED))}


def _plan_declaration(old: OldOperator, moves: Moves) -> None:
    added = old.added
    values = {operator.since_version: _value(operator, path, old) for operator, path in added.items()}
    first, last = min(values), max(values)
    target = old.room / DECLARATION
    if len(values) == 1:
        (path,) = added.values()
        moves.texts[target] = _with_version(path, values[first], first)
        moves.gone.append(path)
        return
    between = {each.since_version: dict[str, Any]() for each in old.versions}
    files = {each: values.get(each, {}) for each in {**between, **values} if first <= each <= last}
    moves.texts[target] = f"{_TOGETHER}versions: {first}..{last}\n{dump(merge_versions(files))}"
    for operator, path in added.items():
        moves.files[path] = old.room / f"curated-{operator.since_version}.yaml.before"


def _value(operator: OperatorName, path: Path, old: OldOperator) -> dict[str, Any]:
    """What a `curated.yaml` says; the modules that it names, as the room has them."""
    value = read_added(path).value
    if not isinstance(value, dict):
        raise UserError("what people add is one mapping", where=Place(str(path)))
    found = dict(value)
    for key in _MODULES if _are_apart(old) else ():
        if isinstance(found.get(key), str) and Path(found[key]) in _others(path.parent):
            found[key] = f"{operator.since_version}/{found[key]}"
    return found


def _with_version(path: Path, value: Mapping[str, Any], version: int) -> str:
    """A file's text with the version that it speaks of; remarks stay where they are, as a rule."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(
        (at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines)
    )
    start += 1 if lines[start:] and lines[start].startswith("---") else 0
    text = "".join([*lines[:start], f"versions: {version}\n", *lines[start:]])
    wanted = {"versions": version, **value}
    with suppress(UserError):
        documents = load(text, str(path))
        if len(documents) == 1 and repr(documents[0].value) == repr(wanted):
            return text
    return "".join(line for line in lines if line.startswith("#")) + dump(wanted)


def check_moves(folder: Path, moves: Moves) -> None:
    """Move a copy, and hold every spec of it against what it was; UserError where one says anything else.

    Raises SeveralErrors with what is wrong in files: they cannot be held against anything.
    """
    with tempfile.TemporaryDirectory(prefix="opcert-move-") as name:
        copy = Path(name).resolve() / "specs"
        shutil.copytree(folder, copy)
        make_moves(_elsewhere(moves, folder, copy))
        for operator, place in moves.versions.items():
            if not (place / FACTS).is_file():
                continue
            before, after = load_old(operator, place, [folder]), load_spec(operator, [copy])
            if _plain(before) != _plain(after):
                raise UserError(
                    "this spec would say something else after the move",
                    got=f"{operator}: {', '.join(_differing(before, after))}",
                    remedy="Nothing was moved. Write its spec.yaml by hand (docs/your-operator.md).",
                )


def make_moves(moves: Moves) -> None:
    """Move the files, write the new ones, and remove empty folders; UserError where that fails."""
    try:
        for source, target in moves.files.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():  # another version had the same file
                source.unlink()
            else:
                shutil.move(source, target)
        for target, text in moves.texts.items():
            write_text(target, text)
        for path in moves.gone:
            path.unlink()
    except OSError as error:
        raise unwritable("a folder of specs", Path(str(error.filename)), error) from error
    left = {parent for path in (*moves.files, *moves.gone) for parent in list(path.parents)[:3]}
    for each in sorted(left, reverse=True):
        with suppress(OSError):  # something else is in it
            each.rmdir()


def _elsewhere(moves: Moves, folder: Path, other: Path) -> Moves:
    """The same moves in a copy of the folder."""

    def there(path: Path) -> Path:
        return other / path.relative_to(folder)

    return Moves(
        {there(source): there(target) for source, target in moves.files.items()},
        {there(target): text for target, text in moves.texts.items()},
        [there(path) for path in moves.gone],
    )


def _plain(spec: Spec) -> Spec:
    """A spec without what a declaration brings, its modules by their names."""
    modules = {
        name: None if path is None else Path(path.name)
        for name, path in (("reference_module", spec.reference_module), ("levels_module", spec.levels_module))
    }
    return replace(spec, declared=None, **modules)  # type: ignore[arg-type]


def _differing(before: Spec, after: Spec) -> list[str]:
    left, right = vars(_plain(before)), vars(_plain(after))
    return [name for name in left if left[name] != right[name]]
