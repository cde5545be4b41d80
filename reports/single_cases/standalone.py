"""A script that makes one call and holds the answer against what it must be, without opcert: to copy.

The lines of a case stand between those of a runtime: what they need of each other are the names `inputs`,
`attributes` and, of an ONNX model, `model`; the runtime's lines leave its outputs in `got`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto

from conformance.models.case_models import Form, build_model, has_onnx_form
from conformance.models.input_names import named_inputs
from conformance.suite.cases import Case
from conformance.suite.protos import read_tensor
from opcert.vocabulary.attributes import PLAIN_KINDS, AttributeValue
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.harmless import for_python, for_python_comment
from opcert.vocabulary.tensors import Tensor
from reports.single_cases.bare_calls import CALLS, Kind, call_of
from reports.single_cases.case_folder import must_text
from reports.single_cases.reproduction.on_onnx_models import WITH_CONSTANTS

MOST_ELEMENTS = 256
"""A case with more elements in its inputs and expected outputs together has no script to copy."""
MOST_SHOWN = 1024
"""Of a script that shows it: one of more is none for people."""
_WIDTH = 108
_FORMS = ("inputs", "initializers", "dynamic")
PLAIN = frozenset(
    [
        *("float", "double", "float16", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "bool", "string"),
    ]
)
"""Element types that numpy itself has and prints exactly."""

_CHECK = """
def is_right(got, expected, allowed):
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if got.dtype.kind in "OSUb":
        return bool(np.all(got == expected))
    same = (got == expected) | ((got != got) & (expected != expected))
    if got.dtype.kind == "f":
        same &= (np.signbit(got) == np.signbit(expected)) | np.isnan(got)
    if allowed is not None:
        wide = object if got.dtype.kind in "iu" else np.float64
        with np.errstate(all="ignore"):
            same |= np.abs(got.astype(wide) - expected.astype(wide)) <= allowed
    return bool(np.all(same))

for array in got:
    print("got", array.dtype, list(array.shape), array.reshape(-1), sep="  ")
if not expectations:
    raise SystemExit("answered" + (", and must be rejected" if must_be_refused else ""))
right = any(
    len(got) == len(wanted) and all(is_right(one, *other) for one, other in zip(got, wanted))
    for wanted in expectations
)
for wanted in expectations:
    for array, _ in wanted:
        print("expected", array.dtype, list(array.shape), array.reshape(-1), sep="  ")
print("as the documents say" if right else "NOT as the documents say")
""".strip()


@dataclass(frozen=True)
class CaseLines:
    """The lines of a case, and for which kind of call they are."""

    kind: Kind
    lines: tuple[str, ...]


def surroundings(
    runtime: str, options: Mapping[str, str] | None = None
) -> dict[Kind, tuple[list[str], list[str]]]:
    """The lines before and after those of a case, for each kind of call that is known of a runtime.

    `options` are those of the runtime that was tested. None is known of those that take most as constants:
    in a script all are inputs.
    """
    if runtime in WITH_CONSTANTS:
        return {}
    found: dict[Kind, tuple[list[str], list[str]]] = {}
    for kind in dict.fromkeys(kind for _, kind in CALLS):
        made = call_of(runtime, kind, options)
        if made is None:
            continue
        imports = [f"import {module}" for module in (*sorted(made.modules), "numpy as np")]
        if kind == "onnx":
            imports.append("from onnx import helper")
        found[kind] = ([*imports, "from numpy import inf, nan", ""], f"{made.lines}\n{_CHECK}\n".splitlines())
    return found


def case_lines(case: Case, valid_case: Case | None = None) -> CaseLines | None:
    """The lines of a case.

    None where they would be too many, where a tensor has a type that numpy lacks, where the case brings a
    model of its own, and where it gives or demands more than tensors of values.
    """
    outputs = [output for expectation in case.expectations for output in expectation.outputs]
    tensors = [tensor for _, tensor in named_inputs(case.inputs)] + [output.expected for output in outputs]
    kind = kind_of(case)
    if (
        kind is None
        or why_none(case, "", "inputs")
        or case.properties
        or any(expectation.unordered for expectation in case.expectations)
        or any(
            attribute.kind not in PLAIN_KINDS or attribute.value == ()
            for attribute in case.attributes.values()
        )
        or sum(tensor.array.size for tensor in tensors) > MOST_ELEMENTS
        or any(output.alternatives for output in outputs)
    ):
        return None
    said = [
        for_python_comment(f"{case.id}: {must_text(case)}"),
        *call_lines(case, kind, "inputs", valid_case),
        f"must_be_refused = {case.demand == 'refuse'}",
        "expectations = [",
    ]
    for expectation in case.expectations:
        pairs = [
            f"({array_code(output.expected)}, {_allowed(output.allowed)})" for output in expectation.outputs
        ]
        said += _wrapped(f"    [{', '.join(pairs)}],", "        ")
    return CaseLines(kind, (*said, "]"))


def whole_script(runtime: str, lines: CaseLines) -> str | None:
    """The script of a case for a runtime; None where it is not known how that runtime is called."""
    around = surroundings(runtime).get(lines.kind)
    return None if around is None else "\n".join([*around[0], *lines.lines, *around[1]]) + "\n"


def why_none(case: Case, runtime: str, form: Form) -> str:
    """Why a case has no script for a runtime in a form; empty where it has one."""
    kind = kind_of(case)
    outputs = [output for expectation in case.expectations for output in expectation.outputs]
    tensors = [tensor for _, tensor in named_inputs(case.inputs)] + [
        output.expected for output in outputs[:4]
    ]
    if kind is None:
        return "its operator is of a domain that nobody calls by itself"
    if form not in (_FORMS if runtime != "tract" else ("initializers",)):
        return f"it fails in the form {form} alone, which is more than one call"
    if case.model is not None or case.slots or case.output_types:
        return "its inputs or outputs are more than tensors, or its model has several nodes"
    if kind != "onnx" and any(attribute.kind not in PLAIN_KINDS for attribute in case.attributes.values()):
        return "an attribute of its is a tensor or a graph"
    if any(attribute.kind not in (*PLAIN_KINDS, "tensor") for attribute in case.attributes.values()):
        return "an attribute of its is a graph or a type"
    lacking = sorted({str(tensor.element_type) for tensor in tensors} - PLAIN)
    if lacking:
        return f"a short script cannot give {' and '.join(lacking)}"
    elements = sum(tensor.array.size for tensor in tensors)
    return f"it has {elements} elements" if elements > MOST_SHOWN else ""


def call_lines(case: Case, kind: Kind, form: Form, valid_case: Case | None) -> list[str]:
    """Lines that leave what the calls need: `inputs`, and `model`, or `operator`, `attributes`, `version`."""
    given = dict(named_inputs(case.inputs))
    if kind == "onnx":
        model = ModelProto.FromString(build_model(case, form, valid_case))
        taken = {value_info.name for value_info in model.graph.input}
        inputs = {name: tensor for name, tensor in given.items() if name in taken}
        return [*inputs_code("inputs", inputs), *_model(model, case)]
    attributes = {
        name: plain_attribute(attribute.value) for name, attribute in sorted(case.attributes.items())
    }
    lines = _wrapped(f"operator, attributes = {for_python(case.operator.name)}, {for_python(attributes)}")
    version = [f"version = {case.operator.since_version}"] if kind == "org.openvino" else []
    return [*inputs_code("inputs", given), *lines, *version]


def inputs_code(name: str, given: Mapping[str, Tensor]) -> Iterator[str]:
    """Tensors by name, in a line or in one each."""
    entries = ", ".join(f"{for_python(key)}: {array_code(tensor)}" for key, tensor in given.items())
    if len(entries) + len(name) + 5 <= _WIDTH:
        yield f"{name} = {{{entries}}}"
        return
    yield f"{name} = {{"
    for key, tensor in given.items():
        yield from _wrapped(f"    {for_python(key)}: {array_code(tensor)},", "        ")
    yield "}"


def array_code(tensor: Tensor) -> str:
    """A tensor in the fewest words: all alike, in a row, or each element."""
    array = tensor.array
    shape = "" if array.ndim == 1 else f".reshape({', '.join(map(str, array.shape)) or '()'})"
    kind = for_python(array.dtype.name)
    if tensor.element_type.kind == "string":
        texts = [each.decode("utf-8", "surrogateescape") for each in array.reshape(-1)]
        return f"np.array({for_python(texts)}, object){shape}"
    flat = array.reshape(-1)
    if flat.size > 8 and (flat == flat[0]).all() and len({*np.signbit(flat.astype(float)).tolist()}) == 1:
        return f"np.full({list(array.shape)}, {element_texts(flat[:1])[0]}, {kind})"
    if flat.size > 8 and flat.dtype.kind in "iuf" and (flat == np.arange(flat.size) + flat[0]).all():
        first = int(flat[0])
        return f"np.arange({f'{first}, ' if first else ''}{first + flat.size}, dtype={kind}){shape}"
    return f"np.array([{', '.join(element_texts(array))}], {kind}){shape}"


def _model(model: ModelProto, case: Case) -> Iterator[str]:
    graph, node = model.graph, model.graph.node[0]
    constants = {initializer.name: read_tensor(initializer) for initializer in graph.initializer}
    yield from _node(node, case)
    own = [declared_text(value_info, "info") for value_info in graph.input]
    outputs = [declared_text(value_info, "info") for value_info in graph.output]
    if constants:
        yield from inputs_code("constants", constants)
    last = ", [onnx.numpy_helper.from_array(each, name) for name, each in constants.items()]"
    yield "info = helper.make_tensor_value_info"
    yield from _wrapped(
        f"graph = helper.make_graph([node], 'case', [{', '.join(own)}], [{', '.join(outputs)}]"
        f"{last if constants else ''})"
    )
    opsets = ", ".join(
        f"helper.make_opsetid({for_python(opset.domain)}, {opset.version})" for opset in model.opset_import
    )
    yield f"model = helper.make_model(graph, opset_imports=[{opsets}], ir_version={model.ir_version})"


def _node(node: NodeProto, case: Case) -> Iterator[str]:
    words = [for_python(node.op_type), for_python(list(node.input)), for_python(list(node.output))]
    words += [f"domain={for_python(node.domain)}"] if node.domain else []
    words += [
        f"{name}={_attribute_code(attribute.value)}" for name, attribute in sorted(case.attributes.items())
    ]
    yield from _wrapped(f"node = helper.make_node({', '.join(words)})")


def _attribute_code(value: AttributeValue) -> str:
    if isinstance(value, Tensor):
        return f"onnx.numpy_helper.from_array({array_code(value)})"
    return for_python(plain_attribute(value))


def _wrapped(line: str, indent: str = "    ") -> list[str]:
    """A line in several where it is long: behind commas that stand in no text."""
    lines, begin, last, quote = [], 0, 0, ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote and line[at - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "," and line[at + 1 : at + 2] == " ":
            if at - begin > _WIDTH and last > begin:
                lines.append(line[begin:last])
                begin = last + 1
            last = at + 1
    if len(line) - begin > _WIDTH and last > begin:
        lines.append(line[begin:last])
        begin = last + 1
    return [part if not place else indent + part for place, part in enumerate([*lines, line[begin:]])]


def kind_of(case: Case) -> Kind | None:
    """For which kind of call a case is; None where nobody knows."""
    if has_onnx_form(case.operator):
        return "onnx"
    match case.operator.domain:
        case "org.openvino":
            return "org.openvino"
        case "org.tensorflow":
            return "org.tensorflow"
    return None


def plain_attribute(value: Any) -> Any:
    """An attribute as keyword arguments take it."""
    return list(value) if isinstance(value, tuple) else value


def element_texts(array: NDArray[Any]) -> list[str]:
    """The elements in the fewest digits that, read into their type, are the same again.

    A whole number has no point behind it.
    """
    flat = array.reshape(-1)
    texts = [str(each) for each in flat.tolist()]
    if array.dtype.kind != "f":
        return texts
    short = [str(number).removesuffix(".0") if number else str(number) for number in flat]
    again = np.array([float(each) for each in short]).astype(array.dtype)
    return short if np.array_equal(again, flat, equal_nan=True) else texts


def _allowed(allowed: NDArray[np.float64] | None) -> str:
    if allowed is None:
        return "None"
    if allowed.size and allowed.min() == allowed.max():
        return repr(float(allowed.flat[0]))
    return array_code(Tensor(ELEMENT_TYPES["double"], allowed))


def declared_text(value: ValueInfoProto, function: str = "helper.make_tensor_value_info") -> str:
    """The declaration of an input or output of a model, by the function of ONNX as a script calls it."""
    found = value.type.tensor_type
    extents = [each.dim_value if each.HasField("dim_value") else None for each in found.shape.dim]
    name = TensorProto.DataType.Name(found.elem_type)
    return f"{function}({for_python(value.name)}, onnx.TensorProto.{name}, {extents})"
