"""Which files an operator version's spec is made of, and which shared readings they name; not loading it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from specs.files.declarations import find_declaration
from specs.files.operator_groups import parts_used
from specs.files.shared_readings import named_in
from specs.files.spec_folders import (
    DECLARATION,
    OWN_FOLDER,
    PARTS,
    REGRESSIONS,
    SEARCHED,
    find_facts,
    find_part,
)

_DECLARED = (DECLARATION, SEARCHED)


def spec_files(operator: OperatorName, folders: Sequence[Path] = ()) -> dict[str, Path]:
    """The files of an operator's spec that its cases depend on, by their place in its room.

    Parts that the declaration uses have names such as `parts/<part>.yaml`. Raises UserError for an unknown
    operator; what is wrong in files, their readers say.
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
        found.update((f"{PARTS}/{path.name}", path) for path in _parts(declaration, every))
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
    written = [path for path in files if path.name == DECLARATION or path.parent.name == PARTS]
    groups = [group for path in written for group in named_in(_content(path)).values()]
    return sorted({name for group in groups for name in group.values()})


def _parts(declaration: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """The parts that a declaration uses, and those that these use."""
    seen: set[Path] = set()
    pending = [declaration]
    while pending:
        for name in _used(pending.pop()):
            path = find_part(str(name), folders)
            if path is not None and path not in seen:
                seen.add(path)
                pending.append(path)
                yield path


def _used(path: Path) -> Sequence[Any]:
    """The names of the parts that a file uses; none of a damaged one, or of one with a damaged group."""
    content = _content(path)
    try:
        return parts_used(content, path) if isinstance(content, dict) else ()
    except OpcertError:
        return ()


def _content(path: Path) -> Any:
    """What a file holds; None where it cannot be read, which whoever loads the spec says with its place."""
    try:
        documents = load_file(path)
    except OpcertError:
        return None
    return documents[0].value if documents else None
