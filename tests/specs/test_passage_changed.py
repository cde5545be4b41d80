"""One statement about several versions whose passage reads differently: lint asks for what was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.names import OperatorName
from specs.declaration_rules.passage_changed import passage_changed
from specs.files.library import load_spec
from specs.files.spec_folders import list_operators
from specs.model.spec import Finding, Spec
from specs.rules import examine_spec

pytestmark = pytest.mark.slow


def find(spec: Spec) -> list[Finding]:
    return examine_spec(spec, [passage_changed])


FACT = """\
operator: {{domain: org.example, name: Every, since_version: {version}}}
documents:
  d1: {{file: every-{version}.md, dialect: onnx-markdown, sha256: "{document}", identity: stated}}
arity: {{inputs: [1, 1], outputs: [1, 1]}}
attributes:
  axis:
    type: int
    required: false
    default: {{value: 0, rule: schema, confidence: 1.0, src: [d1, 5]}}
    src: [d1, 5]
inputs: [{{name: X, type: T, option: single, homogeneous: true, src: [d1, 8]}}]
outputs: [{{name: Y, type: T, option: single, homogeneous: true, src: [d1, 9]}}]
type_constraints: {{T: {{types: [float], src: [d1, 10]}}}}
prose:
  - about: attributes.axis
    src: [d1, {line}]
    lines: 2
    normative: [{{word: must, src: [d1, {line}]}}]
    sha256: "{digest}"
  - {{about: summary, src: [d1, 3], lines: 1, normative: [{{word: must, src: [d1, 3]}}], sha256: "{same}"}}
"""


def fact(version: int, digest: str) -> str:
    """The facts of a version whose passage about `axis` has that digest, and stands elsewhere in each."""
    line = 20 + version
    return FACT.format(version=version, digest=digest, line=line, document="1" * 64, same="3" * 64)


RULE = "constraints:\n  - {{id: positive, require: axis >= 0, else: {0}, src: {1}{2}}}\n"


def found(folder: Path, text: str, digests: tuple[str, ...]) -> list[str]:
    """What lint says of each version, with the version that says it."""
    room = folder / "org.example" / "Every"
    room.mkdir(parents=True)
    versions = [1, 7, 11, 13][: len(digests)]
    for version, digest in zip(versions, digests, strict=True):
        (room / f"imported-{version}.yaml").write_text(fact(version, digest), encoding="utf-8")
    (room / "spec.yaml").write_text('shapes: {X: "*S"}\nkinds:\n  axis: axis(X)\n' + text, encoding="utf-8")
    told = []
    for version in versions:
        spec = load_spec(OperatorName("org.example", "Every", version), (folder,))
        told += [f"{version}: {finding.message} ({finding.evidence})" for finding in find(spec)]
    return told


A, B, C = ("a" * 64, "b" * 64, "c" * 64)


def test_a_passage_that_changed_is_asked_about_once(tmp_path: Path) -> None:
    (told,) = found(tmp_path, RULE.format("error", "attributes.axis", ""), (A, B, B))
    assert told.startswith("11: positive cites attributes.axis, which reads differently")
    assert "`read: [1, 7]`" in told
    assert f"{tmp_path}/org.example/Every/spec.yaml:5:" in told
    assert "versions that read alike: 1; 7, 11" in told


@pytest.mark.parametrize(
    ("otherwise", "src", "rest", "digests", "count"),
    [
        ("error", "attributes.axis", "", (A, A, A), 0),
        ("error", "summary", "", (A, B, C), 0),
        ("undefined", "attributes.axis", "", (A, B, C), 0),
        ("error", "axis+1", "", (A, B, C), 1),
        ("error", "[axis, summary]", "", (A, B), 1),
        ("error", "attributes.axis", ", read: [1, 7]", (A, B, B), 0),
        ("error", "attributes.axis", ", read: [1, 11]", (A, B, B), 0),
        ("error", "attributes.axis", ", read: [1, 7]", (A, B, C), 1),
        ("error", "attributes.axis", ", since: 7", (A, B, B), 0),
        ("error", "attributes.axis", ", since: 7", (A, B, C), 1),
        ("error", "attributes.axis", ", until: 7", (A, A, C), 0),
        ("error", "{..1: axis, 7..: attributes.axis}", "", (A, B, B), 0),
        ("error", "{..1: axis, 7..: attributes.axis}", "", (A, B, C), 1),
        ("error", "[d1, 3]", "", (A, B, C), 0),
    ],
)
def test_what_is_asked_about(
    tmp_path: Path, otherwise: str, src: str, rest: str, digests: tuple[str, ...], count: int
) -> None:
    assert len(found(tmp_path, RULE.format(otherwise, src, rest), digests)) == count


def test_versions_that_the_file_does_not_speak_of_do_not_count(tmp_path: Path) -> None:
    text = "versions: 7..\n" + RULE.format("error", "attributes.axis", "")
    assert found(tmp_path, text, (A, B, B)) == []


def test_a_name_of_its_own_is_told_by_ranges(tmp_path: Path) -> None:
    named = "passages: {where: {..1: axis, 7..: attributes.axis+1}}\n" + RULE.format("error", "where", "")
    (told,) = found(tmp_path, named, (A, B, C))
    assert "`read: [7, 11]`" in told


def test_choices_and_evidence_are_asked_about(tmp_path: Path) -> None:
    text = """\
readings:
  - id: sign
    question: which
    options: {plain: as it is, other: the other way}
    evidence:
      - {option: plain, kind: text, src: attributes.axis}
      - {option: other, kind: text, src: attributes.axis, read: [1, 7]}
    chosen: plain
    src: attributes.axis
    why: it says so
"""
    told = found(tmp_path, text, (A, B))
    assert [each.partition(" cites")[0] for each in told] == ["7: sign", "7: evidence of sign"]


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (", read: 11", ["wrong value", "two or more versions", "[11, 13]"]),
        (", read: [11]", ["wrong value", "two or more versions"]),
        (", read: [7, 7]", ["wrong value", "two or more versions"]),
        (", read: [a, b]", ["wrong value", "such as [11, 13]"]),
        (", read: [true, 7]", ["wrong value", "such as [11, 13]"]),
        (", read: [1, 9]", ["read in versions that org.example::Every lacks", "read: [9]", "1, 7"]),
    ],
)  # fmt: skip
def test_bad_uses_are_told(tmp_path: Path, rest: str, words: list[str]) -> None:
    with pytest.raises(OpcertError) as caught:
        found(tmp_path, RULE.format("error", "attributes.axis", rest), (A, B))
    told = str(caught.value)
    assert "spec.yaml:5:" in told
    for word in words:
        assert word in told


def test_read_without_a_passage_is_told(tmp_path: Path) -> None:
    rule = "constraints:\n  - {id: positive, require: axis >= 0, else: undefined, why: so, read: [1, 7]}\n"
    with pytest.raises(OpcertError) as caught:
        found(tmp_path, rule, (A, B))
    assert "`read` beside no passage" in str(caught.value)
    assert "spec.yaml:5:" in str(caught.value)


@pytest.mark.nightly
def test_every_wording_that_ships_was_read() -> None:
    told = {
        str(operator): [one.message for one in find(load_spec(operator))] for operator in list_operators()
    }
    assert len(told) > 500
    assert {name: messages for name, messages in told.items() if messages} == {}
