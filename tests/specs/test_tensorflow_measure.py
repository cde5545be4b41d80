"""How much of TensorFlow's docstrings is read: shares by field, and agreement with the definitions."""

from __future__ import annotations

import pytest

from opcert.commands.packages import package_document
from opcert.vocabulary.names import OperatorName
from specs.documents.packages.dumped_rows import read_dump
from specs.documents.text.documents import decode, read_document
from specs.importers.tensorflow_docstring import read
from tests.documents.gathering import Documents
from tests.specs.emitters.tensorflow import Definition, emit_docstring
from tests.specs.tensorflow_measure import FIELDS, Measure, measure_folder, measure_package
from tests.specs.test_tensorflow import same_structure

STATED = {
    "argument": 3951,
    "type": 3951,
    "list of types": 551,
    "default": 1071,
    "enumeration": 204,
    "bound": 329,
}
DIFFERENCES = {
    "CheckPreemption.preemption_key: argument",
    "SdcaOptimizer.adaptative: default",
    "SdcaOptimizerV2.adaptive: default",
    "Select.output: type",
    "Select.y: type",
}
"""Where TensorFlow's own docstrings and definitions contradict each other (2.21.0)."""


@pytest.fixture(scope="module")
def measured(documents: Documents) -> Measure:
    return measure_folder(documents.find("tensorflow/docstrings"))


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_that_docstrings_state_is_read(measured: Measure, field: str) -> None:
    assert measured.operators == 876
    assert measured.stated[field] == STATED[field]
    assert [each for each in measured.not_read if f": {field}:" in each] == []


def test_what_is_wrong_with_the_docstrings_is_found(documents: Documents) -> None:
    folder = documents.find("tensorflow/docstrings")
    found = {}
    for path in sorted(folder.glob("*.txt")):
        (spec,) = read(read_document(path), None)
        if spec.findings:
            found[path.stem] = [(finding.code, finding.source.line) for finding in spec.findings]
    assert found == {
        # The arguments stand twice: written by hand, and by the generator.
        "LogicalOr": [("item-unread", 55), ("item-unread", 62), ("item-unread", 67)],
        "ResizeBilinear": [("duplicate-type", 10)],
    }


def test_one_docstring_by_hand(documents: Documents) -> None:
    path = documents.find("tensorflow/docstrings/ResizeBilinear.txt")
    (spec,) = read(read_document(path), None)
    assert spec.operator == OperatorName("org.tensorflow", "ResizeBilinear", 1)
    images, size = spec.inputs
    assert (images.type, images.rank, images.shape) == (
        "T_images",
        "4",
        ("batch", "height", "width", "channels"),
    )
    assert spec.type_constraints["T_images"].types == (
        "int8", "uint8", "int16", "uint16", "int32", "int64", "bfloat16", "float16", "float", "double",
    )  # fmt: skip
    assert (size.type, spec.outputs[0].type) == ("int32", "float")
    aligned = spec.attributes["align_corners"]
    assert (aligned.kind, aligned.other_type, aligned.required, aligned.default) == ("int", "bool", False, 0)


@pytest.mark.runtimes("tensorflow")
def test_docstrings_written_from_every_definition_are_read_back() -> None:
    dump = read_dump(read_document(package_document("tensorflow", print)), "tensorflow-package")
    for rows in dump.operators:
        parts = {
            kind: [row.values for row in rows if row.kind == kind]
            for kind in ("input", "output", "attribute")
        }
        definition = Definition(rows[0].word("name"), parts["input"], parts["output"], parts["attribute"])
        (spec,) = read(decode(emit_docstring(definition).encode(), "page.txt"), None)
        assert {finding.code for finding in spec.findings} <= {"duplicate-type"}
        same_structure(spec, definition.spec())
    assert len(dump.operators) > 1400


@pytest.mark.slow
@pytest.mark.runtimes("tensorflow")
def test_docstrings_of_the_package_say_what_its_definitions_say() -> None:
    agreement = measure_package(package_document("tensorflow", print))
    assert agreement.compared["argument"] > 6000
    assert {": ".join(difference.split(": ")[:2]) for difference in agreement.differences} == DIFFERENCES
