"""A short script that shows one failing case on LiteRT or TensorFlow Lite Micro, by their interface alone.

It writes the model of one builtin with the classes that the runtime's own package has of the schema, as
`conformance.workers.tflite_models` plans it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from conformance.models.node_descriptions import describe_node
from conformance.suite.cases import Case
from conformance.workers import wire_arrays, worker_protocol
from conformance.workers.tflite_flatbuffers import type_name
from conformance.workers.tflite_models import Model, Operand, plan
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.harmless import for_python
from opcert.vocabulary.tensors import Tensor

_IMPORTS: Mapping[str, str] = {
    "ai-edge-litert": "from ai_edge_litert import interpreter, schema_py_generated as schema",
    "tflite-micro": "from tflite_micro import runtime\n"
    "from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema",
}
_WIDEST = {"ai-edge-litert": "int64", "tflite-micro": "int32"}
"""How wide axes and lengths are."""
_TENSOR = """
buffers = [schema.BufferT()]

def tensor(name, kind, shape, array=None):
    made = schema.TensorT()
    made.name, made.type, made.shape = name, getattr(schema.TensorType, kind), shape
    if array is not None and array.size:
        made.buffer = len(buffers)
        buffers.append(schema.BufferT())
        buffers[-1].data = np.frombuffer(array.tobytes(), np.uint8)
    return made
"""
_WHOLE = """
whole = schema.ModelT()
whole.version, whole.operatorCodes, whole.subgraphs, whole.buffers = 3, [code], [graph], buffers
builder = flatbuffers.Builder(1024)
builder.Finish(whole.Pack(builder), b"TFL3")
content = bytes(builder.Output())
"""
_LITERT = """
running = interpreter.Interpreter(model_content=content{further})
running.allocate_tensors()
for each, array in zip(running.get_input_details(), inputs.values()):
    running.set_tensor(each["index"], array)
running.invoke()
got = [running.get_tensor(each["index"]) for each in running.get_output_details()]
"""
_PLAIN = "experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES"
_MICRO = """
running = runtime.Interpreter.from_bytes(content, arena_size=1 << 24)
for place, array in enumerate(inputs.values()):
    running.set_input(array, place)
running.invoke()
got = [np.array(running.get_output(0))]
"""
RUNTIMES = frozenset(_IMPORTS)


def tflite_lines(
    case: Case,
    runtime: str,
    options: Mapping[str, str],
    arrays: Callable[[str, Mapping[str, Tensor]], Iterator[str]],
) -> tuple[str, list[str], str] | str:
    """Imports, the lines of a case, and those of the call; or in words why there are none.

    `arrays` makes lines of tensors by name.
    """
    described, blobs = describe_node(case, "initializers")
    shapes = [each.expected.shape for told in case.expectations[:1] for each in told.outputs[:1]]
    request = worker_protocol.LoadRequest({**described, "form": "initializers"}, blobs)
    try:
        model = plan(request, _WIDEST[runtime])
    except worker_protocol.Unsupported as error:
        return str(error)
    if not shapes:
        return "of a call that has no result nobody knows its shape"
    given = dict(case.inputs)
    inputs = {each.name: given[each.name] for each in model.operands if each.data is None}
    constants = {each.name: _constant(each) for each in model.operands if each.data is not None}
    lines = [*arrays("inputs", {name: each for name, each in inputs.items() if each is not None})]
    lines += [*arrays("constants", constants), *_model(model, shapes[0])]
    call = _MICRO
    if runtime == "ai-edge-litert":
        call = _LITERT.format(further=f", {_PLAIN}" if options.get("delegate") == "none" else "")
    return f"import flatbuffers\n{_IMPORTS[runtime]}", lines, call


def _constant(operand: Operand) -> Tensor:
    shape = tuple(extent or 0 for extent in operand.shape)
    array = wire_arrays.to_numpy(worker_protocol.WireTensor(operand.element_type, shape, operand.data or b""))
    return Tensor(ELEMENT_TYPES[operand.element_type], array)


def _model(model: Model, shape: tuple[int, ...]) -> Iterator[str]:
    builtin, last = model.builtin, len(model.operands)
    yield from _TENSOR.strip().splitlines()
    yield ""
    yield "graph = schema.SubGraphT()"
    yield "graph.tensors = ["
    for each in model.operands:
        name, kind = for_python(each.name), for_python(type_name(each.element_type))
        held = "" if each.data is None else f", constants[{name}]"
        yield f"    tensor({name}, {kind}, {[extent or 0 for extent in each.shape]}{held}),"
    yield f"    tensor('output', {for_python(type_name(model.output_type))}, {list(shape)}),"
    yield "]"
    yield "operator = schema.OperatorT()"
    yield f"operator.inputs, operator.outputs = {list(model.order)}, [{last}]"
    if builtin.options:
        yield f"operator.builtinOptionsType = schema.BuiltinOptions.{builtin.options}"
        yield f"operator.builtinOptions = schema.{builtin.options}T()"
        for field, value in model.options.items():
            yield f"operator.builtinOptions.{field} = {for_python(value)}"
    yield f"graph.operators, graph.inputs, graph.outputs = [operator], {list(model.given)}, [{last}]"
    yield "code = schema.OperatorCodeT()"
    yield f"code.builtinCode, code.version = schema.BuiltinOperator.{builtin.name}, {model.version}"
    yield "code.deprecatedBuiltinCode = min(code.builtinCode, 127)"
    yield from _WHOLE.strip().splitlines()
