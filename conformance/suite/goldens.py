"""A case as bytes: one ONNX GraphProto that holds the node, its inputs, and what must come out.

The node carries the operator and its attributes; initializers carry the tensors, named `input/<i>`,
`expected/<e>/<o>`, `allowed/<e>/<o>` and `alternatives/<e>/<o>/{index,count,value}` (e: expectation,
o: output), and `model` (its bytes) where the case carries one; the doc_string is canonical JSON of the
rest. Tensors are written from raw bytes by `conformance.suite.protos` alone, so that no library's conversion
stands between a golden and its bits. Identifiers and names, which end up in scripts, file names and pages,
are held against a grammar (`check_words`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, get_args

import numpy as np
from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto

from conformance.suite.canonical import canonical_json
from conformance.suite.cases import (
    Alternative,
    Case,
    Demand,
    Expectation,
    ExpectedOutput,
    Unordered,
    describe_slots,
)
from conformance.suite.flat_values import leaves_of
from conformance.suite.properties import Masked, SameAgain, describe_property, read_property
from conformance.suite.proto_bounds import check_carried, parse_graph
from conformance.suite.protos import read_attribute, read_tensor, write_attribute, write_tensor
from opcert.vocabulary.attributes import Attributes
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import is_plain
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.slots import Slot, check_slots, slots_of
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import parse_value_type

_IDENTIFIER = re.compile(r"[A-Za-z0-9_]{1,200}")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,199}")
_LONGEST_NAME = 500
_LONGEST_RULE = 20_000


def check_words(case: Case) -> Case:
    """The case itself; raises UserError where one of its words is none.

    Constraints, what may be rejected, readings and behaviours have identifiers of letters, digits and `_`;
    attributes may have `.` and `-` as well. Options, levels, documents, inputs and outputs have names of one
    line in which nothing hides. `valid_case` is a case id.
    """
    _check("the demand", [case.demand], get_args(Demand).__contains__, "answer, refuse or survive")
    _check("a constraint", [case.constraint or "_"], _is_identifier, "letters, digits and _")
    _check("what may be rejected", [case.may_refuse or "_"], _is_identifier, "letters, digits and _")
    _check("an attribute", case.attributes, _is_attribute, "letters, digits, _, . and -")
    functions = [name for expectation in case.expectations for name in expectation.functions]
    _check("a function", functions, _is_identifier, "letters, digits and _")
    readings = [
        name
        for expectation in case.expectations
        for name in (*expectation.readings, *expectation.behaviours, *expectation.contradicted)
    ]
    _check("a reading", readings, _is_identifier, "letters, digits and _")
    _check("a name", _names(case), _is_name, f"a text of one line and at most {_LONGEST_NAME} characters")
    rule = case.rule or ""
    if not isinstance(rule, str) or len(rule) > _LONGEST_RULE:
        raise UserError("the rule of a case is none", expected=f"at most {_LONGEST_RULE} characters")
    if any(type(line) is not int or line < 0 for _, line in case.sources):
        raise UserError("a source of a case has no line", got=ascii(case.sources)[:200])
    if case.valid_case is not None:
        CaseId.parse(case.valid_case)
    _check_forms(case)
    return case


def _check_forms(case: Case) -> None:
    """What cases of more than tensors and values say: slots, outputs, properties, open orders."""
    check_slots(case.inputs, case.slots)
    if type(case.outputs_asked) is not bool or any(type(slot.empty) is not bool for slot in case.slots):
        raise UserError("a case says neither yes nor no", got=ascii(case.outputs_asked)[:80])
    wanted = case.wanted
    if len(set(wanted)) < len(wanted):
        raise UserError("two outputs of a case have one name", got=ascii(wanted)[:200])
    about = [
        *case.output_types,
        *(each.output for each in case.properties if not isinstance(each, SameAgain)),
        *(masked.mask for masked in case.properties if isinstance(masked, Masked)),
    ]
    strange = [each for each in about if each not in wanted]
    if strange:
        raise UserError("an output that the call does not ask for", got=ascii(strange[0])[:200])
    if case.properties and case.demand != "answer":
        raise UserError("a demand on outputs of a case that demands no answer", got=case.demand)
    if case.may_refuse is not None and case.demand != "answer":
        raise UserError("leave to reject in a case that demands no answer", got=case.demand)
    if type(case.refusal_contradicted) is not bool or (case.refusal_contradicted and not case.may_refuse):
        raise UserError(
            "a contradiction about rejections in a case without one", got=ascii(case.may_refuse)[:80]
        )
    for expectation in case.expectations:
        for unordered in expectation.unordered:
            _check_unordered(expectation, unordered)
        if case.output_types:
            leaves_of(wanted, case.output_types, [output.expected for output in expectation.outputs])


def _check_unordered(expectation: Expectation, unordered: Unordered) -> None:
    outputs = {output.name: output.expected for output in expectation.outputs}
    axis, shapes = (
        unordered.axis,
        [outputs[output].shape for output in unordered.outputs if output in outputs],
    )
    if len(shapes) < len(unordered.outputs) or not shapes or type(unordered.lanes) is not bool:
        raise UserError("an open order of outputs that there are not", got=ascii(unordered)[:200])
    if type(axis) is not int or not all(0 <= axis < len(shape) for shape in shapes):
        raise UserError("an open order along an axis that there is not", got=ascii(unordered)[:200])
    whole = shapes if unordered.lanes else [shape[axis] for shape in shapes]
    if any(each != whole[0] for each in whole):
        raise UserError("an open order of outputs of different lengths", got=ascii(shapes)[:200])


def _names(case: Case) -> Iterator[Any]:
    yield from (name for name, _ in case.inputs)
    yield from (slot.name for slot in case.slots)
    yield from case.wanted
    yield from (part for level in _mapping(case.levels).items() for part in level)
    yield from (document for document, _ in case.sources)
    for expectation in case.expectations:
        yield from (output.name for output in expectation.outputs)
        yield from _options(expectation)


def _options(expectation: Expectation) -> Iterator[Any]:
    for options in (*expectation.readings.values(), *expectation.behaviours.values()):
        yield from options


def _mapping(value: object) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise UserError("the levels of a case are no object", got=type(value).__name__)
    return value


def _check(what: str, words: Iterable[Any], holds: Callable[[Any], bool], expected: str) -> None:
    for word in words:
        if not isinstance(word, str) or not holds(word):
            raise UserError(f"{what} of a case is no such word", got=ascii(word)[:200], expected=expected)


def _is_identifier(word: str) -> bool:
    return _IDENTIFIER.fullmatch(word) is not None


def _is_attribute(word: str) -> bool:
    return _ATTRIBUTE.fullmatch(word) is not None


def _is_name(word: str) -> bool:
    return len(word) <= _LONGEST_NAME and _is_plain_name(word)


@lru_cache(maxsize=1 << 12)
def _is_plain_name(word: str) -> bool:
    # The cases of an operator have the same few names.
    return is_plain(word, _LONGEST_NAME)


_MOST_ALTERNATIVES = 1 << 20
_OF_CALL = ("input/", "model")
_UINT8 = ELEMENT_TYPES["uint8"]
_INT64 = ELEMENT_TYPES["int64"]
_FLOAT = ELEMENT_TYPES["float"]
_DOUBLE = ELEMENT_TYPES["double"]


def write_node(case: Case) -> NodeProto:
    """The case's node in its operator's domain; omitted inputs have an empty name."""
    given = slots_of(case.inputs, case.slots)
    names = [slot.name if slot.parts or slot.type is not None else "" for slot in given]
    node = NodeProto(
        op_type=case.operator.name, domain=case.operator.domain, input=names, output=case.output_names
    )
    node.attribute.extend(
        write_attribute(name, attribute) for name, attribute in sorted(case.attributes.items())
    )
    return node


def write_golden(case: Case) -> tuple[bytes, str]:
    """The case's bytes, and the SHA-256 digest of what it expects (demand, outputs, readings).

    Raises UserError where the case uses a word that cannot be read again.
    """
    graph = GraphProto(name=str(check_words(case).id))
    graph.node.append(write_node(case))
    for position, (_, tensor) in enumerate(case.inputs):
        if tensor is not None:
            graph.initializer.append(write_tensor(tensor, f"input/{position}"))
    if case.model is not None:
        graph.initializer.append(write_tensor(Tensor(_UINT8, np.frombuffer(case.model, np.uint8)), "model"))
    demanded: dict[str, Any] = {
        "demand": case.demand,
        "constraint": case.constraint,
        "valid_case": case.valid_case,
        "expectations": [_expectation_words(expectation) for expectation in case.expectations],
    }
    if case.may_refuse is not None:
        demanded["may_refuse"] = case.may_refuse
    if case.properties:
        demanded["properties"] = [describe_property(each) for each in case.properties]
    digest = hashlib.sha256(canonical_json(demanded))
    for number, expectation in enumerate(case.expectations):
        for position, output in enumerate(expectation.outputs):
            for proto in _write_expected(output, f"{number}/{position}"):
                digest.update(proto.SerializeToString(deterministic=True))
                graph.initializer.append(proto)
    # By what kind of passage or table something is expected changes nothing of what that is.
    rest = {
        **demanded,
        "expectations": [
            {**_expectation_words(expectation), **_grounds(expectation)} for expectation in case.expectations
        ],
        "element_type": case.element_type.name,
        "inputs": [name for name, _ in case.inputs],
        "levels": case.levels,
        "rule": case.rule,
        "sources": case.sources,
        **_form_words(case),
    }
    graph.doc_string = canonical_json(rest).decode("utf-8")
    return graph.SerializeToString(deterministic=True), digest.hexdigest()


def _expectation_words(expectation: Expectation) -> dict[str, Any]:
    words: dict[str, Any] = {
        "outputs": [output.name for output in expectation.outputs],
        "readings": expectation.readings,
        "behaviours": expectation.behaviours,
    }
    if expectation.unordered:
        words["unordered"] = [
            [unordered.outputs, unordered.axis, unordered.lanes] for unordered in expectation.unordered
        ]
    return words


def _grounds(expectation: Expectation) -> dict[str, Any]:
    """What an expectation rests on: a table of functions, or a passage against the text."""
    found = {"contradicted": expectation.contradicted, "functions": expectation.functions}
    return {name: each for name, each in found.items() if each}


def _form_words(case: Case) -> dict[str, Any]:
    """What only some cases have: inputs made of several tensors, outputs that are asked for or no tensors."""
    words: dict[str, Any] = {}
    if case.slots:
        words["slots"] = describe_slots(case.slots)
    if case.outputs_asked:
        words["outputs_asked"] = True
    if case.refusal_contradicted:
        words["refusal_contradicted"] = True
    if case.output_types:
        words["output_types"] = {
            name: str(output_type) for name, output_type in sorted(case.output_types.items())
        }
    return words


def _write_expected(output: ExpectedOutput, place: str) -> list[TensorProto]:
    protos = [write_tensor(output.expected, f"expected/{place}")]
    if output.allowed is not None:
        protos.append(write_tensor(_compact(output.allowed), f"allowed/{place}"))
    if output.alternatives:
        index = np.array([alternative.index for alternative in output.alternatives], dtype=np.int64)
        count = np.array([len(alternative.values) for alternative in output.alternatives], dtype=np.int64)
        element_type = output.expected.element_type
        flat = [value for alternative in output.alternatives for value in alternative.values]
        values = np.empty(len(flat), dtype=element_type.storage)
        values[:] = flat
        protos += [
            write_tensor(Tensor(_INT64, index), f"alternatives/{place}/index"),
            write_tensor(Tensor(_INT64, count), f"alternatives/{place}/count"),
            write_tensor(Tensor(element_type, values), f"alternatives/{place}/value"),
        ]
    return protos


def _compact(allowed: NDArray[np.float64]) -> Tensor:
    """One element where all are equal; float32 where that loses nothing."""
    flat = allowed.reshape(-1)
    if flat.size and bool((flat == flat[0]).all()):
        flat = flat[:1]
    with np.errstate(over="ignore", under="ignore"):
        short = flat.astype(np.float32)
    if bool((short.astype(np.float64) == flat).all()):
        return Tensor(_FLOAT, short)
    return Tensor(_DOUBLE, flat)


def read_golden(raw: bytes, *, call_alone: bool = False) -> Case:
    """The case that `write_golden` wrote; raises UserError where the bytes are something else.

    With `call_alone` it is without its expectations, which is most of the work where there are several.
    """
    try:
        graph = parse_graph(raw)
        rest = parse_json(graph.doc_string)
        node = graph.node[0]
        if call_alone:
            rest["expectations"] = []
        tensors = {
            initializer.name: read_tensor(initializer)
            for initializer in graph.initializer
            if not call_alone or initializer.name.startswith(_OF_CALL)
        }
        return check_words(_assemble(CaseId.parse(graph.name), node, rest, tensors))
    except (
        *(DecodeError, ValueError, KeyError, IndexError, TypeError, AttributeError),
        *(OverflowError, RecursionError),
    ) as error:
        raise UserError("not a golden case", got=f"{type(error).__name__}: {error}") from error


def _assemble(
    case_id: CaseId, node: NodeProto, rest: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> Case:
    attributes: Attributes = {attribute.name: read_attribute(attribute) for attribute in node.attribute}
    return Case(
        id=case_id,
        element_type=ELEMENT_TYPES[rest["element_type"]],
        attributes=attributes,
        inputs=tuple((name, tensors.get(f"input/{i}")) for i, name in enumerate(_list(rest["inputs"]))),
        output_names=tuple(node.output),
        demand=rest["demand"],
        expectations=tuple(
            Expectation(
                tuple(
                    _read_expected(name, f"{number}/{position}", tensors)
                    for position, name in enumerate(_list(each["outputs"]))
                ),
                {key: tuple(_list(options)) for key, options in each["readings"].items()},
                {key: tuple(_list(options)) for key, options in each["behaviours"].items()},
                tuple(
                    Unordered(tuple(_list(names)), axis, lanes)
                    for names, axis, lanes in _list(each.get("unordered", []))
                ),
                tuple(_list(each.get("contradicted", []))),
                tuple(_list(each.get("functions", []))),
            )
            for number, each in enumerate(rest["expectations"])
        ),
        constraint=rest["constraint"],
        valid_case=rest["valid_case"],
        levels=rest["levels"],
        rule=rest["rule"],
        sources=tuple((document, line) for document, line in rest["sources"]),
        model=check_carried(tensors["model"].array.tobytes()) if "model" in tensors else None,
        slots=tuple(
            Slot(name, tuple(_list(parts)), None if kind is None else parse_value_type(kind), empty)
            for name, parts, kind, empty in _list(rest.get("slots", []))
        ),
        outputs_asked=rest.get("outputs_asked", False),
        output_types={name: parse_value_type(each) for name, each in rest.get("output_types", {}).items()},
        properties=tuple(map(read_property, _list(rest.get("properties", [])))),
        may_refuse=rest.get("may_refuse"),
        refusal_contradicted=rest.get("refusal_contradicted", False),
    )


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected and not {type(value).__name__}")
    return value


def _read_expected(name: str, place: str, tensors: Mapping[str, Tensor]) -> ExpectedOutput:
    expected = tensors[f"expected/{place}"]
    stored = tensors.get(f"allowed/{place}")
    allowed = None
    if stored is not None:
        flat = stored.array.astype(np.float64)
        full = np.full(expected.shape, flat[0]) if flat.size == 1 else flat.reshape(expected.shape)
        full.setflags(write=False)
        allowed = full
    alternatives: tuple[Alternative, ...] = ()
    if f"alternatives/{place}/index" in tensors:
        if tensors[f"alternatives/{place}/index"].array.size > _MOST_ALTERNATIVES:
            raise ValueError(f"more than {_MOST_ALTERNATIVES} alternatives")
        index = tensors[f"alternatives/{place}/index"].array.tolist()
        ends = list(accumulate(tensors[f"alternatives/{place}/count"].array.tolist()))
        values = tensors[f"alternatives/{place}/value"].array
        begins = [0, *ends[:-1]]
        alternatives = tuple(
            Alternative(each, tuple(values[begin:end]))
            for each, begin, end in zip(index, begins, ends, strict=True)
        )
    return ExpectedOutput(name, expected, allowed, alternatives)
