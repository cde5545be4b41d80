"""From a solved call to tensors: values of kinds in their types, and data drawn for what no kind covers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.asking.calls import Call
from generator.calls.data.data import data_classes, fill
from generator.calls.data.draws import Draw
from generator.calls.solver.partial import OMITTED, Partial, shaped
from generator.calls.space.space import CallSpace
from generator.calls.variables.data_levels import DATA, POINTS, fill_points, has_points
from generator.calls.variables.formed_inputs import formed_slot, formed_tensors
from generator.calls.variables.kind import Level
from generator.calls.variables.wanted_outputs import NAMES
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.slots import Slot
from opcert.vocabulary.tensors import Tensor, tensor
from reference.numbers.numbers import encode
from specs.model.spec import AttributeSpec, ParameterSpec
from specs.model.structures import is_sequence, is_structured, sequence_type

_OTHER_KINDS = {"type_proto": "type", "type_protos": "types"}
"""Kinds of attributes by the words that documents have for them."""
PLAIN_CLASS = "random"
"""The class of data of an input whose type lacks the class that the levels name."""


def draw_call(space: CallSpace, scope: Partial, levels: Mapping[str, Level], draw: Draw) -> Call:
    """The call of solved bindings, with its data drawn; the levels name types and the class of the data."""
    known = {f"level:{name}": level for name, level in levels.items()}
    scope = Partial(scope.spec, {**scope.bindings, **known})
    attributes = {
        name: made
        for name, each in space.spec.attributes.items()
        if (made := _attribute(each, scope.bindings.get(name))) is not None
    }
    inputs: list[tuple[str, Tensor | None]] = []
    slots: list[Slot] = []
    for parameter in space.spec.inputs:
        tensors = _tensors(space, parameter, scope, draw)
        slots.extend(_slots(space, parameter, scope, len(inputs), tensors))
        inputs.extend((parameter.name, each) for each in tensors)
    made_of_several = any(slot.type is not None for slot in slots)
    names = scope.bindings.get(NAMES)
    return Call(
        attributes,
        tuple(inputs),
        tuple(slots) if made_of_several else (),
        None if names is None else tuple(names),
    ).trimmed()


def _slots(
    space: CallSpace, parameter: ParameterSpec, scope: Partial, first: int, tensors: Sequence[Tensor | None]
) -> Iterator[Slot]:
    """The inputs of the node that tensors make, the first of which has that place in the call."""
    if is_structured(space.spec, parameter):
        yield formed_slot(parameter, scope, first, tensors)
        return
    if is_sequence(space.spec, parameter):
        kind = sequence_type(scope.element_type(parameter))
        yield Slot(parameter.name, tuple(range(first, first + len(tensors))), kind)
        return
    for place, each in enumerate(tensors):
        yield Slot(parameter.name, () if each is None else (first + place,))


def _attribute(spec: AttributeSpec, value: Any) -> Attribute | None:
    kind = spec.kind or _OTHER_KINDS.get(spec.other_type or "", spec.other_type)
    if value is None or kind is None:
        return None
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if kind in ("ints", "floats", "strings") and not isinstance(plain, list | tuple):
        plain = [plain]
    return attribute(kind, plain)


def _tensors(space: CallSpace, parameter: ParameterSpec, scope: Partial, draw: Draw) -> list[Tensor | None]:
    name, stream = parameter.name, draw.child(parameter.name)
    element_type = ELEMENT_TYPES[scope.element_type(parameter)]
    if is_structured(scope.spec, parameter):

        def fill_part(kind: ElementType, shape: Sequence[int], own: Draw) -> Tensor:
            return _filled(kind, shape, scope, own)

        formed = formed_tensors(parameter, scope, stream, fill_part)
        return _mended(space, name, formed, scope)
    if name in scope.bindings:
        value = scope.bindings[name]
        return [None if value is None else value_tensor(shaped(scope, parameter, value), element_type)]
    if parameter.option == "variadic" or is_sequence(scope.spec, parameter):
        shapes = scope.bindings.get(f"shapes:{name}", ())
        streams = enumerate(shapes)
        tensors = [_filled(element_type, shape, scope, stream.child(str(place))) for place, shape in streams]
        return _mended(space, name, tensors, scope)
    shape = scope.bindings.get(f"shape:{name}")
    if shape is None or scope.level(name) == OMITTED:
        return [None]
    drawn = _filled(element_type, shape, scope, stream)
    for kind in space.kinds:
        if name in kind.mends:
            drawn = kind.mend(drawn, scope)
    return [drawn]


def _mended(
    space: CallSpace, name: str, tensors: Sequence[Tensor | None], scope: Partial
) -> list[Tensor | None]:
    """The tensors of an input of several, as the kinds that keep rules of them make them."""
    given = [tensor for tensor in tensors if tensor is not None]
    if len(given) < len(tensors):
        return [*tensors]
    for kind in space.kinds:
        if name in kind.mends:
            given = [*kind.mend_all(given, scope)]
    return [*given]


def _filled(element_type: ElementType, shape: Any, scope: Partial, draw: Draw) -> Tensor:
    wanted = str(scope.level(DATA) or PLAIN_CLASS)
    if wanted == POINTS and has_points(element_type):
        return fill_points(element_type, shape, scope, draw)
    known = data_classes(element_type)
    return fill(element_type, shape, wanted if wanted in known else PLAIN_CLASS, draw)


def value_tensor(array: NDArray[Any], element_type: ElementType) -> Tensor:
    """Plain numbers or texts as a tensor of a type: the nearest value that it has, integers towards 0."""
    if element_type.kind == "string":
        return tensor(array.astype(object), element_type)
    plain = array.reshape(-1).tolist()
    if element_type.is_integer:
        low, high = element_type.integer_range
        plain = [min(max(int(each), low), high) for each in plain]
    elif element_type.is_float:
        return Tensor(element_type, encode(element_type, plain).reshape(array.shape))
    return Tensor(element_type, np.array(plain, dtype=element_type.storage).reshape(array.shape))
