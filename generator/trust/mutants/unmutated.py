"""Code of the reference that gets no mutants, because no answer depends on it: `unmutated.yaml`.

Such a file stands in an operator's room, and one for several operators in a folder of specs. It is a list of
entries: a `module` of the reference (that of the operator's own function, where it is left out), `functions`
in it, and `why`. With `names` only the statements are left out that set these variables, and whatever
expression mentions one; without, the whole functions. `since` and `until` narrow an entry to some versions:
an older one uses what a later one needs, and asks for less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field, RootModel

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.files.schemas import Entry
from specs.files.spec_folders import OWN_FOLDER, find_room

FILE_NAME = "unmutated.yaml"
LeftOut = Mapping[str, frozenset[str] | None]
"""By function of a module: the names left out, None where it is the whole function."""


class Unmutated(Entry):
    """Functions of a module that get no mutants, or of which some variables get none."""

    module: str | None = None
    functions: tuple[str, ...] = Field(min_length=1)
    names: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    why: str = Field(min_length=1)

    def is_about(self, version: int) -> bool:
        """Whether the entry holds for a version of the operator."""
        return (self.since or 0) <= version and (self.until is None or version <= self.until)


class _File(RootModel[tuple[Unmutated, ...]]):
    pass


def read_unmutated(
    operator: OperatorName, folders: Sequence[Path] = ()
) -> tuple[tuple[Place, Unmutated], ...]:
    """The entries about an operator version, with their places: of its room, then of folders of specs.

    Raises SeveralErrors with everything that is wrong in a file, UserError where the operator has no room.
    """
    room = find_room(operator, folders)
    paths = (room / FILE_NAME, *(folder / FILE_NAME for folder in (*folders, OWN_FOLDER)))
    return tuple(
        (place, each)
        for path in dict.fromkeys(paths)
        if path.is_file()
        for place, each in _read(path)
        if each.is_about(operator.since_version)
    )


def _read(path: Path) -> Iterator[tuple[Place, Unmutated]]:
    (document, *more) = load_file(path)
    if more:
        raise UserError("not one YAML document", got=f"{1 + len(more)} documents", where=Place(str(path)))
    for at, each in enumerate(validate(_File, document).root):
        yield document.place((at,)), each


def left_out_of(
    module: str, functions: Sequence[str], entries: Sequence[tuple[Place, Unmutated]], *, own: bool
) -> LeftOut:
    """What entries leave out of a module with these functions; `own` is that of the operator's function.

    Raises UserError where an entry names a function that the module does not have.
    """
    found: dict[str, frozenset[str] | None] = {}
    for place, entry in entries:
        if entry.module != module and not (own and entry.module is None):
            continue
        for name in entry.functions:
            if name not in functions:
                raise UserError(
                    "an entry about a function that is not there",
                    got=name,
                    expected=f"a function of {module}",
                    where=place,
                    remedy="Write its name of now, or take the entry out.",
                )
            known = found.get(name, frozenset())
            found[name] = None if known is None or not entry.names else known | set(entry.names)
    return found
