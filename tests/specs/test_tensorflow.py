"""TensorFlow's docstrings and table cells: what is written from definitions is read back, damaged or not."""

from __future__ import annotations

import os
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import decode
from specs.importers import find_importer
from specs.importers.tensorflow_fragment import read as read_fragment
from specs.model.spec import AttributeSpec, ParameterSpec, Spec
from tests.documents.gathering import Documents
from tests.specs.damage import (
    HARMFUL,
    HARMLESS,
    VIOLENT,
    Change,
    Damage,
    facts,
    section_dropper,
    silent_changes,
)
from tests.specs.emitters.tensorflow import (
    Definition,
    attribute_phrase,
    emit_cell,
    emit_docstring,
    tensor_phrase,
)
from tests.specs.emitters.tensorflow_definitions import definitions

_EXAMPLES = int(os.environ.get("OPCERT_EXAMPLES", "1"))
_SETTINGS = settings(
    max_examples=60 * _EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
_REAL = (
    "BatchToSpaceND", "UniqueV2", "Empty", "FusedBatchNormV3", "ImageSummary", "LogicalOr", "MirrorPad",
    "QuantizedConcat", "ResizeBilinear", "SpaceToBatch", "SparseCrossV2", "StridedSlice",
)  # fmt: skip


def _read(raw: bytes) -> Spec:
    text = decode(raw, "page.txt")
    (spec,) = find_importer(text).read(text, None)
    return spec


def attribute_facts(each: AttributeSpec) -> tuple[object, ...]:
    return (
        each.kind, each.other_type, each.required, each.has_default, each.default, each.allowed,
        each.at_least, each.least_length,
    )  # fmt: skip


def parameter_facts(each: ParameterSpec, states_lengths: bool = True) -> tuple[object, ...]:
    # The text tells the least length of a list of one type alone.
    length = each.least_length if each.homogeneous and states_lengths else None
    return (each.name, each.option, each.type, each.homogeneous, length)


def same_structure(docstring: Spec, definition: Spec) -> None:
    """Every structural field of a docstring is that of the definition."""
    assert {name: attribute_facts(attribute) for name, attribute in docstring.attributes.items()} == {
        name: attribute_facts(attribute) for name, attribute in definition.attributes.items()
    }
    for ours, theirs in ((docstring.inputs, definition.inputs), (docstring.outputs, definition.outputs)):
        assert [parameter_facts(own) for own in ours] == [parameter_facts(other) for other in theirs]
    assert {name: type_constraint.types for name, type_constraint in docstring.type_constraints.items()} == {
        name: type_constraint.types for name, type_constraint in definition.type_constraints.items()
    }


@_SETTINGS
@given(definition=definitions())
def test_docstrings_are_read_back(definition: Definition) -> None:
    spec = _read(emit_docstring(definition).encode())
    codes = {finding.code for finding in spec.findings}
    assert codes <= {"low-confidence-values", "default-outside-values"}, spec.findings
    same_structure(spec, definition.spec())


@_SETTINGS
@given(definition=definitions())
def test_cells_are_read_back(definition: Definition) -> None:
    expected = definition.spec()
    inferred = definition.inferred
    for row in definition.inputs:
        text = emit_cell(definition, row, tensor_phrase(definition, row, False))
        if "number_attr" in row or "type_list_attr" in row:
            continue
        spec = _cell(text.encode())
        wanted = next(each for each in expected.inputs if each.name == row["name"])
        assert [parameter_facts(each) for each in spec.inputs] == [parameter_facts(wanted)]
        if inferred.get(row.get("type_attr", "")) == row["name"]:
            assert spec.type_constraints.keys() == expected.type_constraints.keys() & {wanted.type}
        for name, constraint in spec.type_constraints.items():
            assert constraint.types == expected.type_constraints[name].types
    for row in definition.own_attributes:
        if row["type"] not in ("int", "float", "bool", "string", "type"):
            continue
        spec = _cell(emit_cell(definition, row, attribute_phrase(row)).encode())
        assert attribute_facts(spec.attributes[row["name"]]) == attribute_facts(
            expected.attributes[row["name"]]
        )


_OPERATOR = OperatorName("org.tensorflow", "Op", 1)


def _cell(raw: bytes) -> Spec:
    text = decode(raw, "cell.txt")
    assert find_importer(text).dialect == "tensorflow-fragment"
    (spec,) = read_fragment(text, _OPERATOR)
    return spec


def _raw(documents: Documents, name: str) -> bytes:
    return (documents.find("tensorflow/docstrings") / f"{name}.txt").read_bytes()


def _changes(raw: bytes, damage: Damage, seed: int) -> list[Change]:
    """What damage changed without a word; prose, formulas and examples at a cut do not count.

    Nor does what prose says of the last result: nobody can tell that a docstring went on behind a whole line.
    """
    try:
        damaged = _read(damage(raw, Random(seed)))
    except UserError:
        return []
    ignored = re.compile(r"prose|formulas|examples|outputs\.\w+\.(?:rank|shape|at_least)$")
    return silent_changes([_read(raw)], [damaged], lambda path: ignored.match(path) is not None)


@_SETTINGS
@given(name=st.sampled_from(_REAL), kind=st.sampled_from(sorted(HARMLESS)), seed=st.integers(0, 2**32))
def test_harmless_damage_changes_no_fact(documents: Documents, name: str, kind: str, seed: int) -> None:
    raw = _raw(documents, name)
    assert facts(_read(HARMLESS[kind](raw, Random(seed)))) == facts(_read(raw))


@_SETTINGS
@given(name=st.sampled_from(_REAL), kind=st.sampled_from(sorted(HARMFUL)), seed=st.integers(0, 2**32))
def test_no_damage_changes_a_fact_silently(documents: Documents, name: str, kind: str, seed: int) -> None:
    assert _changes(_raw(documents, name), HARMFUL[kind], seed) == []


@_SETTINGS
@given(definition=definitions(), kind=st.sampled_from(sorted(HARMFUL)), seed=st.integers(0, 2**32))
def test_no_damage_changes_a_fact_of_made_up_operators(definition: Definition, kind: str, seed: int) -> None:
    assert _changes(emit_docstring(definition).encode(), HARMFUL[kind], seed) == []


@_SETTINGS
@given(name=st.sampled_from(_REAL), kind=st.sampled_from(sorted(VIOLENT)), seed=st.integers(0, 2**32))
def test_violent_damage_does_not_crash(documents: Documents, name: str, kind: str, seed: int) -> None:
    _changes(_raw(documents, name), VIOLENT[kind], seed)


@pytest.mark.parametrize("title", ["Args", "Returns"])
@pytest.mark.parametrize("name", _REAL)
def test_a_missing_section_is_reported(documents: Documents, name: str, title: str) -> None:
    raw = _raw(documents, name)
    assert _changes(raw, section_dropper(f" *{title}:"), 0) == []
    dropped = _read(section_dropper(f" *{title}:")(raw, Random(0)))
    assert {finding.code for finding in dropped.findings} & {
        "section-missing",
        "items-vs-signature",
        "item-unread",
    }


@_SETTINGS
@given(kind=st.sampled_from(sorted({**HARMFUL, **HARMLESS})), seed=st.integers(0, 2**32))
def test_damage_to_a_cell_is_reported(first_pages: Path, kind: str, seed: int) -> None:
    raw = next(first_pages.glob("002_*")).read_bytes()
    damage = {**HARMFUL, **HARMLESS}[kind]
    try:
        damaged = _cell_of(damage(raw, Random(seed)))
    except UserError:
        assume(kind not in HARMLESS)
        return
    changes = silent_changes([_cell_of(raw)], [damaged], lambda path: path.startswith("prose"))
    assert changes == []


def _cell_of(raw: bytes) -> Spec:
    (spec,) = read_fragment(decode(raw, "cell.txt"), _OPERATOR)
    return spec
