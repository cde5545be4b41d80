"""What a declaration's words must rest on: names that some version has, demands that some passage makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from opcert.vocabulary.yaml_files import YamlDocument
from specs.files.imported_files import read_imported
from specs.files.layers import merge_layers
from specs.files.spec_folders import OWN_FOLDER, room_of, versions_in
from specs.files.stated_values import stated_value
from specs.files.version_ranges import in_range
from specs.model.spec import Spec


def demands(spec: Spec, names: Sequence[str]) -> bool:
    """Whether a passage about one of these names, or of one of these names, demands something of a call."""
    groups = ("attributes", "inputs", "outputs")
    about = {*names, *(f"{group}.{name}" for group in groups for name in names)}
    return any(prose.normative for prose in spec.prose if prose.about in about)


def demands_in_some_version(spec: Spec, names: Sequence[str], folders: Sequence[Path]) -> bool:
    """Whether `demands` holds for any version of the operator."""
    return demands(spec, names) or any(
        demands(other_version, names) for other_version in other_versions(spec, folders)
    )


def is_name_of_some_version(spec: Spec, name: str, folders: Sequence[Path]) -> bool:
    """Whether a name is an attribute or input of any version of the operator."""
    return _has(spec, name) or any(
        _has(other_version, name) for other_version in other_versions(spec, folders)
    )


def names_of(spec: Spec) -> list[str]:
    """The attributes and inputs of a version."""
    return [*spec.attributes, *(parameter.name for parameter in spec.inputs)]


def other_versions(spec: Spec, folders: Sequence[Path]) -> Iterator[Spec]:
    """The facts of the operator's other versions, those nearest to this one first."""
    operator = spec.operator
    found: dict[int, Path] = {}
    for folder in folders:
        for version, path in versions_in(room_of(operator, folder)).items():
            if version != operator.since_version:
                found.setdefault(version, path)
    for since in sorted(found, key=lambda each: abs(each - operator.since_version)):
        yield _facts(found[since])


def covered(document: YamlDocument, versions: Sequence[Spec]) -> list[Spec]:
    """Those of some versions that a declaration speaks of (`versions`)."""
    told = stated_value(Path(document.file), "versions", (OWN_FOLDER,)) or ".."
    return [version for version in versions if in_range(told, version.operator.since_version)]


def _has(spec: Spec, name: str) -> bool:
    return name in names_of(spec)


@lru_cache(maxsize=64)
def _facts(path: Path) -> Spec:
    return merge_layers(read_imported(path))
