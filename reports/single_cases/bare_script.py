"""A short script that shows one failing case on a bare runtime, for people to read: of an issue.

It makes the call and prints what was expected and what comes. It judges nothing: whoever writes it has run
it.
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from onnx import ModelProto

from conformance.judging.responses import ReturnedOther
from conformance.models.case_models import Form, build_model
from conformance.models.input_names import named_inputs
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.harmless import for_python, one_line
from opcert.vocabulary.tensors import Tensor
from reports.single_cases import bare_tflite
from reports.single_cases.bare_calls import BareCall, call_of
from reports.single_cases.bare_graphs import javascript_elements, jaxlib_lines, tfjs_lines
from reports.single_cases.standalone import (
    call_lines,
    element_texts,
    inputs_code,
    kind_of,
    why_none,
)
from reports.text.rule_words import absent_inputs, broken_rule
from reports.text.value_text import attribute_text


@dataclass(frozen=True)
class BareScript:
    """A script in lines, and where in them its answer is there, in `got`; `language` names its files."""

    lines: tuple[str, ...]
    answered: int
    language: str

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def with_epilogue(self, lines: str) -> str:
        """The script with further lines where its answer is there."""
        first, rest = self.lines[: self.answered], self.lines[self.answered :]
        return "\n".join([*first, *lines.splitlines(), *rest]) + "\n"


def bare_script(
    case: Case,
    runtime: str,
    form: Form,
    valid_case: Case | None = None,
    options: Mapping[str, str] | None = None,
) -> BareScript | str:
    """The script of a case in a form on a runtime with options, or why there is none, in words."""
    found = why_none(case, runtime, form)
    kind = kind_of(case)
    if not found and kind == "org.tensorflow" and runtime in bare_tflite.RUNTIMES:
        return _of_lines(case, bare_tflite.tflite_lines(case, runtime, options or {}, inputs_code))
    if not found and runtime == "jaxlib":
        return _of_lines(case, jaxlib_lines(case, form))
    if not found and runtime == "tfjs":
        made = tfjs_lines(case, form, _about(case, [name for name, _ in case.inputs]), _logged(case))
        return made if isinstance(made, str) else BareScript(tuple(made[0]), made[1], "javascript")
    call = None if kind is None else call_of(runtime, kind, options, form)
    if found or kind is None or call is None:
        return found or f"nothing is known of how {runtime} is called by itself"
    return _in_python(case, runtime, call, form, valid_case)


def _in_python(case: Case, runtime: str, made: BareCall, form: Form, valid_case: Case | None) -> BareScript:
    kind, modules, call = kind_of(case), made.modules, made.lines
    assert kind is not None
    body = call_lines(case, kind, "inputs" if runtime == "tract" else form, valid_case)
    said = [*_expected(case), *call.strip().splitlines()]
    printed = ["for each in got:", '    print("got", each.dtype, each.shape, each.ravel())']
    whole = "\n".join([*body, *said])
    named = [module for module in sorted(modules) if module != "onnx" or not _has_parts(modules)]
    imports = [f"import {each}" for each in (*named, "numpy as np")]
    numbers = [each for each in ("inf", "nan") if re.search(rf"\b{each}\b", whole)]
    imports += [f"from numpy import {', '.join(numbers)}"] if numbers else []
    imports += ["from onnx import helper"] if kind == "onnx" else []
    lines = [*imports, "", 'np.set_printoptions(floatmode="unique", threshold=999)', *body, *said]
    return BareScript((*lines, *printed), len(lines), "python")


def _of_lines(case: Case, made: tuple[str, list[str], str] | str) -> BareScript | str:
    if isinstance(made, str):
        return made
    imports, body, call = made
    said = [*body, *_expected(case), *call.strip().splitlines()]
    numbers = [each for each in ("inf", "nan") if re.search(rf"\b{each}\b", "\n".join(said))]
    lines = ["import numpy as np", *imports.splitlines()]
    lines += [f"from numpy import {', '.join(numbers)}"] if numbers else []
    lines += ["", 'np.set_printoptions(floatmode="unique", threshold=999)', *said]
    printed = ["for each in got:", '    print("got", each.dtype, each.shape, each.ravel())']
    return BareScript((*lines, *printed), len(lines), "python")


def _has_parts(modules: Sequence[str]) -> bool:
    """Whether a part of onnx is imported, which brings onnx itself."""
    return any(module.startswith("onnx.") for module in modules)


def expected_error(case: Case) -> str:
    """What must happen where nothing is to come; empty where something is."""
    if case.demand == "refuse":
        return f"expected an error: it is {broken_rule(case.constraint or 'rule', absent_inputs(case))}"
    return "expected an answer or an error" if case.demand == "survive" else ""


def _expected(case: Case) -> Iterator[str]:
    """Lines that print what must come, before the call: it may end the process."""
    error = expected_error(case)
    if error:
        yield f"print({for_python(error)}, flush=True)"
        return
    yield from inputs_code(
        "expected", {output.name: output.expected for output in case.expectations[0].outputs}
    )
    yield "for name, each in expected.items():"
    yield '    print("expected", name, each.dtype, each.shape, each.ravel(), flush=True)'


def outputs_from(dumped: list[dict[str, Any]]) -> tuple[Tensor | ReturnedOther, ...]:
    """The tensors that a script's epilogue wrote; raises ValueError where one is of no type of ours.

    What has a shape that its elements do not fill is none.
    """
    found: list[Tensor | ReturnedOther] = []
    for each in dumped:
        kind = next((kind for kind in ELEMENT_TYPES.values() if _numpy_name(kind.name) == each["type"]), None)
        if kind is None:
            raise ValueError(f"an output of {each['type']}")
        if kind.kind == "string":
            array = np.empty(len(each["texts"]), object)
            array[:] = [text.encode("utf-8", "surrogateescape") for text in each["texts"]]
        else:
            raw = base64.b64decode(each["bytes"])
            array = np.frombuffer(raw, kind.storage).copy()
        shape = tuple(each["shape"])
        if None in shape or array.size != prod(shape):
            found.append(ReturnedOther("Tensor", f"a shape {shape} of {array.size} elements"))
        else:
            found.append(Tensor(kind, array.reshape(shape)))
    return tuple(found)


def _numpy_name(name: str) -> str:
    return {"float": "float32", "double": "float64", "string": "object"}.get(name, name)


PACKAGES = ("onnxruntime-node", "onnxruntime-web")
"""Runtimes whose packages have one interface."""
_ARRAYS: Mapping[str, tuple[str, str]] = {
    "float": ("float32", "Float32Array"),
    "double": ("float64", "Float64Array"),
    "int8": ("int8", "Int8Array"),
    "uint8": ("uint8", "Uint8Array"),
    "int16": ("int16", "Int16Array"),
    "uint16": ("uint16", "Uint16Array"),
    "int32": ("int32", "Int32Array"),
    "uint32": ("uint32", "Uint32Array"),
    "int64": ("int64", "BigInt64Array"),
    "uint64": ("uint64", "BigUint64Array"),
    "bool": ("bool", "Uint8Array"),
    "float16": ("float16", "Uint16Array"),
}


def javascript_of(case: Case, runtime: str, form: Form, valid_case: Case | None = None) -> BareScript | str:
    """The script of a case in a form, with its model as text; or why there is none, in words."""
    found = why_none(case, runtime, form)
    outputs = [output.expected for expectation in case.expectations for output in expectation.outputs]
    tensors = [*(tensor for _, tensor in named_inputs(case.inputs)), *outputs]
    if found or kind_of(case) != "onnx":
        return found or f"{runtime} takes ONNX models alone"
    if any(tensor.element_type.name not in _ARRAYS for tensor in tensors):
        return "JavaScript has no arrays of a type of its tensors"
    return _script(case, runtime, form, valid_case)


def _script(case: Case, runtime: str, form: Form, valid_case: Case | None) -> BareScript:
    model = ModelProto.FromString(build_model(case, form, valid_case))
    taken = {value_info.name for value_info in model.graph.input}
    given = {name: named_input for name, named_input in named_inputs(case.inputs) if name in taken}
    encoded = base64.b64encode(model.SerializeToString(deterministic=True)).decode()
    lines = [
        f"const ort = require('{runtime}');",
        f"// {_about(case, model.graph.node[0].input)}",
        "const model = Buffer.from(",
        *(f"  '{part}'{' +' if more else ','}" for part, more in _parts(encoded)),
        "  'base64');",
        "(async () => {",
        *_logged(case),
        "  const session = await ort.InferenceSession.create(model);",
        "  const got = await session.run({",
        *(f"    {_text(name)}: {_tensor_code(tensor)}," for name, tensor in given.items()),
        "  });",
        "  for (const [name, each] of Object.entries(got))",
        "    console.log('got', name, each.type, each.dims, each.data);",
    ]
    return BareScript((*lines, "})();"), len(lines), "javascript")


def _about(case: Case, names: Iterable[str]) -> str:
    attributes = "".join(
        f", {name}={attribute_text(attribute.value)}" for name, attribute in sorted(case.attributes.items())
    )
    return one_line(f"{case.operator.short}({', '.join(names)}){attributes}", 400)


def _logged(case: Case) -> list[str]:
    return [f"  console.log({_text(line)});" for line in _expected_lines(case)]


def _expected_lines(case: Case) -> list[str]:
    """What must come: one line for each output."""
    error = expected_error(case)
    outputs = case.expectations[0].outputs if not error else ()
    told = [
        f"expected {output.name} {output.expected.array.dtype} {list(output.expected.shape)} "
        f"[{' '.join(element_texts(output.expected.array))}]"
        for output in outputs
    ]
    return [error, *told] if error else told


def _parts(text: str) -> list[tuple[str, bool]]:
    parts = textwrap.wrap(text, 100)
    return [(part, place < len(parts) - 1) for place, part in enumerate(parts)]


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def _tensor_code(tensor: Tensor) -> str:
    kind, array = _ARRAYS[tensor.element_type.name]
    elements = ", ".join(javascript_elements(tensor))
    return f"new ort.Tensor('{kind}', {array}.from([{elements}]), {list(tensor.shape)})"
