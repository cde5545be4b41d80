"""One file for several versions: what each of them reads out of it, held against what was put in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from specs.composition import compose
from specs.model import Document, Example, Prose, Source, Spec, Value
from specs.version_merging import merge_versions
from specs.version_ranges import in_range, key_of_version
from specs.yaml_writer import dump

SCALARS = st.sampled_from(["a", "b", 1, 2, 1.5, True, False, None])
NAMES = st.sampled_from(["one", "two", "three", "id", "why"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from("pqrst")}, optional={"why": SCALARS, "list": VALUES}),
    max_size=4,
    unique_by=lambda each: str(each["id"]),
)


def some_narrowed(names: list[str]) -> st.SearchStrategy[list[Any]]:
    """Names of shared readings, some of them with a choice."""
    return st.tuples(*(st.sampled_from([each, {"id": each, "why": "so"}]) for each in names)).map(list)


LINES = st.tuples(st.just("d1"), st.integers(1, 3)).map(list)
FILES = st.fixed_dictionaries(
    {},
    optional={
        "let": st.dictionaries(NAMES, VALUES, max_size=3),
        "constraints": ENTRIES,
        "exclusions": st.lists(
            st.fixed_dictionaries({"when": st.sampled_from("xyz"), "src": LINES}), max_size=3
        ),
        "behaviours": st.lists(st.sampled_from("uvw"), max_size=3, unique=True).flatmap(some_narrowed),
        "levels": SCALARS,
    },
)


def spec_of(version: int, **fields: Any) -> Spec:
    documents = tuple(Document(key, f"{key}.md", "onnx-markdown", "00") for key in ("d1", "d2"))
    return Spec(OperatorName("test", "Made", version), documents, {}, (), (), {}, **fields)


def read(folder: Path, text: str, spec: Spec) -> dict[str, Any]:
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return dict(compose(path, spec, [folder]).value)


def named(value: dict[str, Any]) -> dict[str, Any]:
    """Without what an empty list or a missing one is, names as entries, keys of entries in one order."""
    entries = [{"id": each} if isinstance(each, str) else each for each in value.get("behaviours", [])]
    plain: dict[str, Any] = {**value, "behaviours": entries}
    for key in ("constraints", "exclusions", "behaviours"):
        plain[key] = [dict(sorted(each.items())) for each in plain.get(key, [])]
    return {key: plain[key] for key in sorted(plain) if plain[key] not in ({}, [])}


@given(st.dictionaries(st.sampled_from([1, 2, 7, 13]), FILES, min_size=1))
def test_each_version_reads_its_own(tmp_path_factory: pytest.TempPathFactory, files: dict[int, Any]) -> None:
    folder = tmp_path_factory.mktemp("room")
    text = dump(merge_versions(files))
    for version, value in files.items():
        wanted = {key: each for key, each in value.items() if key != "src"}
        assert repr(named(read(folder, text, spec_of(version)))) == repr(named(wanted)), text


@pytest.mark.parametrize(
    "files",
    [
        {1: {"let": {"one": "a"}}, 2: {"let": {"two": [{}]}}},
        {1: {"constraints": [{"id": "p"}]}, 2: {"constraints": [{"id": "p", "list": [{"why": "b"}]}]}},
    ],
)
def test_a_list_within_that_some_versions_lack_stays_missing(
    tmp_path: Path, files: dict[int, dict[str, Any]]
) -> None:
    text = dump(merge_versions(files))
    for version, value in files.items():
        assert read(tmp_path, text, spec_of(version)) == value, text


def test_what_is_the_same_stands_once() -> None:
    entry = {"id": "a", "require": "x", "src": ["d1", 5]}
    merged = merge_versions(
        {10: {"constraints": [entry]}, 11: {"constraints": [{**entry, "src": ["d1", 9]}]}}
    )
    assert merged == {"constraints": [{**entry, "src": {"..10": ["d1", 5], "11..": ["d1", 9]}}]}


@pytest.mark.parametrize(
    ("text", "version", "holds"),
    [
        ("7..", 7, True),
        ("7..", 6, False),
        ("..7", 7, True),
        ("3..5", 4, True),
        ("3..5", 6, False),
        ("5", 5, True),
    ],
)
def test_ranges(text: str, version: int, holds: bool) -> None:
    assert in_range(text, version) == holds


def test_two_ranges_that_hold_a_version_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="two of the ranges hold version 5"):
        key_of_version({"..5": 1, "5..": 2}, 5)
    with pytest.raises(SeveralErrors, match=r"spec.yaml:2:\d+ at let.a"):
        read(tmp_path, "let:\n  a: {..5: x, 5..: y}\n", spec_of(5))


PROSE = (
    Prose("attributes.mode", Source("d1", 20), 4, "00"),
    Prose("attributes.mode", Source("d2", 90), 4, "00"),
    Prose("inputs.X", Source("d2", 70), 1, "00"),
)
EXAMPLE = Example("basic", {}, (), (("Y", Value((), (1.0,), "float", Source("d2", 44))),), Source("d2", 40))


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("attributes.mode", [["d1", 20]]),
        ("mode+3", [["d1", 23]]),
        ("X", [["d2", 70]]),
        ("[mode, X]", [["d1", 20], ["d2", 70]]),
        ("[mode, [d1, 7]]", [["d1", 20], ["d1", 7]]),
        ("[d1, 7]", ["d1", 7]),
        ("[[d1, 7], [d2, 8, 9]]", [["d1", 7], ["d2", 8, 9]]),
        ("examples.basic", [["d2", 40]]),
        ("examples.basic.Y", [["d2", 44]]),
        ("formula", [["d1", 22]]),
        ("formula+1", [["d1", 23]]),
        ("both", [["d1", 22], ["d1", 3]]),
        ("{..4: X, 5..: [d1, 7]}", ["d1", 7]),
    ],
)
def test_passages(tmp_path: Path, written: str, lines: list[Any]) -> None:
    text = (
        "passages: {formula: {..4: [d1, 1], 5..: mode+2}, both: [formula, [d1, 3]]}\n"
        f"constraints:\n  - id: a\n    src: {written}\n"
    )
    found = read(tmp_path, text, spec_of(5, prose=PROSE, examples=(EXAMPLE,)))
    assert found == {"constraints": [{"id": "a", "src": lines}]}


@pytest.mark.parametrize("written", ["mode+4", "nothing", "examples.basic.X", "later", "other", "wrong"])
def test_passages_that_there_are_not(tmp_path: Path, written: str) -> None:
    text = (
        "passages: {later: last, last: X, other: {..4: X}, wrong: 7}\nfactors: {}\n"
        f"constraints: [{{id: a, src: {written}}}]\n"
    )
    with pytest.raises(SeveralErrors, match=r"spec.yaml:3:\d+ at constraints\[0\].src"):
        read(tmp_path, text, spec_of(5, prose=PROSE, examples=(EXAMPLE,)))


def test_what_is_said_of_factors_of_other_versions_is_left_out(tmp_path: Path) -> None:
    text = (
        "factors: {size: [1], roi: {6..: [in, out]}}\n"
        "exclusions:\n  [{when: roi == 'in'}, {when: size == 1}, {when: {5: roi == 1, 6..: size == 2}},"
        " {when: {6..: roi}}]\n"
        "interactions: [{factors: [roi, size]}, {factors: [size, size]}]\n"
    )
    found = read(tmp_path, text, spec_of(5))
    assert found == {
        "factors": {"size": [1]},
        "exclusions": [{"when": "size == 1"}],
        "interactions": [{"factors": ["size", "size"]}],
    }
    assert len(read(tmp_path, text, spec_of(6))["exclusions"]) == 4
