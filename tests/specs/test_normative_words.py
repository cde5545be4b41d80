"""One rule for one sentence: what a document demands is an error, and what it leaves open is none.

The sentences that a constraint cites are read in the documents. Words such as must, should, required, invalid
or accepted range make a demand of a sentence (`NORMATIVE`); a constraint that cites one has `else: error`,
and one that has `else: error` cites one. So two constraints that cite one sentence cannot be treated in two
ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from specs.files.library import load_spec
from specs.files.spec_folders import list_operators
from specs.model.spec import Constraint, Source, Spec
from tests.documents.gathering import Documents, read_digests

NORMATIVE = re.compile(
    r"\b(must|should|error|required|invalid|accepted range)\b|\bconstrain\b(?!.*\ball\b)", re.IGNORECASE
)

_WHETHER = "the sentence says whether something should be done, and not what must be given"
OTHERWISE = {
    **{
        (f"com.microsoft::{operator}-1", rule): _WHETHER
        for operator, rules in (
            ("FusedMatMul", ("batches_of_A", "batches_of_B", "two_axes_of_A", "two_axes_of_B")),
            ("TransposeMatMul", ("two_axes_of_A", "two_axes_of_B")),
        )
        for rule in rules
    },
    ("org.openvino::Broadcast-1", "one_way"): "required says whose shape it is, and demands nothing of it",
    ("org.openvino::Broadcast-1", "no_mapping"): "it says should, and of what is in the input alone",
    ("org.openvino::ConvertLike-1", "none_below_zero"): "it is the user who must be aware of what is lost",
    ("org.openvino::GatherElements-6", "axis_given"): "another sentence of the page calls axis optional",
    ("com.microsoft::Pad-1", "pads_length"): "it says should, and no checker of ONNX's knows the domain",
    ("ai.onnx::Resize-11", "scales_or_sizes"): "shape inference of this version takes a call with neither",
    ("ai.onnx::Resize-11", "not_scales_and_sizes"): "shape inference of this version takes both",
    (
        "ai.onnx::Resize-13",
        "asked_in_no_elements",
    ): "the sentence says one must be given, not what an empty one is",
    ("ai.onnx::Resize-18", "asked_in_no_elements"): "likewise",
    ("ai.onnx::Resize-19", "asked_in_no_elements"): "likewise",
    (
        "ai.onnx::Resize-19",
        "axes_unique",
    ): "its sentence says undefined; another of the same line demands a range",
    ("ai.onnx::Resize-19", "scales_positive"): "its sentence demands nothing; others of the same line do",
    **{
        (f"ai.onnx::Resize-{version}", "roi_type"): "the list of the same types has float16"
        for version in (11, 13, 18, 19)
    },
    ("ai.onnx::Resize-19", "scales_finite"): "its sentence demands nothing; others of the same line do",
    **{
        (f"ai.onnx::Resize-{version}", "lists_of_one_axis"): "should is said of the number of elements"
        for version in (11, 13, 18, 19)
    },
    ("org.tensorflow::BatchToSpaceND-1", "crops_shape"): "must is said of the values alone",
    ("org.tensorflow::BatchToSpaceND-1", "block_shape_rank"): "must is said of the values alone",
    ("org.openvino::ExtractImagePatches-3", "data_shape"): "required is said of the input alone",
}
"""Constraints that are no error beside such a word, and why."""


def constraints() -> Iterator[tuple[Spec, Constraint]]:
    """Every rule of a shipped spec that a call can break.

    Those of versions that no page has, whose facts are taken out of an installed package, cite no document.
    """
    listed = {PurePosixPath(digest).name for digest in read_digests()}
    for name in list_operators():
        spec = load_spec(name)
        for constraint in spec.constraints:
            files = {spec.document(source.document).file for source in constraint.origin.sources}
            if constraint.require is not None and (files <= listed or not files):
                yield spec, constraint


RULES = [
    pytest.param(spec, constraint, id=f"{spec.operator}-{constraint.id}")
    for spec, constraint in constraints()
]


def _text(documents: Documents, file: str) -> str:
    (place,) = (digest for digest in read_digests() if PurePosixPath(digest).name == file)
    return documents.find(place).read_text(encoding="utf-8")


def sentences_at(text: str, line: int, column: int | None = None) -> list[str]:
    """The sentences that a line has a part in; in a document of one line those at a column."""
    lines = text.split("\n")
    if column is not None:
        begin, end = column - 1, column
    else:
        begin = sum(len(each) + 1 for each in lines[: line - 1])
        end = begin + len(lines[line - 1])
    ends = r".+?(?:[.:](?=\s)|\Z|\n\s*\n|\n(?=\s*\*))"
    touched = (
        each for each in re.finditer(ends, text, re.DOTALL) if each.start() < end and each.end() > begin
    )
    return [" ".join(each[0].split()) for each in touched if each[0].strip()]


def cited(spec: Spec, constraint: Constraint, documents: Documents) -> list[str]:
    """The sentences that a constraint cites."""
    return [
        sentence for source in constraint.origin.sources for sentence in _sentences(spec, source, documents)
    ]


def _sentences(spec: Spec, source: Source, documents: Documents) -> list[str]:
    return sentences_at(_text(documents, spec.document(source.document).file), source.line, source.column)


@pytest.mark.parametrize(("spec", "constraint"), RULES)
def test_a_demand_is_an_error_and_an_error_is_demanded(
    spec: Spec, constraint: Constraint, documents: Documents
) -> None:
    told = cited(spec, constraint, documents)
    demands = [each for each in told if NORMATIVE.search(each)]
    if constraint.otherwise == "error":
        assert demands, f"{constraint.id} is an error, and no sentence demands it: {told}"
    elif (str(spec.operator), constraint.id) not in OTHERWISE:
        assert not demands, f"{constraint.id} is left open, and a sentence demands it: {demands}"


@pytest.mark.slow
def test_exceptions_are_of_constraints_that_are_there() -> None:
    there = {(str(spec.operator), constraint.id): constraint.otherwise for spec, constraint in constraints()}
    assert [each for each in OTHERWISE if there.get(each, "error") == "error"] == []


@pytest.mark.slow
def test_one_sentence_is_treated_in_one_way(documents: Documents) -> None:
    """Sentences of the same words, whichever operator they are of: `Accepted range is [-r, r-1] ...`."""
    treated: dict[str, set[str]] = {}
    for spec, constraint in constraints():
        for sentence in cited(spec, constraint, documents):
            if NORMATIVE.search(sentence) and (str(spec.operator), constraint.id) not in OTHERWISE:
                treated.setdefault(sentence.casefold(), set()).add(str(constraint.otherwise))
    assert {"error"} == set().union(*treated.values())
    assert any(sentence.startswith("accepted range is [-r, r-1]") for sentence in treated)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (1, ["It is a list.", "Accepted range is [0, 1], where r is 2."]),
        (2, ["Accepted range is [0, 1], where r is 2.", "Repeated ones are undefined."]),
        (3, ["Repeated ones are undefined."]),
    ],
)
def test_sentences_of_a_line(line: int, found: list[str]) -> None:
    text = "It is a list. Accepted range is [0,\n  1], where r is 2. Repeated ones\n  are undefined.\n"
    assert sentences_at(text, line) == found
