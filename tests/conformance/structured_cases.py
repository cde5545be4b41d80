"""Cases of calls that are more than a tensor for each input: the forms that a case may have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto, helper

from conformance.suite.cases import Case, Expectation, ExpectedOutput, Unordered, call_digest
from conformance.suite.properties import HasType, Property
from opcert.vocabulary.attributes import Attribute, Graph, attribute
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor, tensor
from opcert.vocabulary.value_types import ValueType, parse_value_type

A = tensor(np.array([1, 2], np.float32))
B = tensor(np.array([[3, 4, 5]], np.float32))
POSITION = tensor(np.array(1, np.int64))
LENGTH = tensor(np.array(2, np.int64))


def make(
    operator: str,
    inputs: Sequence[tuple[str, Tensor | None]],
    outputs: Sequence[str],
    expected: Sequence[tuple[str, Tensor]] = (),
    *,
    attributes: dict[str, Attribute] | None = None,
    slots: tuple[Slot, ...] = (),
    types: dict[str, str] | None = None,
    asked: bool = False,
    properties: tuple[Property, ...] = (),
    unordered: tuple[Unordered, ...] = (),
) -> Case:
    """A case that demands these outputs, exactly; its id digests its call."""
    name = OperatorName.parse(operator)
    given = attributes or {}
    digest = call_digest(name, given, tuple(inputs), None, slots, tuple(outputs) if asked else None)
    kinds: dict[str, ValueType] = {key: parse_value_type(each) for key, each in (types or {}).items()}
    told = tuple(ExpectedOutput(key, each) for key, each in expected)
    return Case(
        id=CaseId(name, "cover", None, digest),
        element_type=next((each for _, each in inputs if each is not None), A).element_type,
        attributes=given,
        inputs=tuple(inputs),
        output_names=tuple(outputs),
        demand="answer",
        expectations=(Expectation(told, unordered=unordered),) if told else (),
        slots=slots,
        outputs_asked=asked,
        output_types=kinds,
        properties=properties,
    )


def sequence(*parts: int, name: str = "S", kind: str = "seq(tensor(float))") -> Slot:
    return Slot(name, parts, parse_value_type(kind))


def branch(value: float) -> Graph:
    """A graph without inputs that returns a constant."""
    constant = helper.make_tensor("", TensorProto.FLOAT, [1], [value])
    node = helper.make_node("Constant", [], ["branch"], value=constant)
    output = helper.make_tensor_value_info("branch", TensorProto.FLOAT, [1])
    graph = helper.make_graph([node], "branch", [], [output])
    return Graph(graph.SerializeToString(deterministic=True))


def concat() -> Case:
    """Three tensors of a variadic input, in order, of which the last is the first one again."""
    return make(
        "ai.onnx::Concat-13",
        (("inputs", A), ("inputs", tensor(np.array([9], np.float32)))),
        ("concat_result",),
        (("concat_result", tensor(np.array([1, 2, 9, 1, 2], np.float32))),),
        attributes={"axis": attribute("int", 0)},
        slots=(Slot("inputs", (0,)), Slot("inputs", (1,)), Slot("inputs", (0,))),
    )


def loop_without_condition() -> Case:
    """A variadic input behind one that is missing: Clip has none in the middle, Loop has."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c_out"]), helper.make_node("Add", ["v", "v"], ["v_out"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [2]),
        ],
        [
            helper.make_tensor_value_info("c_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v_out", TensorProto.FLOAT, [2]),
        ],
    )
    body = Graph(graph.SerializeToString(deterministic=True))
    return make(
        "ai.onnx::Loop-13",
        (("M", tensor(np.array(3, np.int64))), ("cond", None), ("v_initial", A)),
        ("v_final",),
        (("v_final", tensor(np.array([8, 16], np.float32))),),
        attributes={"body": attribute("graph", body)},
    )


def first_and_last_output() -> Case:
    """Two optional outputs between them are left out."""
    return make(
        "ai.onnx::Unique-11",
        (("X", tensor(np.array([2, 1, 1], np.float32))),),
        ("Y", "", "", "counts"),
        (("Y", A), ("counts", tensor(np.array([2, 1], np.int64)))),
        asked=True,
    )


def three_parts() -> Case:
    x = tensor(np.arange(5, dtype=np.float32))
    parts = [("a", [0, 1]), ("b", [2, 3]), ("c", [4])]
    return make(
        "ai.onnx::Split-18",
        (("input", x),),
        ("a", "b", "c"),
        [(name, tensor(np.array(part, np.float32))) for name, part in parts],
        attributes={"num_outputs": attribute("int", 3)},
        asked=True,
    )


def sequence_at() -> Case:
    return make(
        "ai.onnx::SequenceAt-11",
        (("input_sequence", A), ("input_sequence", B), ("position", POSITION)),
        ("tensor",),
        (("tensor", B),),
        slots=(sequence(0, 1, name="input_sequence"), Slot("position", (2,))),
    )


def sequence_insert() -> Case:
    return make(
        "ai.onnx::SequenceInsert-11",
        (("input_sequence", A), ("tensor", B)),
        ("output_sequence",),
        (("output_sequence_length", LENGTH), ("output_sequence_0", A), ("output_sequence_1", B)),
        slots=(sequence(0, name="input_sequence"), Slot("tensor", (1,))),
        types={"output_sequence": "seq(tensor(float))"},
    )


def empty_sequence() -> Case:
    return make(
        "ai.onnx::SequenceLength-11",
        (),
        ("length",),
        (("length", tensor(np.array(0, np.int64))),),
        slots=(sequence(name="input_sequence"),),
    )


def optional_holds(*, empty: bool = False) -> Case:
    kind = parse_value_type("optional(seq(tensor(float)))")
    return make(
        "ai.onnx::OptionalHasElement-15",
        () if empty else (("input", A), ("input", B)),
        ("output",),
        (("output", tensor(np.array(not empty))),),
        slots=(Slot("input", () if empty else (0, 1), kind, empty),),
    )


def optional_made() -> Case:
    return make(
        "ai.onnx::Optional-15",
        (("input", A),),
        ("output",),
        (("output_has_element", tensor(np.array(True))), ("output_element", A)),
        types={"output": "optional(tensor(float))"},
    )


def choice() -> Case:
    """Graphs as attributes; the constants in them are no inputs."""
    graphs = {"then_branch": attribute("graph", branch(1.0)), "else_branch": attribute("graph", branch(2.0))}
    return make(
        "ai.onnx::If-13",
        (("cond", tensor(np.array(False))),),
        ("outputs",),
        (("outputs", tensor(np.array([2], np.float32))),),
        attributes=graphs,
    )


def constant() -> Case:
    """No inputs, and a tensor as an attribute."""
    value = attribute("tensor", B)
    return make("ai.onnx::Constant-13", (), ("output",), (("output", B),), attributes={"value": value})


def typed() -> Case:
    """A type as an attribute."""
    return make(
        "ai.onnx::Optional-15",
        (),
        ("output",),
        (("output_has_element", tensor(np.array(False))),),
        attributes={"type": attribute("type", "seq(tensor(float))")},
        types={"output": "optional(seq(tensor(float)))"},
    )


def mapped(kind: type = np.float32) -> Case:
    """A map to numbers of a type as an input."""
    keys, values = tensor(np.array(["b", "a"], object)), tensor(np.array([2, 1], kind))
    return make(
        "ai.onnx.ml::DictVectorizer-1",
        (("X", keys), ("X", values)),
        ("Y",),
        (("Y", tensor(np.array([[1, 2]], kind))),),
        attributes={"string_vocabulary": attribute("strings", ["a", "b"])},
        slots=(Slot("X", (0, 1), parse_value_type(f"map(string,tensor({values.element_type.name}))")),),
    )


def zipped() -> Case:
    """Maps in a sequence as an output."""
    labels = tensor(np.array([4, 7], np.int64))
    return make(
        "ai.onnx.ml::ZipMap-1",
        (("X", tensor(np.array([[1, 2]], np.float32))),),
        ("Z",),
        (("Z_length", tensor(np.array(1, np.int64))), ("Z_keys", labels), ("Z_values", A)),
        attributes={"classlabels_int64s": attribute("ints", [4, 7])},
        types={"Z": "seq(map(int64,tensor(float)))"},
    )


def unsorted() -> Case:
    """Two outputs of one open order."""
    x = tensor(np.array([3, 1, 2], np.float32))
    expected = (
        ("Values", tensor(np.array([3, 2], np.float32))),
        ("Indices", tensor(np.array([0, 2], np.int64))),
    )
    return make(
        "ai.onnx::TopK-11",
        (("X", x), ("K", tensor(np.array([2], np.int64)))),
        ("Values", "Indices"),
        expected,
        attributes={"sorted": attribute("int", 0)},
        unordered=(Unordered(("Values", "Indices"), 0, lanes=True),),
    )


def random(*properties: Property) -> Case:
    """No inputs, and no values to expect."""
    return make(
        "ai.onnx::RandomUniform-1",
        (),
        ("output",),
        attributes={"shape": attribute("ints", [40, 50]), "seed": attribute("float", 7)},
        properties=(HasType("output", A.element_type), *properties),
    )


FORMS = {
    "concat": concat(),
    "loop": loop_without_condition(),
    "first_and_last_output": first_and_last_output(),
    "three_parts": three_parts(),
    "sequence_at": sequence_at(),
    "sequence_insert": sequence_insert(),
    "empty_sequence": empty_sequence(),
    "optional": optional_holds(),
    "empty_optional": optional_holds(empty=True),
    "optional_made": optional_made(),
    "graphs": choice(),
    "constant": constant(),
    "type": typed(),
    "map": mapped(),
    "maps": zipped(),
    "unsorted": unsorted(),
}
"""A case of each form that has values to expect."""
