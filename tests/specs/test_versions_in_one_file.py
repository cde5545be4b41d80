"""One file for several versions: what each of them reads out of it, held against what was put in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from specs.files.composition import compose
from specs.files.version_ranges import in_range, key_of_version
from specs.model.spec import Document, Example, Prose, Source, Spec, Value


def spec_of(version: int, **fields: Any) -> Spec:
    documents = tuple(Document(key, f"{key}.md", "onnx-markdown", "00") for key in ("d1", "d2"))
    return Spec(OperatorName("test", "Made", version), documents, {}, (), (), {}, **fields)


def read(folder: Path, text: str, spec: Spec) -> dict[str, Any]:
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return dict(compose(path, spec, [folder]).value)


@pytest.mark.parametrize(
    ("text", "by_version"),
    [
        ("let: {one: {..1: a}, two: {2..: [{}]}}\n", {1: {"let": {"one": "a"}}, 2: {"let": {"two": [{}]}}}),
        (
            "constraints: [{id: p, list: {2..: [{why: b}]}}]\n",
            {1: {"constraints": [{"id": "p"}]}, 2: {"constraints": [{"id": "p", "list": [{"why": "b"}]}]}},
        ),
    ],
)
def test_a_list_within_that_some_versions_lack_stays_missing(
    tmp_path: Path, text: str, by_version: dict[int, dict[str, Any]]
) -> None:
    for version, value in by_version.items():
        assert read(tmp_path, text, spec_of(version)) == value, text


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
