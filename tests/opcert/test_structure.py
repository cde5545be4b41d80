"""Modules have names of their own and stand in rooms, and no imports go in a circle."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PACKAGES = ("conformance", "generator", "opcert", "reference", "reports", "specs")
SHARED_NAMES = {
    "coordinates": "the kind of an input that has them, and what Resize does with them",
    "data": "the kind of a tensor of numbers, and what numbers are drawn for it",
    "draws": "what is drawn: by the generator for calls, and by operators whose outputs are random",
    "examples": "one file a dialect, named for the part of a page that it reads, and the rules on them",
    "rows": "those of a record, and the kind of an input of rows that follow each other",
    "whole_model": "what came of a model that was run, and the check that finds it out",
}
FAMILIES = ("reference/operators", "generator/models/neighbours/patterns")
"""Where a file is named for the operators that it is about."""


def test_no_two_modules_share_a_base_name_with_another_meaning() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            folder = path.parent.relative_to(ROOT).as_posix()
            if path.name != "__init__.py" and folder not in FAMILIES:
                places[path.stem].append(folder)
    shared = {name: folders for name, folders in places.items() if len(folders) > 1}
    assert {name: shared[name] for name in sorted(set(shared) - set(SHARED_NAMES))} == {}
    assert sorted(set(SHARED_NAMES) - set(shared)) == [], "no longer shared"


def test_the_packages_of_rooms_have_no_modules_beside_them() -> None:
    for package, beside in (
        ("conformance", {"__init__"}),
        ("generator", {"__init__"}),
        ("reports", {"__init__"}),
        ("opcert", {"__init__", "__main__", "pytest_answers", "pytest_plugin"}),
    ):
        assert {path.stem for path in (ROOT / package).glob("*.py")} == beside


def test_every_room_says_what_it_is_for() -> None:
    for package in ("conformance", "generator", "reports"):
        for path in (ROOT / package).glob("*/__init__.py"):
            assert path.read_text(encoding="utf-8").startswith('"""'), path.parent.name


def test_no_imports_go_in_a_circle() -> None:
    graph = grimp.build_graph(*PACKAGES)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    while ends := [each for each, used in imports.items() if not used & imports.keys()]:
        for end in ends:
            del imports[end]
    while starts := set(imports) - {each for used in imports.values() for each in used}:
        for start in starts:
            del imports[start]
    assert sorted(imports) == [], "these import one another"
