"""Worked examples of ONNX pages as facts: every call that their code makes, matched with the operator."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opcert.vocabulary.element_types import element_type_of
from opcert.vocabulary.errors import UserError
from specs.documents.text.documents import KeepsFindings, Line
from specs.documents.worked.arrays import Built, SliceOfUnknown, Typed, UnknownValue, is_read
from specs.documents.worked.example_calls import Code, ExampleVariable, ExpectedCall, UnreadCall
from specs.documents.worked.example_statements import read_code, variable_keywords
from specs.model.spec import Example, Finding, ParameterSpec, Source, Spec, Value
from specs.model.worked_values import Assignment, Relation

Bound = tuple[tuple[str, Value | None], ...]


def bind_inputs(call: ExpectedCall, parameters: Sequence[ParameterSpec]) -> Bound:
    """The values of a call's inputs; an omitted one has the name ""."""
    return _bind(call.node.inputs, call.inputs, parameters, call, {})


def bind_outputs(
    call: ExpectedCall, parameters: Sequence[ParameterSpec], inputs: Sequence[ParameterSpec]
) -> Bound:
    """The values of a call's outputs; slices of an input refer to it by the operator's name for it."""
    variable_of = dict(zip([each for each in call.node.inputs if each], call.inputs or (), strict=False))
    formal_of = {
        variable_of[node_name]: name
        for name, node_name in zip(
            _formal_names(inputs, len(call.node.inputs)), call.node.inputs, strict=False
        )
        if node_name in variable_of
    }
    return _bind(call.node.outputs, call.outputs, parameters, call, formal_of)


def _bind(
    names: Sequence[str],
    given: Sequence[str] | None,
    parameters: Sequence[ParameterSpec],
    call: ExpectedCall,
    formal_of: Mapping[str, str],
) -> Bound:
    values = iter(given or ())
    bound: list[tuple[str, Value | None]] = []
    for name, node_name in zip(_formal_names(parameters, len(names)), names, strict=False):
        variable = next(values, None) if node_name else None
        found = call.variables.get(variable) if variable is not None else None
        bound.append((name if node_name else "", None if found is None else _stated(found, formal_of)))
    return tuple(bound)


def _formal_names(parameters: Sequence[ParameterSpec], count: int) -> list[str]:
    names = [parameter.name for parameter in parameters]
    if parameters and parameters[-1].option == "variadic":
        names += [parameters[-1].name] * (count - len(names))
    return names


def _stated(variable: ExampleVariable, formal_of: Mapping[str, str]) -> Value | None:
    """What is known of a variable; an array that a comment prints is the value of what code computes."""
    value, comment = variable.value, variable.comment
    if comment is not None and isinstance(value, UnknownValue) and comment.printed.shape is not None:
        printed = comment.printed
        return Value(printed.shape or (), printed.data, _type(value.dtype), comment.source, printed.decimals)
    return _value(value, variable.source, formal_of)


def _value(value: Any, source: Source, formal_of: Mapping[str, str]) -> Value | None:
    match value:
        case UnknownValue(shape=shape, dtype=dtype):
            return None if shape is None else Value(shape, None, _type(dtype), source)
        case SliceOfUnknown(name=name, index=index, shape=shape, dtype=dtype):
            if name not in formal_of or shape is None:
                return None
            relation = Relation(None, (Assignment((), formal_of[name], index),))
            return Value(shape, None, _type(dtype), source, None, relation)
        case Built(shape=shape, dtype=dtype, steps=steps):
            if any(step.source not in formal_of for step in steps):
                return None
            renamed = tuple(replace(step, source=formal_of[step.source]) for step in steps)
            return Value(shape, None, _type(dtype), source, None, Relation(shape, renamed))
        case Typed(shape=shape, data=data, element_type=element_type):
            return Value(shape, data, element_type, source)
        case list() if _is_sequence(value):
            items = tuple(_value(each, source, formal_of) for each in value)
            return Value((), None, None, source, items=items)
        case bool() | int() | float() | str() | list() | np.ndarray() | np.generic():
            return _array(value, source)
    return None


def _is_sequence(value: list[Any]) -> bool:
    """Whether a list holds tensors, not numbers."""
    return any(
        isinstance(each, np.ndarray | Typed | UnknownValue | SliceOfUnknown | Built) for each in value
    ) or (
        any(isinstance(each, list) for each in value)
        and all(isinstance(each, list) and _is_sequence(each) for each in value)
    )


def _array(value: Any, source: Source) -> Value | None:
    array = np.asarray(value)
    flat = array.reshape(-1).tolist()
    if all(isinstance(number, bool | int | float | str) for number in flat):
        return Value(array.shape, tuple(flat), _type(array.dtype), source)
    return None


def _type(dtype: np.dtype[Any] | None) -> str | None:
    if dtype is None:
        return None
    try:
        return element_type_of(dtype).name
    except UserError:
        return None


_SHOWN = 8
ONNX_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True)
class ExampleText:
    """An example as it stands in a page: title, code lines, and where the title stands."""

    title: str
    lines: Sequence[Line]
    source: Source


def read_examples(spec: Spec, texts: Sequence[ExampleText]) -> tuple[tuple[Example, ...], list[Finding]]:
    """The examples of an operator version, and what is wrong with them; none is dropped without a finding."""
    reader = _Reader(spec)
    for text in texts:
        reader.read(text)
    reader.finish()
    return tuple(reader.examples), reader.findings


def reject_examples(texts: Sequence[ExampleText], reason: str) -> list[Finding]:
    """A finding for each example of a page that cannot be read at all, for one reason."""
    return [
        Finding(
            "example-not-read",
            "hint",
            text.source,
            f"example {text.title} holds no call that could be read",
            reason,
            "rejected",
        )
        for text in texts
    ]


class _Reader(KeepsFindings):
    """Collects the examples of one operator version."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._names: dict[str, Source] = {}
        self._foreign: list[Source] = []
        self._older: list[tuple[Source, int]] = []
        self._calls = 0
        self.examples: list[Example] = []
        self.findings: list[Finding] = []

    def read(self, text: ExampleText) -> None:
        code = read_code(text.lines)
        unread = list(code.unread)
        name = re.sub(r"\W+", "_", text.title).strip("_") or "example"
        for position, call in enumerate(code.calls):
            self._note_name(call)
            suffix = f"_{position + 1}" if len(code.calls) > 1 else ""
            example = self._example(f"{name}{suffix}", call, text, unread)
            if example is not None:
                known = {each.id for each in self.examples}
                number = 2
                while example.id in known:
                    example = replace(example, id=f"{name}{suffix}_{number}")
                    number += 1
                repaired = example.repaired or code.indentation is not None
                self.examples.append(replace(example, repaired=repaired))
        self._report(code, unread, text)

    def finish(self) -> None:
        """Findings about all examples together."""
        if self._foreign:
            self.find(
                "example-of-other-domain", "error", self._foreign[0],
                f"the examples make nodes of the default domain, not of {self._spec.operator.domain}",
                f"{len(self._foreign)} of {self._calls} calls of make_node give no domain", "noted",
            )  # fmt: skip
        if self._older:
            opsets = sorted({opset for _, opset in self._older})
            lines = ", ".join(str(source.line) for source, _ in self._older)
            self.find(
                "example-of-other-version", "hint", self._older[0][0],
                f"examples are of operator set {', '.join(map(str, opsets))}",
                f"the page describes version {self._spec.operator.since_version}; lines {lines}", "rejected",
            )  # fmt: skip

    def _report(self, code: Code, unread: Sequence[UnreadCall], text: ExampleText) -> None:
        if code.error is not None:
            self.find(
                "example-does-not-parse", "error", code.error[1].source(),
                f"the code of example {text.title} is no Python", code.error[0], "rejected",
            )  # fmt: skip
            return
        if code.indentation is not None:
            self.find(
                "example-does-not-parse", "error", code.indentation.source(),
                f"the code of example {text.title} is indented more deeply than its imports",
                "Python refuses it: unexpected indent", "repaired",
            )  # fmt: skip
        for remark, variable in dict.fromkeys(code.contradictions):
            self.find(
                "comment-vs-code", "warning", remark.source,
                f"a comment of example {text.title} prints {variable} otherwise than the code computes it",
                f"it prints {', '.join(map(str, remark.printed.data[:_SHOWN]))}", "noted",
            )  # fmt: skip
        if unread:
            places: dict[str, list[int]] = {}
            for unread_call in unread:
                lines = places.setdefault(unread_call.reason, [])
                if unread_call.source.line not in lines:
                    lines.append(unread_call.source.line)
            reasons = [f"line {', '.join(map(str, lines))}: {reason}" for reason, lines in places.items()]
            words = "calls" if code.calls else "no call"
            self.find(
                "example-not-read", "hint", text.source,
                f"example {text.title} holds {words} that could {'not ' if code.calls else ''}be read",
                "; ".join(reasons), "rejected",
            )  # fmt: skip
        elif not code.calls and code.indentation is None:
            self.find(
                "example-not-read", "hint", text.source,
                f"example {text.title} holds no call that could be read",
                "no expect(node, ...) with a literal make_node", "rejected",
            )  # fmt: skip

    def _note_name(self, call: ExpectedCall) -> None:
        if call.name is None:
            return
        known = self._names.get(call.name)
        if known is not None and known != call.source:
            self.find(
                "duplicate-example-name", "warning", call.source, f"two examples have the name {call.name}",
                f"the other one is expected at line {known.line}", "noted",
            )  # fmt: skip
        self._names.setdefault(call.name, call.source)

    def _example(
        self, name: str, call: ExpectedCall, text: ExampleText, unread: list[UnreadCall]
    ) -> Example | None:
        operator = self._spec.operator
        if call.node.operator != operator.name:
            self.find(
                "example-of-other-operator", "hint", call.node.source,
                f"example {text.title} calls {call.node.operator}", f"the page describes {operator.name}",
                "rejected",
            )  # fmt: skip
            return None
        self._calls += 1
        if operator.domain not in ONNX_DOMAINS and "domain" not in call.node.unread:
            if str(call.node.attributes.get("domain", "")) != operator.domain:
                self._foreign.append(call.node.source)
        elif call.opset is not None and call.opset < operator.since_version:
            self._older.append((call.source, call.opset))
            return None
        missing = [each for each in call.node.unread if each != "domain"]
        if missing:
            reason = f"the node's {', '.join(missing)} is no number, text or list of them"
            unread.append(UnreadCall(call.source, reason))
            return None
        if not self._fits(call, text):
            return None
        attributes = {
            key: _plain(attribute) for key, attribute in call.node.attributes.items() if key != "domain"
        }
        added = self._missing_attributes(call, text)
        inputs = bind_inputs(call, self._spec.inputs)
        outputs = bind_outputs(call, self._spec.outputs, self._spec.inputs)
        return Example(name, {**attributes, **added}, inputs, outputs, text.source, None, bool(added))

    def _fits(self, call: ExpectedCall, text: ExampleText) -> bool:
        for what, given, arity in (
            ("inputs", call.node.inputs, self._spec.input_arity),
            ("outputs", call.node.outputs, self._spec.output_arity),
        ):
            if arity is None:
                continue
            most = arity.most if arity.most is not None else len(given)
            if not arity.least <= len(given) <= most:
                self.find(
                    "arity-vs-example", "error", call.node.source,
                    f"example {text.title} gives the node {len(given)} {what}",
                    f"the operator takes between {arity.least} and {most}", "rejected",
                )  # fmt: skip
                return False
        for what, node_names, values in (
            ("inputs", call.node.inputs, call.inputs),
            ("outputs", call.node.outputs, call.outputs),
        ):
            given = [node_name for node_name in node_names if node_name]
            if values is not None and len(given) != len(values):
                self.find(
                    "arity-vs-example", "error", call.source,
                    f"example {text.title} gives {len(values)} values for {len(given)} {what}",
                    f"the node's {what} are {', '.join(given)}", "rejected",
                )  # fmt: skip
                return False
        return True

    def _missing_attributes(self, call: ExpectedCall, text: ExampleText) -> dict[str, Any]:
        """Attributes that the expectation is computed with and the node lacks."""
        added: dict[str, Any] = {}
        for output in call.outputs or ():
            made = call.variables[output].made if output in call.variables else None
            for keyword, variable in variable_keywords(made).items():
                known = keyword in self._spec.attributes and keyword not in call.node.attributes
                value = call.variables[variable].value if variable in call.variables else None
                plain = isinstance(value, int | float | str | list) and is_read(value)
                if known and keyword == variable and plain:
                    added[keyword] = _plain(value)
        for keyword, value in added.items():
            self.find(
                "attribute-missing-in-example", "error", call.node.source,
                f"the node of example {text.title} lacks the attribute {keyword}",
                f"its expected output is computed with {keyword}={value}", "repaired",
            )  # fmt: skip
        return added


def _plain(value: Any) -> Any:
    """An attribute's value as YAML holds it; a truth value is the integer that ONNX makes of it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(each) for each in value] if isinstance(value, list) else value
