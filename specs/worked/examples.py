"""Worked examples of ONNX pages as facts: every call that their code makes, matched with the operator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opcert.element_types import element_type_of
from opcert.errors import UserError
from specs.documents import Line
from specs.model import Action, Example, Finding, ParameterSpec, Severity, Source, Spec, Value
from specs.relations import Relation, Step
from specs.worked.code import Code, ExpectedCall, Variable, read_code
from specs.worked.literals import Built, Part, Unknown

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
    for each in texts:
        reader.read(each)
    reader.finish()
    return tuple(reader.examples), reader.findings


class _Reader:
    """Collects the examples of one operator version."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._names: dict[str, Source] = {}
        self._foreign: list[Source] = []
        self.examples: list[Example] = []
        self.findings: list[Finding] = []

    def _find(self, code: str, severity: Severity, source: Source, message: str, evidence: str,
              action: Action) -> None:  # fmt: skip
        self.findings.append(Finding(code, severity, source, message, evidence, action))

    def read(self, text: ExampleText) -> None:
        code = read_code(text.lines)
        self._report(code, text)
        name = re.sub(r"\W+", "_", text.title).strip("_") or "example"
        for position, call in enumerate(code.calls):
            self._note_name(call)
            suffix = f"_{position + 1}" if len(code.calls) > 1 else ""
            example = self._example(f"{name}{suffix}", call, text)
            if example is not None:
                known = {each.id for each in self.examples}
                number = 2
                while example.id in known:
                    example = replace(example, id=f"{name}{suffix}_{number}")
                    number += 1
                repaired = example.repaired or code.indentation is not None
                self.examples.append(replace(example, repaired=repaired))

    def finish(self) -> None:
        """Findings about all examples together."""
        if self._foreign:
            count = len(self._foreign)
            self._find(
                "example-of-other-domain", "error", self._foreign[0],
                f"the examples make nodes of the default domain, not of {self._spec.operator.domain}",
                f"{count} of {count} calls of make_node give no domain", "noted",
            )  # fmt: skip

    def _report(self, code: Code, text: ExampleText) -> None:
        if code.error is not None:
            self._find(
                "example-does-not-parse", "error", code.error[1].source(),
                f"the code of example {text.title} is no Python", code.error[0], "rejected",
            )  # fmt: skip
        elif code.indentation is not None:
            self._find(
                "example-does-not-parse", "error", code.indentation.source(),
                f"the code of example {text.title} is indented more deeply than its imports",
                "Python refuses it: unexpected indent", "repaired",
            )  # fmt: skip
        elif not code.calls:
            self._find(
                "example-not-read", "hint", text.source,
                f"example {text.title} holds no call that could be read",
                "no expect(node, ...) with a literal make_node", "rejected",
            )  # fmt: skip

    def _note_name(self, call: ExpectedCall) -> None:
        if call.name is None:
            return
        if call.name in self._names:
            self._find(
                "duplicate-example-name", "warning", call.source, f"two examples have the name {call.name}",
                f"the other one is expected at line {self._names[call.name].line}", "noted",
            )  # fmt: skip
        self._names.setdefault(call.name, call.source)

    def _example(self, name: str, call: ExpectedCall, text: ExampleText) -> Example | None:
        operator = self._spec.operator
        if call.node.operator != operator.name:
            self._find(
                "example-of-other-operator", "hint", call.node.source,
                f"example {text.title} calls {call.node.operator}", f"the page describes {operator.name}",
                "rejected",
            )  # fmt: skip
            return None
        domain = str(call.node.attributes.get("domain", ""))
        if operator.domain not in ONNX_DOMAINS and domain != operator.domain:
            self._foreign.append(call.node.source)
        if not self._fits(call, text):
            return None
        attributes = {
            key: _plain(each) for key, each in call.node.attributes.items()
            if key != "domain" and not isinstance(each, Unknown | Part | Built)
        }  # fmt: skip
        added = self._missing_attributes(call, text)
        inputs = self._bind(call.node.inputs, call.inputs, self._spec.inputs, call)
        outputs = self._bind(call.node.outputs, call.outputs, self._spec.outputs, call)
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
                self._find(
                    "arity-vs-example", "error", call.node.source,
                    f"example {text.title} gives the node {len(given)} {what}",
                    f"the operator takes between {arity.least} and {most}", "rejected",
                )  # fmt: skip
                return False
        given = [each for each in call.node.inputs if each]
        if len(given) != len(call.inputs):
            self._find(
                "arity-vs-example", "error", call.source,
                f"example {text.title} gives {len(call.inputs)} values for {len(given)} inputs",
                f"the node's inputs are {', '.join(given)}", "rejected",
            )  # fmt: skip
            return False
        return True

    def _missing_attributes(self, call: ExpectedCall, text: ExampleText) -> dict[str, Any]:
        """Attributes that the expectation is computed with and the node lacks."""
        added: dict[str, Any] = {}
        for output in call.outputs:
            for keyword, variable in (
                call.variables[output].keywords.items() if output in call.variables else ()
            ):
                known = keyword in self._spec.attributes and keyword not in call.node.attributes
                value = call.variables[variable].value if variable in call.variables else None
                if known and keyword == variable and isinstance(value, int | float | str | list):
                    added[keyword] = _plain(value)
        for keyword, value in added.items():
            self._find(
                "attribute-missing-in-example", "error", call.node.source,
                f"the node of example {text.title} lacks the attribute {keyword}",
                f"its expected output is computed with {keyword}={value}", "repaired",
            )  # fmt: skip
        return added

    def _bind(
        self, names: list[str], given: list[str], parameters: Sequence[ParameterSpec], call: ExpectedCall
    ) -> tuple[tuple[str, Value | None], ...]:
        """The values of a node's inputs or outputs, under the operator's names."""
        values = iter(given)
        formal = _formal_names(parameters, len(names))
        variable_of = dict(zip([each for each in call.node.inputs if each], call.inputs, strict=False))
        formal_of = {
            variable: name
            for name, node_name in zip(_formal_names(self._spec.inputs, len(call.node.inputs)),
                                       call.node.inputs, strict=False)
            if (variable := variable_of.get(node_name)) is not None
        }  # fmt: skip
        bound: list[tuple[str, Value | None]] = []
        for name, node_name in zip(formal, names, strict=False):
            variable = next(values, None) if node_name else None
            found = call.variables.get(variable) if variable is not None else None
            value = _value(found, formal_of) if found is not None else None
            bound.append((name if node_name else "", value))
        return tuple(bound)


def _formal_names(parameters: Sequence[ParameterSpec], count: int) -> list[str]:
    names = [each.name for each in parameters]
    if parameters and parameters[-1].option == "variadic":
        names += [parameters[-1].name] * (count - len(names))
    return names


def _value(variable: Variable, formal_of: dict[str, str]) -> Value | None:
    """What is known of a variable; an array that a comment prints is the value of what code computes."""
    value, comment = variable.value, variable.comment
    if comment is not None and isinstance(value, Unknown) and comment.printed.shape is not None:
        printed = comment.printed
        return Value(printed.shape or (), printed.data, _type(value.dtype), comment.source, printed.decimals)
    source = variable.source
    if isinstance(value, Unknown):
        return None if value.shape is None else Value(value.shape, None, _type(value.dtype), source)
    if isinstance(value, Part):
        if value.name not in formal_of or value.shape is None:
            return None
        relation = Relation(None, (Step((), formal_of[value.name], value.index),))
        return Value(value.shape, None, _type(value.dtype), source, None, relation)
    if isinstance(value, Built):
        if any(each.source not in formal_of for each in value.steps):
            return None
        steps = tuple(replace(each, source=formal_of[each.source]) for each in value.steps)
        return Value(value.shape, None, _type(value.dtype), source, None, Relation(value.shape, steps))
    if isinstance(value, bool | int | float | list | np.ndarray):
        array = np.asarray(value)
        flat = array.reshape(-1).tolist()
        if all(isinstance(each, bool | int | float | str) for each in flat):
            return Value(array.shape, tuple(flat), _type(array.dtype), source)
    return None


def _type(dtype: np.dtype[Any] | None) -> str | None:
    if dtype is None:
        return None
    try:
        return element_type_of(dtype).name
    except UserError:
        return None


def _plain(value: Any) -> Any:
    """An attribute's value as YAML holds it; a truth value is the integer that ONNX makes of it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(each) for each in value] if isinstance(value, list) else value
