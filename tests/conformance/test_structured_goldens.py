"""Goldens of every form of a call: there and back, the id of the call, damage that is refused in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import AttributeProto, GraphProto, TypeProto, helper

from conformance.suite.cases import Case, Unordered
from conformance.suite.distributions import Distributed
from conformance.suite.flat_values import MapValue, Value, flatten, take_value
from conformance.suite.goldens import read_golden, write_golden
from conformance.suite.properties import (
    HasShape,
    HasType,
    InRange,
    Masked,
    Property,
    SameAgain,
    describe_property,
    read_property,
)
from conformance.suite.protos import read_attribute, write_attribute
from opcert.vocabulary.attributes import SPARSE, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.slots import Slot, check_slots
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import (
    MapType,
    OptionalType,
    SequenceType,
    TensorType,
    ValueType,
    parse_value_type,
)
from tests.conformance.structured_cases import FORMS, A, B, branch, make, random, sequence

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
ELEMENTS = st.sampled_from(list(ELEMENT_TYPES.values()))
EXTENTS = st.one_of(st.none(), st.integers(0, 9), NAMES)
TENSORS = st.builds(TensorType, ELEMENTS, st.one_of(st.none(), st.lists(EXTENTS, max_size=3).map(tuple)))
KEYS = st.sampled_from([ELEMENT_TYPES[name] for name in ("string", "int64", "int32", "uint8")])
MAPS = st.builds(MapType, KEYS, st.builds(TensorType, ELEMENTS))
TYPES: st.SearchStrategy[ValueType] = st.recursive(
    TENSORS | MAPS,
    lambda of: (
        of.map(SequenceType) | of.filter(lambda kind: not isinstance(kind, OptionalType)).map(OptionalType)
    ),
    max_leaves=3,
)
FINITE = st.floats(-1e6, 1e6)
PROPERTIES: st.SearchStrategy[Property] = st.one_of(
    st.just(SameAgain()),
    st.builds(HasType, NAMES, ELEMENTS),
    st.builds(HasShape, NAMES, st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=4).map(tuple)),
    st.builds(
        InRange, NAMES, st.floats(allow_nan=False), st.floats(allow_nan=False), st.booleans(), st.booleans(),
        st.booleans(),
    ),
    st.builds(Masked, NAMES, NAMES, st.booleans()),
    st.builds(
        lambda name, chance, rows, resolution: Distributed(
            name, "categorical", (chance, 1 - chance) * rows, 1e-9, rows, resolution
        ),
        NAMES, st.floats(0, 1), st.integers(1, 3), st.floats(0, 0.5),
    ),
    st.builds(
        lambda name, ends, rate: Distributed(name, "uniform", tuple(sorted(ends)), rate),
        NAMES, st.tuples(FINITE, FINITE), st.floats(1e-12, 0.01),
    ),
    st.builds(
        lambda name, chances, rate: Distributed(name, "bernoulli", tuple(chances), rate),
        NAMES, st.lists(st.floats(0, 1), min_size=1, max_size=5), st.floats(1e-12, 0.01),
    ),
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_golden_of_each_form_is_read_as_it_was_written(form: str) -> None:
    case = FORMS[form]
    raw, _ = write_golden(case)
    read = read_golden(raw)
    assert write_golden(read)[0] == raw
    assert (read.slots, read.output_types, read.outputs_asked) == (
        case.slots, case.output_types, case.outputs_asked,
    )  # fmt: skip
    assert (read.attributes, read.inputs, read.output_names) == (
        case.attributes, case.inputs, case.output_names,
    )  # fmt: skip
    assert [expectation.unordered for expectation in read.expectations] == [
        expectation.unordered for expectation in case.expectations
    ]
    assert read.call_digest() == case.id.digest


@given(st.lists(PROPERTIES, max_size=3))
def test_properties_are_read_as_they_were_written(properties: list[Property]) -> None:
    for each in properties:
        assert read_property(json.loads(json.dumps(describe_property(each)))) == each
    known = tuple(
        each
        if isinstance(each, SameAgain)
        else replace(each, output="output", mask="output")
        if isinstance(each, Masked)
        else replace(each, output="output")
        for each in properties
    )
    case = random(*known)
    assert read_golden(write_golden(case)[0]).properties == case.properties


@given(TYPES)
def test_types_are_read_as_they_were_written(kind: ValueType) -> None:
    assert parse_value_type(str(kind)) == kind
    read = read_attribute(write_attribute("t", attribute("type", kind)))
    assert read == attribute("type", str(kind))


@given(st.text(max_size=40))
def test_texts_that_are_no_types_are_refused(text: str) -> None:
    try:
        parse_value_type(text)
    except UserError:
        return
    assert str(parse_value_type(text)) == str(parse_value_type(str(parse_value_type(text))))


@pytest.mark.parametrize(
    "text",
    ["float", "tensor(real)", "seq()", "map(float,tensor(float))", "map(string,seq(tensor(float)))",
     "optional(optional(tensor(float)))", "sparse_tensor(float)",
     "tensor(float)[1,-2]", "seq(" * 20 + "tensor(float)" + ")" * 20],
)  # fmt: skip
def test_types_that_no_case_carries_are_refused(text: str) -> None:
    with pytest.raises(UserError):
        parse_value_type(text)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("tensor", A), ("tensors", [A, B]), ("graph", branch(3.0)), ("graphs", [branch(1.0), branch(2.0)]),
     ("type", "seq(tensor(int64)[N,3])"), ("types", ["tensor(float)", "optional(seq(tensor(string)))"]),
     ("ints", []), ("tensors", [])],
)  # fmt: skip
def test_attributes_of_every_kind_survive_their_messages(kind: str, value: Any) -> None:
    made = attribute(kind, value)
    assert read_attribute(write_attribute("a", made)) == made


def test_sparse_tensors_are_refused_with_the_reason() -> None:
    sparse = helper.make_attribute(
        "sparse_value",
        helper.make_sparse_tensor(
            helper.make_tensor("v", 1, [1], [1.0]), helper.make_tensor("i", 7, [1], [0]), [3]
        ),
    )
    with pytest.raises(UserError, match="no case carries") as raised:
        read_attribute(sparse)
    assert raised.value.expected == SPARSE
    with pytest.raises(UserError, match="no case carries"):
        attribute("sparse_tensor", A)


def test_a_graph_with_data_in_another_file_is_refused() -> None:
    graph = GraphProto.FromString(branch(1.0).raw)
    inner = graph.node[0].attribute[0].t
    inner.external_data.add(key="location", value="/etc/passwd")
    with pytest.raises(UserError, match="another file"):
        read_attribute(AttributeProto(name="g", type=AttributeProto.GRAPH, g=graph))


def test_what_a_call_says_is_in_its_id() -> None:
    """Order, repetition, missing, wanted outputs, the type of a slot and every kind of attribute."""
    case = FORMS["sequence_at"]
    others = [
        replace(case, slots=(Slot("input_sequence", (1, 0), case.slots[0].type), case.slots[1])),
        replace(case, slots=(Slot("input_sequence", (0, 1, 0), case.slots[0].type), case.slots[1])),
        replace(case, slots=(*case.slots, Slot("more"))),
        replace(case, outputs_asked=True),
        replace(case, attributes={"t": attribute("tensor", A)}),
        replace(case, attributes={"t": attribute("tensor", B)}),
        replace(case, attributes={"t": attribute("graph", branch(1.0))}),
        replace(case, attributes={"t": attribute("graph", branch(2.0))}),
        replace(case, attributes={"t": attribute("type", "tensor(float)")}),
    ]
    digests = [other.call_digest() for other in (case, *others)]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(
    "slots",
    [
        (Slot("X", (0, 1)),),
        (Slot("X", (0,)),),
        (Slot("X", (0,)), Slot("Y", (2,))),
        (Slot("X", (-1,)), Slot("Y", (1,))),
        (Slot("X", (0, 1), parse_value_type("seq(tensor(double))")),),
        (Slot("X", (0, 1), parse_value_type("optional(tensor(float))")),),
        (Slot("X", (0, 1), parse_value_type("optional(seq(tensor(float)))"), empty=True),),
        (Slot("X", (0, 1), parse_value_type("seq(seq(tensor(float)))")),),
        (Slot("X", (0, 1), parse_value_type("map(string,tensor(float))")),),
        (Slot("X", (0, 1)), Slot("Y", (), parse_value_type("seq(tensor(float))"), empty=True)),
    ],
)
def test_slots_that_do_not_fit_are_refused(slots: tuple[Slot, ...]) -> None:
    with pytest.raises(UserError):
        check_slots((("X", A), ("X", B)), slots)


def test_a_map_with_a_key_twice_is_refused() -> None:
    keys = tensor(np.array([1, 1], np.int64))
    slot = Slot("X", (0, 1), parse_value_type("map(int64,tensor(float))"))
    with pytest.raises(UserError, match="input 'X'"):
        check_slots((("X", keys), ("X", A)), (slot,))


PLAIN = st.sampled_from([ELEMENT_TYPES[name] for name in ("float", "int64", "string", "bfloat16", "bool")])
PLAIN_MAPS = st.builds(MapType, KEYS, st.builds(TensorType, PLAIN))
TREES = st.one_of(
    st.builds(TensorType, PLAIN), PLAIN_MAPS,
    st.builds(TensorType, PLAIN).map(SequenceType), PLAIN_MAPS.map(SequenceType),
    st.builds(TensorType, PLAIN).map(SequenceType).map(SequenceType),
).flatmap(lambda kind: st.sampled_from([kind, OptionalType(kind)]))  # fmt: skip


def leaf(draw: st.DrawFn, kind: ElementType, shape: tuple[int, ...]) -> Tensor:
    size = int(np.prod(shape))
    if kind.kind == "string":
        texts = draw(st.lists(st.binary(max_size=3), min_size=size, max_size=size))
        array = np.empty(size, object)
        array[:] = texts
        return Tensor(kind, array.reshape(shape))
    numbers = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    return Tensor(kind, np.array(numbers).astype(kind.storage).reshape(shape))


@st.composite
def values(draw: st.DrawFn, kind: ValueType) -> Value:
    """Any value of a type."""
    match kind:
        case OptionalType():
            return draw(st.none() | values(kind.of))
        case SequenceType():
            return tuple(draw(st.lists(values(kind.of), max_size=3)))
        case MapType():
            count = draw(st.integers(0, 3))
            keys = [str(number).encode() if kind.key.kind == "string" else number for number in range(count)]
            held = np.array(keys, kind.key.storage)
            return MapValue(Tensor(kind.key, held), leaf(draw, kind.of.element_type, (count,)))
    shape = tuple(draw(st.lists(st.integers(0, 2), max_size=2)))
    return leaf(draw, kind.element_type, shape)


@given(st.data())
def test_any_tree_is_read_as_it_was_written(data: st.DataObject) -> None:
    kind = data.draw(TREES)
    value = data.draw(values(kind))
    tensors = flatten(kind, value)
    case = make("org.example::Make-1", (), ("Y",), [(f"Y_{at}", each) for at, each in enumerate(tensors)])
    if not isinstance(kind, TensorType):
        case = replace(case, output_types={"Y": kind})
    read = read_golden(write_golden(case)[0])
    found = [output.expected for output in read.expectations[0].outputs]
    taken, behind = take_value(kind, found)
    assert behind == len(found)
    assert flatten(kind, taken) == tensors
    assert read.output_types.get("Y", kind) == kind


KEYED = "map(string,tensor(float))"
NUMBER, TEXTS = tensor(np.array(2, np.int64)), tensor(np.array(["a", "b"], object))


@pytest.mark.parametrize(
    ("kind", "tensors", "rule"),
    [
        ("seq(tensor(float))", (NUMBER, A, tensor(np.array([1.0]))), "one_element_type"),
        (KEYED, (tensor(np.array([1, 2], np.int64)), A), "one_key_type"),
        (f"seq({KEYED})", (NUMBER, TEXTS, A, tensor(np.array([1, 2], np.int64)), A), "one_key_type"),
        (KEYED, (TEXTS, tensor(np.array([1], np.float32))), "one value for each key"),
        (KEYED, (tensor(np.array(["a", "a"], object)), A), "a key that is there twice"),
        ("seq(tensor(float))", (NUMBER, A), "fewer tensors"),
        ("seq(tensor(float))", (NUMBER, A, B, B), "another number of tensors"),
        ("optional(tensor(float))", (tensor(np.array(False)), A), "another number of tensors"),
    ],
)
def test_an_expected_value_that_breaks_a_rule_is_refused_by_its_name(
    kind: str, tensors: tuple[Tensor, ...], rule: str
) -> None:
    expected = [(f"Y_{at}", each) for at, each in enumerate(tensors)]
    case = make("org.example::Make-1", (), ("Y",), expected, types={"Y": kind})
    with pytest.raises(UserError) as raised:
        write_golden(case)
    assert rule in str(raised.value)


@pytest.mark.parametrize(
    ("slot", "rule"),
    [
        (sequence(0, 1, name="X"), "one_element_type"),
        (Slot("X", (0, 1), parse_value_type(f"seq({KEYED})")), "one_key_type"),
    ],
)
def test_a_given_value_that_breaks_a_rule_is_refused_by_its_name(slot: Slot, rule: str) -> None:
    given_inputs = (("X", A), ("X", tensor(np.array([1.0, 2.0]))))
    with pytest.raises(UserError, match=rule):
        check_slots(given_inputs, (slot,))


def test_an_optional_of_an_optional_is_refused_by_the_name_of_its_rule() -> None:
    with pytest.raises(UserError, match="optional_of_a_value"):
        parse_value_type("optional(optional(tensor(float)))")
    proto = TypeProto()
    proto.optional_type.elem_type.optional_type.elem_type.tensor_type.elem_type = 1
    with pytest.raises(UserError, match="optional_of_a_value"):
        read_attribute(AttributeProto(name="t", type=AttributeProto.TYPE_PROTO, tp=proto))
    with pytest.raises(UserError, match="one_key_type"):
        parse_value_type("map(float,tensor(float))")
    edit = {"slots": [["input_sequence", [0], "optional(optional(tensor(float)))", False]]}
    with pytest.raises(UserError, match="optional_of_a_value"):
        read_golden(_edit(FORMS["sequence_at"], lambda rest: rest.update(edit)))


def _edit(case: Case, edit: Callable[[dict[str, Any]], Any]) -> bytes:
    graph = GraphProto.FromString(write_golden(case)[0])
    rest = json.loads(graph.doc_string)
    edit(rest)
    graph.doc_string = json.dumps(rest)
    return bytes(graph.SerializeToString(deterministic=True))


@pytest.mark.parametrize(
    "edit",
    [
        lambda rest: rest.update(slots=[["S", [0, 99], "seq(tensor(float))", False]]),
        lambda rest: rest.update(slots=[["S", [0], "opaque()", False]]),
        lambda rest: rest.update(slots=[["S", "01", None, False]]),
        lambda rest: rest.update(slots=[["S", [0], None, 1]]),
        lambda rest: rest.update(slots={"S": 0}),
        lambda rest: rest.update(outputs_asked="yes"),
        lambda rest: rest.update(output_types={"nobody": "seq(tensor(float))"}),
        lambda rest: rest.update(output_types={"tensor": "seq(seq"}),
        lambda rest: rest.update(properties=[{"kind": "wish", "output": "tensor"}]),
        lambda rest: rest.update(properties=[{"kind": "type", "output": "tensor", "element_type": "real"}]),
        lambda rest: rest.update(properties=[{"kind": "shape", "output": "tensor", "shape": [-1]}]),
        lambda rest: rest.update(properties=[{"kind": "shape", "output": "nobody", "shape": [1]}]),
        lambda rest: rest.update(
            properties=[{"kind": "distribution", "output": "tensor", "family": "normal",
                         "parameters": [0, 1], "false_alarm": 0.5}]
        ),
        lambda rest: rest.update(
            properties=[{"kind": "distribution", "output": "tensor", "family": "categorical",
                         "parameters": [0.5, 0.6], "false_alarm": 1e-9}]
        ),
        lambda rest: rest["expectations"][0].update(unordered=[[["tensor"], 7, False]]),
        lambda rest: rest["expectations"][0].update(unordered=[[["nobody"], 0, False]]),
        lambda rest: rest["expectations"][0].update(unordered=[[["tensor"], 0, "lanes"]]),
    ],
)  # fmt: skip
def test_hostile_goldens_are_refused_with_a_message(edit: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(UserError) as raised:
        read_golden(_edit(FORMS["sequence_at"], edit))
    assert str(raised.value)


def test_an_order_is_open_only_for_outputs_of_one_length() -> None:
    case = FORMS["three_parts"]
    (expectation,) = case.expectations
    wrong = replace(expectation, unordered=(Unordered(("a", "c"), 0),))
    with pytest.raises(UserError, match="open order"):
        write_golden(replace(case, expectations=(wrong,)))


def test_leave_to_refuse_is_kept_counts_and_belongs_to_answers_alone() -> None:
    plain = FORMS["concat"]
    case = replace(plain, may_refuse="no_elements")
    raw, digest = write_golden(case)
    assert read_golden(raw).may_refuse == "no_elements"
    assert read_golden(write_golden(plain)[0]).may_refuse is None
    assert digest != write_golden(plain)[1]
    with pytest.raises(UserError, match="no such word"):
        write_golden(replace(case, may_refuse="no elements"))
    with pytest.raises(UserError, match="demands no answer"):
        write_golden(replace(case, demand="survive", expectations=(), properties=()))
