"""OpenVINO's pages: the share of each field that is read, what is not, and facts looked up by eye."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.errors import UserError
from specs.documents.openvino_pages.type_words import EVERY, FLOATS, NUMERIC, SIGNED, UNSIGNED, read_types
from specs.documents.text.documents import Text, read_document
from specs.importers import find_importer
from specs.importers.openvino_specifications import DOXYREST, MARKDOWN, SPHINX
from specs.model.spec import Example, Spec
from tests.documents.gathering import Documents
from tests.specs.openvino_measure import Measure, measure_folder

_INTEGERS = (*SIGNED, *UNSIGNED)

SHARES = {
    "name and version": (130, 0),
    "category": (130, 0),
    "attribute type": (282, 5),
    "attribute required": (282, 5),
    "attribute default": (182, 6),
    "attribute range": (276, 14),
    "input optionality": (320, 1),
    "input type": (320, 0),
    "output type": (149, 0),
    "type variable": (192, 2),
}
"""How often a field is stated, and how often what is stated is not read."""

UNREAD = (
    ("SoftMax_8.md", 17, "attribute range", "axis"),
    ("PriorBoxClustered_1.md", 52, "attribute default", "width"),
    ("Eye_9.md", 62, "attribute range", "output_type"),
    ("Range_4.md", 14, "attribute range", "output_type"),
    ("Constant_1.md", 46, "type variable", "T"),
    ("Loop_5.md", 90, "attribute range", "external_port_id"),
    ("Loop_5.md", 91, "attribute type", "external_port_id"),
    ("Loop_5.md", 92, "attribute default", "external_port_id"),
    ("Loop_5.md", 93, "attribute required", "external_port_id"),
    ("Loop_5.md", 98, "attribute range", "internal_layer_id"),
    ("Loop_5.md", 99, "attribute type", "internal_layer_id"),
    ("Loop_5.md", 100, "attribute default", "internal_layer_id"),
    ("Loop_5.md", 101, "attribute required", "internal_layer_id"),
    ("Loop_5.md", 107, "attribute range", "axis"),
    ("Loop_5.md", 108, "attribute type", "axis"),
    ("Loop_5.md", 109, "attribute default", "axis"),
    ("Loop_5.md", 110, "attribute required", "axis"),
    ("Loop_5.md", 121, "attribute range", "from-layer"),
    ("Loop_5.md", 122, "attribute type", "from-layer"),
    ("Loop_5.md", 123, "attribute default", "from-layer"),
    ("Loop_5.md", 124, "attribute required", "from-layer"),
    ("Loop_5.md", 129, "attribute range", "to-layer"),
    ("Loop_5.md", 130, "attribute type", "to-layer"),
    ("Loop_5.md", 131, "attribute default", "to-layer"),
    ("Loop_5.md", 132, "attribute required", "to-layer"),
    ("Concat_1.md", 14, "attribute range", "axis"),
    ("GatherElements_6.md", 75, "attribute range", "axis"),
    ("GatherND_5.md", 64, "attribute range", "batch_dims"),
    ("Gather_8.md", 28, "attribute range", "batch_dims"),
    ("Pad_1.md", 93, "type variable", "T_INT"),
    ("Reverse_1.md", 30, "input optionality", "axis"),
    ("Split_1.md", 25, "attribute range", "num_splits"),
    ("MVN_1.md", 52, "attribute range", "reduction_axes"),
)
"""Everything that is not read: file, line, field, what it belongs to.

Loop-5's are attributes of its body and its map of ports, not its own. The others are ranges that depend on
a rank or a shape, defaults that are no value of the stated type, and an input of which the page does not say
whether it may be omitted.
"""


@cache
def _measure(folder: Path) -> Measure:
    return measure_folder(folder)


@pytest.fixture
def measure(documents: Documents) -> Measure:
    return _measure(documents.find("openvino"))


@cache
def _specs(folder: Path) -> dict[str, Spec]:
    specs = {}
    for path in sorted(folder.glob("*/*.md")):
        (spec,) = MARKDOWN.read(read_document(path), None)
        specs[spec.operator.short] = spec
    return specs


@pytest.fixture
def specs(documents: Documents) -> dict[str, Spec]:
    return _specs(documents.find("openvino"))


def test_every_page_is_read(measure: Measure, documents: Documents) -> None:
    assert (measure.pages, measure.refused) == (130, [])
    pages = {
        path
        for path in (documents.find("openvino")).rglob("*.md")
        if not path.name.startswith(("opset", "broadcast_rules"))
    }
    assert len(pages) == 130


@pytest.mark.parametrize("name", SHARES)
def test_shares_by_field(measure: Measure, name: str) -> None:
    states = measure.outcomes[name]
    assert (states.total(), states["unread"]) == SHARES[name]
    assert measure.stated[name] in (0, states.total())
    assert measure.share(name) >= 0.94


def test_what_is_not_read(measure: Measure) -> None:
    found = [
        (file, field_outcome.line, field_outcome.field, field_outcome.about)
        for file, field_outcome in measure.unread
    ]
    assert sorted(found) == sorted(UNREAD)


def test_allowed_values_of_strings(measure: Measure) -> None:
    """Of 71 string attributes 66 have a list, 4 are free (a name, an equation, a type), one has one value."""
    assert measure.strings == {"bulleted-list": 38, "inline-list": 28, "free": 4, "proposed": 1}


def test_blocks_of_xml(measure: Measure) -> None:
    """195 fragments and one whole network parse; 28 are malformed, each a finding; 24 can be mended."""
    assert (measure.parsed, measure.mended, measure.blocks) == (196, 24, 224)
    assert (measure.examples, measure.printed) == (258, 54)


@pytest.mark.parametrize(
    ("operator", "name", "expected"),
    [
        ("Clamp-1", "min", {"kind": "float", "required": True, "has_default": False}),
        ("Gelu-7", "approximation_mode", {"kind": "string", "default": "erf"}),
        ("CumSum-3", "exclusive", {"kind": "int", "other_type": "boolean", "default": 0}),
        ("Divide-1", "m_pythondiv", {"default": 1, "required": False}),
        ("DetectionOutput-1", "code_type", {"default": "caffe.PriorBoxParameter.CORNER"}),
        ("DetectionOutput-1", "input_width", {"kind": "int", "default": 1, "at_least": 1}),
        ("DetectionOutput-1", "keep_top_k", {"kind": "ints", "required": True, "at_least": None}),
        ("DetectionOutput-1", "objectness_score", {"default": 0.0, "at_least": 0.0}),
        ("FakeQuantize-1", "levels", {"kind": "int", "at_least": 2}),
        ("GRUCell-3", "activations", {"kind": "strings", "default": ["sigmoid", "tanh"]}),
        ("GRUCell-3", "activations_beta", {"kind": "floats", "has_default": False, "required": False}),
        ("GRUCell-3", "clip", {"default": math.inf, "more_than": 0.0}),
        ("GenerateProposals-9", "nms_eta", {"default": 1.0, "at_least": 0.0, "at_most": 1.0}),
        ("Gather-8", "batch_dims", {"kind": "int", "other_type": "T_AXIS", "default": 0}),
        ("MVN-1", "eps", {"kind": "float", "other_type": "double", "more_than": 0.0}),
        ("MatrixNonMaxSuppression-8", "keep_top_k", {"default": -1, "at_least": None}),
        ("MatrixNonMaxSuppression-8", "sort_result", {"default": "none"}),
        ("PriorBoxClustered-1", "width", {"kind": "floats", "has_default": False}),
        ("PriorBox-1", "max_size", {"kind": "floats", "default": []}),
        ("Proposal-4", "framework", {"kind": "string", "default": ""}),
        ("StridedSlice-1", "ellipsis_mask", {"kind": "ints", "default": [0], "at_most": 1}),
        ("AvgPool-1", "exclude-pad", {"other_type": "boolean", "required": True}),
    ],
)
def test_attributes(specs: dict[str, Spec], operator: str, name: str, expected: dict[str, Any]) -> None:
    attribute = specs[operator].attributes[name]
    assert {key: getattr(attribute, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("operator", "name", "values"),
    [
        ("Add-1", "auto_broadcast", ("none", "numpy", "pdpd")),
        (
            "Constant-1",
            "element_type",
            (*["u1", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "f32", "boolean", "bf16"],),
        ),
        ("Convolution-1", "auto_pad", ("explicit", "same_upper", "same_lower", "valid")),
        ("Interpolate-1", "mode", ("nearest", "linear", "cubic", "area")),
        ("LSTMSequence-1", "direction", ("forward", "reverse", "bidirectional")),
        ("MVN-1", "across_channels", (0, 1)),
        ("Pad-1", "pad_mode", ("constant", "edge", "reflect", "symmetric")),
        ("PriorBox-1", "flip", (0, 1)),
        ("Proposal-1", "framework", ("", "tensorflow")),
        ("ROIAlign-9", "aligned_mode", ("asymmetric", "half_pixel_for_nn", "half_pixel")),
        ("RNNCell-3", "activations", ("relu", "sigmoid", "tanh")),
        ("TopK-3", "sort", ("value", "index", "none")),
    ],
)
def test_values(specs: dict[str, Spec], operator: str, name: str, values: tuple[Any, ...] | None) -> None:
    found = specs[operator].attributes[name].values
    if values is None:
        assert found is None
    else:
        assert found is not None
        assert (found.values, found.proposed) == (values, False)


@pytest.mark.parametrize(
    ("operator", "inputs", "outputs"),
    [
        ("Clamp-1", "input:T", "output:T"),
        ("CumSum-3", "input:T input_2?:T_AXIS", "output:T"),
        ("Concat-1", "inputs*:T", "output:T"),
        ("Constant-1", "", "output:T"),
        ("DFT-7", "data:T axes:T_IND signal_size?:T_SIZE", "output:T"),
        ("I420toRGB-8", "input:T input_2?:T input_3?:T", "output:T"),
        ("LSTMCell-1", "X:T initial_hidden_state:T initial_cell_state:T W:T R:T B?:T", "Ho:T Co:T"),
        ("LessEqual-1", "input:T input_2:T", "output:bool"),
        ("Loop-5", "trip_count:T_trip_count execution_condition:bool inputs*:unknown", "outputs*:T_outputs"),
        ("MVN-6", "data:T axes:T_IND", "output:T"),
        ("Range-4", "start:T1 stop:T2 step:T3", "output:output_type"),
        ("Result-1", "input:T", ""),
        ("Reverse-1", "data:T1 axis:unknown", "output:T1"),
        ("Roll-7", "data:T shift:T_IND_1 axes:T_IND_2", "output:T"),
        ("Sigmoid-1", "input:T_input", "output:T_input"),
        ("Split-1", "data:T axis:T_AXIS", "outputs*:T"),
        ("Transpose-1", "arg:T input_order:T_AXIS", "output:T"),
    ],
)
def test_inputs_and_outputs(specs: dict[str, Spec], operator: str, inputs: str, outputs: str) -> None:
    marks = {"single": "", "optional": "?", "variadic": "*"}
    for group, expected in ((specs[operator].inputs, inputs), (specs[operator].outputs, outputs)):
        assert " ".join(f"{each.name}{marks[each.option]}:{each.type}" for each in group) == expected


def test_defaults_of_inputs(specs: dict[str, Spec]) -> None:
    found = {
        f"{name}.{parameter.name}": parameter.default
        for name, spec in specs.items()
        for parameter in spec.inputs
        if parameter.default is not None
    }
    assert len(found) == 16
    assert found["CumSum-3.input_2"] == 0
    assert found["Swish-4.beta"] == 1.0
    assert found["NonMaxSuppression-9.soft_nms_sigma"] == 0


PHRASES: dict[str, tuple[str, ...] | None] = {
    "any numeric type.": NUMERIC,
    "Any numeric type.": NUMERIC,
    "any supported numeric type.": NUMERIC,
    "any supported signed numeric type.": (*FLOATS, *SIGNED),
    "any supported numerical data type.": NUMERIC,
    "any floating-point type.": FLOATS,
    "any floating point type.": FLOATS,
    "any supported floating-point type.": FLOATS,
    "any supported floating point type.": FLOATS,
    "arbitrary supported floating-point type.": FLOATS,
    "supported floating-point type.": FLOATS,
    "floating-point type.": FLOATS,
    "floating-point or integer type.": NUMERIC,
    "any integer type.": _INTEGERS,
    "any supported integer type.": _INTEGERS,
    "any supported integer types.": _INTEGERS,
    "integer type.": _INTEGERS,
    "`uint8` or any supported floating-point type.": ("uint8", *FLOATS),
    "`int64` or `int32`.": ("int64", "int32"),
    "``int32`` or ``int64``": ("int32", "int64"),
    "`int32` or `int64` and depends on `classes_index_type` attribute.": ("int32", "int64"),
    "Depending on *output_type* attribute can be `int64` or `int32`.": ("int64", "int32"),
    "`boolean`.": ("bool",),
    "`boolean` type.": ("bool",),
    "boolean type.": ("bool",),
    "any type.": EVERY,
    "f32, f16 or bf16": ("float", "float16", "bfloat16"),
    "any supported type.": (),
    "any supported type": (),
    "arbitrary supported type.": (),
    "any arbitrary supported type.": (),
    "any non-negative integer type.": None,
    "any type from *element type* values.": None,
    "whatever it takes": None,
    "": None,
}
"""What phrases stand for: nothing where they leave it open, None where they are not understood."""


@pytest.mark.parametrize("phrase", PHRASES)
def test_type_phrases(phrase: str) -> None:
    found, expected = read_types(phrase), PHRASES[phrase]
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert sorted(found.types) == sorted(expected)


def test_nine_complete_calls_of_slice(specs: dict[str, Spec]) -> None:
    """Values that stand in comments beside the ports; three more layers state shapes alone, or wrong ones."""
    examples = specs["Slice-8"].examples
    complete = [
        example
        for example in examples
        if all(value and value.data for _, value in (*example.inputs, *example.outputs))
    ]
    assert len(examples) == 12
    assert len(complete) == 9
    for example in complete:
        values = {name: value for name, value in example.inputs if value}
        assert values["data"].data is not None
        data = _nested(values["data"].data, values["data"].shape)
        start, stop, step = (values[name].data or () for name in ("start", "stop", "step"))
        axes = values["axes"].data if "axes" in values else range(len(start))
        index: list[slice] = [slice(None)] * data.ndim
        for position, axis in enumerate(axes or ()):
            end: int | None = stop[position]
            if step[position] < 0 and stop[position] < -data.shape[axis]:
                end = None
            index[axis] = slice(start[position], end, step[position])
        output = example.outputs[0][1]
        assert output is not None
        assert data[tuple(index)].flatten().tolist() == list(output.data or ())


def _arrays(example: Example) -> tuple[list[Any], Any]:
    values = [value for _, value in (*example.inputs, *example.outputs) if value]
    arrays = [_nested(value.data or (), value.shape) for value in values]
    return arrays[:-1], arrays[-1]


@pytest.mark.parametrize(
    ("operator", "count"),
    [
        ("CumSum-3", 4),
        ("Einsum-7", 8),
        ("Eye-9", 2),
        ("Gather-8", 7),
        ("GatherElements-6", 3),
        ("GatherND-5", 6),
        ("Range-1", 2),
        ("Range-4", 3),
        ("ScatterNDUpdate-3", 2),
        ("Select-1", 1),
    ],
)
def test_printed_outputs_are_what_numpy_computes(specs: dict[str, Spec], operator: str, count: int) -> None:
    """Blocks of assignments, and comments beside ports: the inputs go to the right names."""
    examples = [example for example in specs[operator].examples if example.printed]
    assert len(examples) == count
    for example in examples:
        inputs, output = _arrays(example)
        found = _COMPUTED[operator](inputs, example.attributes)
        assert found.shape == output.shape
        assert found.tolist() == output.tolist(), example.id


def _update(data: Any, indices: Any, updates: Any) -> Any:
    found = data.copy()
    found[indices[:, 0]] = updates
    return found


def _take(data: Any, indices: Any, axis: int, batched: int) -> Any:
    """The elements at indices along an axis; beyond the end there are zeros."""
    if batched < 0:
        batched += indices.ndim
    if batched == 0:
        size = data.shape[axis]
        parts = [
            data.take(each, axis) if -size <= each < size else np.zeros_like(data.take(0, axis))
            for each in indices.flatten()
        ]
        lead, tail = data.shape[:axis], data.shape[axis + 1 :]
        return np.stack(parts, axis).reshape(*lead, *indices.shape, *tail)
    pairs = zip(data, indices, strict=True)
    return np.stack([_take(rows, places, axis - 1, batched - 1) for rows, places in pairs])


def _take_slices(data: Any, indices: Any, batched: int) -> Any:
    """The slices at places; the batches of all leading axes are one axis of the result."""
    if batched == 0:
        found = np.stack([data[tuple(place)] for place in indices.reshape(-1, indices.shape[-1])])
        return found.reshape((*indices.shape[:-1], *found.shape[1:]))
    lead = int(np.prod(data.shape[:batched]))
    rows = data.reshape(lead, *data.shape[batched:])
    places = indices.reshape(lead, *indices.shape[batched:])
    pairs = zip(rows, places, strict=True)
    return np.stack([_take_slices(row, place, 0) for row, place in pairs])


def _gather(data: Any, indices: Any, axis: int) -> Any:
    found = np.zeros(indices.shape, data.dtype)
    for place in np.ndindex(*indices.shape):
        source = [*place]
        source[axis] = indices[place]
        found[place] = data[tuple(source)]
    return found


def _sums(data: Any, attributes: Mapping[str, Any]) -> Any:
    backwards = data[::-1] if attributes.get("reverse") else data
    sums = np.cumsum(backwards) - (backwards if attributes.get("exclusive") else 0)
    return sums[::-1] if attributes.get("reverse") else sums


_COMPUTED: Mapping[str, Callable[[list[Any], Mapping[str, Any]], Any]] = {
    "CumSum-3": lambda inputs, given: _sums(inputs[0], given),
    "Einsum-7": lambda inputs, given: np.einsum(given["equation"], *inputs),
    "Eye-9": lambda inputs, given: np.eye(int(inputs[0]), int(inputs[1]), int(inputs[2])),
    "Gather-8": lambda inputs, given: _take(inputs[0], inputs[1], int(inputs[2]), given["batch_dims"]),
    "GatherElements-6": lambda inputs, given: _gather(inputs[0], inputs[1], given["axis"]),
    "GatherND-5": lambda inputs, given: _take_slices(inputs[0], inputs[1], given.get("batch_dims", 0)),
    "Range-1": lambda inputs, given: np.arange(*(each.item() for each in inputs)),
    "Range-4": lambda inputs, given: np.arange(*(each.item() for each in inputs)),
    "ScatterNDUpdate-3": lambda inputs, given: _update(*inputs),
    "Select-1": lambda inputs, given: np.where(*inputs),
}


def _nested(data: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    return np.array(data).reshape(shape)


@pytest.mark.parametrize(
    ("operator", "code", "lines"),
    [
        ("AdaptiveAvgPool-8", "attribute-unknown-in-example", [46]),
        ("ExperimentalDetectronDetectionOutput-6", "arity-vs-example", [157]),
        ("MatrixNonMaxSuppression-8", "example-outside-values", [146]),
        ("PReLU-1", "example-of-other-operator", [52]),
        ("PriorBoxClustered-1", "default-outside-range", [70, 70, 70]),
        ("PriorBoxClustered-1", "default-undecodable", [52, 52]),
        ("Slice-8", "brackets-vs-shape", [347, 365, 368, 371, 374]),
        ("StridedSlice-1", "section-missing", [159]),
        ("CumSum-3", "markup-damage", [17]),
        ("DFT-7", "xml-malformed", [56, 80, 103, 131, 157, 187]),
    ],
)
def test_findings(specs: dict[str, Spec], operator: str, code: str, lines: list[int]) -> None:
    assert [finding.source.line for finding in specs[operator].findings if finding.code == code] == lines


@pytest.mark.parametrize(
    ("content", "dialect"),
    [
        ("# X {#a}\n\n**Versioned name**: *X-1*\n", MARKDOWN.dialect),
        ("X\n===\n\n**Versioned name**: *X-1*\n", SPHINX.dialect),
        (".. _doxid-x:\n\nX\n===\n\n**Versioned name** : *X-1*\n", DOXYREST.dialect),
    ],
)
def test_dialects_are_told_apart(content: str, dialect: str) -> None:
    assert find_importer(Text("x.txt", content, "00")).dialect == dialect


@pytest.mark.parametrize(
    "layer",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><layer type="X"><data a="&a;"/></layer>',
        "<layer>" * 100,
        '<?xml version="1.0"?><layer type="X"/>',
    ],
)
def test_hostile_xml_is_a_finding(layer: str) -> None:
    content = f"# X {{#a}}\n\n**Versioned name**: *X-1*\n\n**Example**\n\n```xml\n{layer}\n```\n"
    (spec,) = MARKDOWN.read(Text("x.md", content, "00"), None)
    assert "xml-malformed" in [finding.code for finding in spec.findings]
    assert spec.examples == ()


def test_a_page_of_another_operator_is_refused(documents: Documents) -> None:
    text = read_document(documents.find("openvino/activation/Elu_1.md"))
    wanted = MARKDOWN.read(text, None)[0].operator
    with pytest.raises(UserError, match="another operator"):
        MARKDOWN.read(text, type(wanted)("org.openvino", "Elu", 2))
