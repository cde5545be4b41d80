"""A node of a model held against its operator's spec: which input is which, types, attributes, outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from conformance.checked_models.model_calls import ModelNode, ModelValue
from generator.asking.named_operators import calls_are_declared, referenced_operators
from generator.calls.space.space import CallSpace, open_space
from generator.calls.space.stated_rules import stated_rules
from generator.calls.variables.wanted_outputs import asks_for_outputs
from generator.models.check.call_cases import Uncovered, is_aged
from generator.models.check.captured_values import NOTHING_AROUND, AroundNode, around_of, structure_of
from opcert.vocabulary.attributes import PLAIN_KINDS, Attribute, Graph
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor
from opcert.vocabulary.value_types import ValueType, element_type_in, parse_value_type
from reference.registry.body_runs import unreferenced
from reference.registry.body_values import rules_of
from specs.files.library import load_spec
from specs.model.signature_parts import AttributeSpec
from specs.model.spec import ParameterSpec, Spec
from specs.model.structures import form_of, is_sequence, listed_forms

_SHAPE = re.compile(r"\[[^]]*\]")
MOST_WHOLE = 256
"""Integers that decide something (axes, lengths, a new shape) are kept to so many elements, as they are."""
MOST_REAL = 8
"""Other numbers of that sort likewise: those of longer lists belong to an extent, and may be others."""
MOST_INPUTS = 1_000
"""Cases are made of nodes with so many inputs."""


@dataclass(frozen=True, eq=False)
class NodeInput:
    """One tensor that a node takes: the spec's input that it is, and what the model says of it.

    `kept` is the value that every case has; None where it may be another one.
    """

    parameter: ParameterSpec
    value: ModelValue | None
    element_type: str
    kept: Tensor | None = None

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def type_of_elements(self) -> ElementType:
        return ELEMENT_TYPES[self.element_type]

    @property
    def structure(self) -> ValueType | None:
        """The type of a sequence or an optional; None of a tensor."""
        return None if self.value is None else structure_of(self.value)


@dataclass(frozen=True, eq=False)
class NodeCall:
    """What a node says of its call, in the terms of its operator's space.

    `types` are the levels of type variables; `wanted` the names of outputs as a `Call` has them.
    """

    space: CallSpace
    attributes: Mapping[str, Attribute]
    inputs: tuple[NodeInput, ...]
    types: Mapping[str, str]
    wanted: tuple[str, ...] | None
    run_extents: frozenset[str] = frozenset()
    """The names of extents that come with each run of the model."""
    around: AroundNode = NOTHING_AROUND
    is_aged: bool = False
    """Its version is of a set of operators that is too old for a model of its own."""

    @cached_property
    def is_structured(self) -> bool:
        """Whether it is given a sequence or an optional."""
        sequences = [each.name for each in self.inputs if is_sequence(self.space.spec, each.parameter)]
        return bool(sequences) or any(each.structure is not None for each in self.inputs)

    @property
    def has_bodies(self) -> bool:
        """Whether graphs are among its attributes."""
        return any(isinstance(given.value, Graph) for given in self.attributes.values())

    @cached_property
    def spec(self) -> Spec:
        """The operator's spec, with the rules that documents state: not those of what is drawn alone.

        What they say of a variadic input they say of tensors: of sequences among them nothing.
        """
        spec = stated_rules(self.space)
        slots = [Slot(each.name, type=each.structure) for each in self.inputs]
        return replace(spec, constraints=tuple(rules_of(spec, slots)))

    def without_lists(self) -> NodeCall:
        """The call with the values of lists left open: those of lengths, axes, a new shape."""
        inputs = [
            replace(node_input, kept=None)
            if node_input.kept is not None and node_input.kept.array.size > 1
            else node_input
            for node_input in self.inputs
        ]
        return replace(self, inputs=tuple(inputs))

    @cached_property
    def fed(self) -> frozenset[str]:
        """The inputs that a kind has to give values to: those it covers, unless their value is kept."""
        covered = self.space.covered
        given = [each for each in self.inputs if each.value is not None and each.name in covered]
        return frozenset(each.name for each in given if each.kept is None)

    @cached_property
    def listed(self) -> frozenset[str]:
        """Those of them of which the values say how many there are: axes, lengths, a new shape."""
        shaped = {name for kind in self.space.kinds if kind.needs_own_shape for name in kind.covers}
        whole = {each.name for each in self.inputs if each.element_type in ("int64", "int32")}
        return (self.fed & whole) - shaped


def read_node(node: ModelNode) -> NodeCall:
    """The call of a node; raises Uncovered where no cases can be made of it."""
    operator = node.operator
    if operator is None:
        raise Uncovered("unknown", node.unknown or "The node names no operator version.")
    if len(node.inputs) > MOST_INPUTS:
        told = f"The node has {len(node.inputs):,} inputs; cases have at most {MOST_INPUTS:,}."
        raise Uncovered("too_costly", told)
    space = _space_of(operator)
    spec = space.spec
    for name, why in node.unread.items():
        if name not in node.open_graphs:
            raise Uncovered("unread", f"The attribute {name} is not carried: {why}")
    attributes = {
        **node.attributes,
        **{name: Attribute("graph", one) for name, one in node.open_graphs.items()},
    }
    for name, given in attributes.items():
        _check_attribute(spec, name, given)
        if isinstance(given.value, Graph):
            _check_body(operator, name, given.value)
    pairs = list(_paired(spec, node.inputs))
    types = _types_of(spec, pairs)
    # Constants that bodies carry from run to run may be what these are counted by, and end at.
    runs = any(isinstance(given.value, Graph) for given in attributes.values())
    inputs = tuple(
        _input(space, parameter, value, types, decides=runs and parameter.option == "variadic")
        for parameter, value in pairs
    )
    for each in inputs:
        form = spec.input_forms[each.name]
        if each.value is not None:
            types.setdefault(form.type_variable, each.element_type)
    wanted = _wanted(spec, node.outputs)
    around, aged = around_of(node), is_aged(node)
    return NodeCall(space, attributes, inputs, types, wanted, node.run_extents, around, aged)


def _space_of(operator: OperatorName) -> CallSpace:
    try:
        spec = load_spec(operator)
    except UserError as error:
        raise Uncovered("unspecified", f"There is no spec of {operator}.") from error
    if operator not in referenced_operators():
        raise Uncovered("no_reference", f"There is no reference for {operator} that says what is right.")
    if not calls_are_declared(spec):
        raise Uncovered("unspecified", f"No declaration says which calls {operator} has.")
    return open_space(spec)


def _check_body(operator: OperatorName, name: str, body: Graph) -> None:
    if missing := unreferenced(body, body.opset or operator.since_version):
        raise Uncovered("no_reference", f"{name} has {missing}, for which there is no reference.")


def _check_attribute(spec: Spec, name: str, given: Attribute) -> None:
    known = spec.attributes.get(name)
    if known is None:
        raise Uncovered("not_valid", f"The document of {spec.operator} has no attribute {name}.")
    if known.kind is not None and given.kind in PLAIN_KINDS and given.kind != known.kind:
        raise Uncovered("not_valid", f"{name} is {given.kind} in the node and {known.kind} in the document.")
    if given.kind in ("int", "float", "string") and (wrong := _outside(known, given)):
        raise Uncovered("not_valid", f"{name} is {given.value!r} in the node; the document allows {wrong}.")


def _outside(known: AttributeSpec, given: Attribute) -> str | None:
    """What the document allows, where a single value is not of it; None where it is."""
    value = given.value
    if known.allowed is not None and value not in known.allowed:
        return " or ".join(map(repr, known.allowed))
    if isinstance(value, int | float):
        if known.at_least is not None and value < known.at_least:
            return f"{known.at_least} or more"
        if known.more_than is not None and value <= known.more_than:
            return f"more than {known.more_than}"
        if known.at_most is not None and value > known.at_most:
            return f"{known.at_most} or less"
    return None


def _paired(
    spec: Spec, values: Sequence[ModelValue | None]
) -> Iterator[tuple[ParameterSpec, ModelValue | None]]:
    """The spec's inputs with what the node gives to them; a variadic one takes all that are left."""
    left = list(values)
    for parameter in spec.inputs:
        if parameter.option == "variadic":
            yield from ((parameter, value) for value in left)
            left = []
        else:
            yield parameter, left.pop(0) if left else None
    if any(value is not None for value in left):
        most = len(spec.inputs)
        raise Uncovered("not_valid", f"The node has {len(values)} inputs; the document has {most}.")


def _types_of(spec: Spec, pairs: Sequence[tuple[ParameterSpec, ModelValue | None]]) -> dict[str, str]:
    """The element type of each type variable of inputs that are given."""
    found: dict[str, str] = {}
    for parameter, value in pairs:
        form = spec.input_forms[parameter.name]
        if value is None:
            if parameter.option == "single":
                raise Uncovered("not_valid", f"The node leaves out {parameter.name}, which is required.")
            continue
        element_type = _element_type(spec, parameter, value)
        if element_type is None:
            continue
        if form.element_types and element_type not in form.element_types:
            allowed = ", ".join(form.element_types)
            told = f"{parameter.name} is {element_type} in the model; the document allows {allowed}."
            raise Uncovered("not_valid", told)
        known = found.setdefault(form.type_variable, element_type)
        same = parameter.option != "variadic" or parameter.homogeneous is not False
        if known != element_type and same:
            told = f"{parameter.name} is {element_type} where another input of its type is {known}."
            raise Uncovered("not_valid", told)
    return found


def plain_type(kind: ValueType) -> ValueType:
    """A type, whatever shape its tensors have."""
    return parse_value_type(_SHAPE.sub("", str(kind)))


def plain_form(kind: ValueType) -> str:
    """The form of a type, whatever shape its tensors have."""
    return form_of(plain_type(kind))


def _element_type(spec: Spec, parameter: ParameterSpec, value: ModelValue) -> str | None:
    """The type of a tensor's elements, or of those of the tensors in it; None where the model says none."""
    if value.kind is None:
        return value.element_type
    kind = structure_of(value)
    if kind is None or "map(" in value.kind:
        raise Uncovered("no_tensors", f"{parameter.name} is {value.kind}.")
    if plain_form(kind) not in listed_forms(spec, parameter):
        raise Uncovered("not_valid", f"{parameter.name} is {value.kind}; the document has none of that form.")
    return element_type_in(kind).name


def _input(
    space: CallSpace,
    parameter: ParameterSpec,
    value: ModelValue | None,
    types: Mapping[str, str],
    *,
    decides: bool,
) -> NodeInput:
    """`decides` says that whole constants are kept, as all are that kinds give values to."""
    form = space.spec.input_forms[parameter.name]
    plainest = "float" if "float" in form.element_types else (*form.element_types, "float")[0]
    element_type = types.get(form.type_variable, plainest)
    if value is not None and (own := _element_type(space.spec, parameter, value)) is not None:
        element_type = own
    kept = None
    if value is not None and value.constant is not None:
        whole = not value.constant.element_type.is_float
        known = parameter.name in space.covered or (decides and whole)
        if known and value.constant.array.size <= (MOST_WHOLE if whole else MOST_REAL):
            kept = value.constant
    return NodeInput(parameter, value, element_type, kept)


def _wanted(spec: Spec, outputs: Sequence[ModelValue | None]) -> tuple[str, ...] | None:
    """The names of the outputs as a call has them; None where every call has the same."""
    names: list[str] = []
    left = list(outputs)
    for output in spec.outputs:
        if output.option == "variadic":
            names += [f"{output.name}_{place}" if one is not None else "" for place, one in enumerate(left)]
            left = []
        else:
            names.append(output.name if left and left.pop(0) is not None else "")
    if any(value is not None for value in left):
        told = f"The node has {len(outputs)} outputs; the document has {len(spec.outputs)}."
        raise Uncovered("not_valid", told)
    while names and not names[-1]:
        names.pop()
    return tuple(names) if asks_for_outputs(spec) and names else None
