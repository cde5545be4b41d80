"""Shapes and values that documents alone give by names, where sentences say next to nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from opcert.vocabulary.names import OperatorName
from specs.derived.deriving import derive
from specs.files.library import load_imported

SILENT = """\
operator: {{domain: ai.test, name: {name}, since_version: 1}}
documents:
  d1: {{file: silent.md, dialect: onnx-markdown, sha256: "00", identity: stated}}
attributes: {{{attributes}}}
inputs:
  - {{name: data, type: T, option: single, src: [d1, 10]}}
{inputs}
outputs:
  - {{name: Y, type: T, option: single, src: [d1, 40]}}
type_constraints:
  T: {{types: [float], src: [d1, 41]}}
  I: {{types: [int64], src: [d1, 42]}}
statements: [{statements}]
"""
"""A page that says next to nothing of its inputs and attributes: names alone tell what they are."""


def _silent(
    folder: Path, inputs: str = "", attributes: str = "", statements: str = "", name: str = "Silent"
) -> dict[str, dict[str, str]]:
    """What the document alone says of an operator with these inputs of integers: shapes, extents, kinds."""
    place = folder / "ai.test" / name
    place.mkdir(parents=True)
    rows = [
        f"  - {{name: {each}, type: I, option: single, src: [d1, {at}]}}"
        for at, each in enumerate(inputs.split(), start=11)
    ]
    text = SILENT.format(name=name, attributes=attributes, inputs="\n".join(rows), statements=statements)
    (place / "imported-1.yaml").write_text(text, encoding="utf-8")
    value = derive(load_imported(OperatorName("ai.test", name, 1), [folder])).value()
    return {key: {} for key in ("shapes", "extents", "kinds")} | value


_RANK_1 = "{{about: inputs.{0}, says: rank, least: '1', most: '1', rule: r, confidence: 1.0, src: [d1, 30]}}"
_SURE = "rule: r, confidence: 1.0, src: [d1, 30]"
_PUT = "rank(indices) + rank(data) - shape(indices)[-1] - 1"


@pytest.mark.parametrize(
    ("name", "inputs", "vectors", "shapes"),
    [
        ("Silent", "new_shape", "", {"new_shape": "new_shape_0"}),
        ("Silent", "query_length ids", "", {"query_length": "()", "ids": "*S_ids"}),
        ("Silent", "begin end axes", "begin end axes", {"begin": "1", "end": "1", "axes": "1"}),
        ("Silent", "end ids", "end ids", {"end": "end_0", "ids": "ids_0"}),
        ("Silent", "pads_begin block_shape", "pads_begin block_shape",
         {"pads_begin": "len(S)", "block_shape": "len(S)"}),
        ("Silent", "block_shape", "block_shape", {"block_shape": "block_shape_0"}),
        ("GatherND", "indices", "", {"indices": "*S_indices, 1", "data": "*S"}),
        ("Gather", "indices", "", {"indices": "*S_indices"}),
    ],
)  # fmt: skip
def test_silent_integers_have_the_shapes_of_their_names(
    tmp_path: Path, name: str, inputs: str, vectors: str, shapes: dict[str, str]
) -> None:
    ranks = ", ".join(_RANK_1.format(each) for each in vectors.split())
    found = _silent(tmp_path, inputs, statements=ranks, name=name)["shapes"]
    assert found | shapes == found


def test_what_is_put_in_places_has_their_axes_and_those_of_the_data_behind_the_first(tmp_path: Path) -> None:
    rank = f"{{about: inputs.updates, says: rank, least: '{_PUT}', most: '{_PUT}', {_SURE}}}"
    found = _silent(tmp_path, "indices updates", statements=rank)
    assert found["shapes"] == {
        "data": "data_0, *S",
        "indices": "*S_indices, 1",
        "updates": "*S_indices, *S",
    }
    assert found["extents"] == {"S": "0..2", "S_indices": "0..2"}


@pytest.mark.parametrize(
    ("name", "facts", "kind"),
    [
        ("ratios", "type: floats, required: true", "constant('listed', length=1, first=1)"),
        ("words", "type: strings, required: true", "constant('listed', length=1, first=1)"),
        ("shape", "type: ints, required: true", "whole_numbers('alike', length=2, least=1)"),
        ("masks", "type: ints, required: true", "whole_numbers('alike', length=1, least=1)"),
        ("masks", "type: ints, required: false", "constant('left_out')"),
        ("use_table", "type: int, required: false", "constant('left_out')"),
        ("do_turn", f"type: int, required: false, default: {{value: 0, {_SURE}}}", "enumeration(0)"),
        ("group", f"type: int, at_least: 1, default: {{value: 1, {_SURE}}}", "enumeration(1)"),
        ("offset", f"type: int, at_least: 1, default: {{value: 1, {_SURE}}}", "integer(1)"),
    ],
)
def test_silent_attributes_have_the_plainest_values(tmp_path: Path, name: str, facts: str, kind: str) -> None:
    facts = facts if "required" in facts else f"{facts}, required: false"
    found = _silent(tmp_path, attributes=f"{name}: {{{facts}, src: [d1, 3]}}")
    assert found["kinds"][name] == kind


def test_a_scalar_that_may_be_a_list_is_one_axis_unless_it_is_called_several(tmp_path: Path) -> None:
    said = (
        "{{about: inputs.{0}, says: rank, least: '0', most: '1', rule: r, confidence: 1.0, src: [d1, 30]}}, "
        "{{about: inputs.{0}, says: range, of: elements, at_least: '-rank(data)', at_most: 'rank(data) - 1', "
        "rule: r, confidence: 1.0, src: [d1, 31]}}"
    )
    one = _silent(tmp_path / "one", "which", statements=said.format("which"))
    assert (one["shapes"]["which"], one["kinds"]["which"]) == ("()", "axis(data)")
    several = _silent(tmp_path / "several", "axes", statements=said.format("axes"))
    assert (several["shapes"]["axes"], several["kinds"]["axes"]) == ("maybe(axes_0)", "axis('several', data)")
