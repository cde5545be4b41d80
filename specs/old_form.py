"""A folder of specs as of before: a folder for each version, `curated.yaml` for what people added to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.yaml_files import YamlDocument, load, load_file
from opcert.vocabulary.yaml_schemas import validate
from specs.added_entries import Additions
from specs.addition_merging import merge_additions
from specs.imported_files import read_imported
from specs.layers import merge_layers
from specs.model import Spec
from specs.shared_readings import put_in_shared
from specs.spec_folders import DECLARATION, OWN_FOLDER, old_folders, room_of

FACTS = "imported.yaml"
ADDED = "curated.yaml"
_ADEQUACY = "adequacy"


@dataclass(frozen=True)
class OldOperator:
    """One operator in a folder of before: the folders of its versions, and measured adequacy by version."""

    room: Path
    versions: dict[OperatorName, Path] = field(default_factory=dict)
    adequacy: dict[OperatorName, Path] = field(default_factory=dict)

    @property
    def added(self) -> dict[OperatorName, Path]:
        """The files with what people added, of the versions that have one."""
        found = {each: folder / ADDED for each, folder in self.versions.items()}
        return {each: path for each, path in found.items() if path.is_file()}


def find_old_operators(folder: Path) -> list[OldOperator]:
    """What there is to move in a folder of specs, by room; UserError for names that are no version's."""
    found: dict[Path, OldOperator] = {}

    def entry(operator: OperatorName) -> OldOperator:
        room = room_of(operator, folder)
        return found.setdefault(room, OldOperator(room))

    for each in old_folders(folder):
        operator = OperatorName.parse(f"{each.parent.name}/{each.name}")
        entry(operator).versions[operator] = each
    for path in sorted((folder / _ADEQUACY).glob("*/*.json")):
        operator = OperatorName.parse(f"{path.parent.name}/{path.stem}")
        entry(operator).adequacy[operator] = path
    for old in found.values():
        for versions in (old.versions, old.adequacy):
            for operator in sorted(versions):
                versions[operator] = versions.pop(operator)
    return [found[room] for room in sorted(found)]


def read_added(path: Path) -> YamlDocument:
    """The document of a `curated.yaml` as it is written; an empty file holds nothing."""
    found = (load_file(path) or load("{}", str(path)))[0]
    if found.value is None:
        found.value = {}
    return found


def load_old(operator: OperatorName, folder: Path, folders: Sequence[Path]) -> Spec:
    """The effective spec of a version as of before; SeveralErrors with everything that is wrong in it.

    A declaration in the room counts where it speaks of the version, and `curated.yaml` of others.
    """
    spec = merge_layers(read_imported(folder / FACTS))
    path = folder / ADDED
    if not path.is_file() or (room_of(operator, folder.parents[1]) / DECLARATION).is_file():
        return spec
    document = read_added(path)
    put_in_shared(document, (*folders, OWN_FOLDER))
    return merge_additions(spec, validate(Additions, document), document)
