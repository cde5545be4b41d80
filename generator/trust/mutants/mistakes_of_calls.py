"""Calls that a runtime takes for others, whatever the operator: tensors, attributes, integers, shapes.

They follow from the spec alone: types, shapes, attributes, versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.asking.tensor_edits import is_main, with_inputs
from generator.asking.validity import find_refusable
from generator.calls.edits.attribute_changes import print_value
from generator.trust.mutants import mistakes_of_elements as elements
from generator.trust.mutants.mistake import Mistake, Mistaken, Taken, refusing
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.tensors import Tensor
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, room_of, versions_in
from specs.language.shape_expressions import parse_shape
from specs.model.spec import AttributeSpec, Spec
from specs.model.structures import holds_several

Shapes = Sequence[tuple[int, ...]]
Places = Sequence[int]
Order = Callable[[Sequence[int]], Sequence[int]]
_WORDS = ("broadcast", "within")
_MOST = 1 << 31


def make_mistakes(spec: Spec) -> Iterator[Mistaken]:
    """Every mistake that makes sense for an operator, but for those that its spec leaves open."""
    for find in _FINDERS:
        file = f"{find.__module__.replace('.', '/')}.py"
        for mistake in find(spec):
            if not mistake.is_accepted(spec):
                yield Mistaken(mistake, file, find.__name__.replace("_", " "))


def aligned_shapes(spec: Spec) -> Iterator[Mistake]:
    """Shapes that are broadcast otherwise: from the left, to the first alone, or not at all."""
    names = broadcast_inputs(spec)
    if not names:
        return
    yield Mistake("left", "shapes aligned at their first axes", _aligned_left(names))
    for text, refuses in _REFUSED:
        yield refusing(text, f"{text} refused", partial(_are_refused, names, refuses))


def broadcast_inputs(spec: Spec) -> frozenset[str]:
    """The inputs of which the whole shape is broadcast to that of the output."""
    declared = spec.declared.shapes if spec.declared is not None else {}
    whole = {}
    for name, text in declared.items():
        shape = parse_shape(text)
        if all(len(parts) == 1 for _, parts in shape.alternatives):
            whole[name] = [parts[0] for _, parts in shape.alternatives]
    found = {name for name, parts in whole.items() if any(part.word in _WORDS for part in parts)}
    if not found:
        return frozenset()
    # What an input is broadcast to is the shape of another one.
    return frozenset(found | {name for name, parts in whole.items() if all(part.several for part in parts)})


def _aligned_left(names: frozenset[str]) -> Callable[[Spec, Call], Call | None]:
    """Axes of length 1 behind the last one, where NumPy adds them before the first."""

    def taken(spec: Spec, call: Call) -> Call | None:
        rank = max(len(each) for each in _shapes(call, names))

        def widened(given: Tensor) -> Tensor | None:
            missing = rank - len(given.shape)
            shape = (*given.shape, *(1,) * missing)
            return Tensor(given.element_type, given.array.reshape(shape)) if missing and given.shape else None

        return with_inputs(spec, call, widened, lambda parameter: parameter.name in names)

    return taken


def _are_refused(
    names: frozenset[str], refuses: Callable[[Shapes], bool], _spec: Spec, call: Call, _answer: Answered
) -> bool:
    return refuses(_shapes(call, names))


def _shapes(call: Call, names: frozenset[str]) -> Shapes:
    return [tensor.shape for name, tensor in call.inputs if tensor is not None and name in names]


def _all_enlarged(shapes: Shapes) -> bool:
    return bool(shapes) and np.broadcast_shapes(*shapes) not in shapes


_REFUSED: tuple[tuple[str, Callable[[Shapes], bool]], ...] = (
    ("different shapes", lambda shapes: len(set(shapes)) > 1),
    ("different ranks", lambda shapes: len({len(shape) for shape in shapes}) > 1),
    ("a first input that is enlarged", lambda shapes: np.broadcast_shapes(*shapes) != shapes[0]),
    ("inputs that are all enlarged", _all_enlarged),
)


def exchanged_tensors(spec: Spec) -> Iterator[Mistake]:
    """Inputs taken for each other, tensors of a list that are forgotten, outputs in another order."""
    single = [parameter for parameter in spec.inputs if not holds_several(spec, parameter)]
    for first, second in combinations(single, 2):
        if set(spec.types_of(first)) & set(spec.types_of(second)):
            text = f"{first.name} and {second.name} exchanged"
            yield Mistake(text, f"{text}, whatever their shapes", _exchanged(first.name, second.name))
    for parameter in single:
        if parameter.option == "optional":
            yield Mistake(f"{parameter.name} ignored", f"{parameter.name} ignored", _ignored(parameter.name))
    for parameter in spec.inputs:
        if holds_several(spec, parameter):
            for word, text, choose in _CHOSEN:
                yield Mistake(
                    f"{parameter.name} {word}", text.format(parameter.name), _listed(parameter.name, choose)
                )
    if len(spec.outputs) > 1 or any(holds_several(spec, output) for output in spec.outputs):
        yield Mistake("outputs turned", "the outputs in reverse order", made=_turned)


def _exchanged(first: str, second: str) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        left, right = (dict(call.inputs).get(name) for name in (first, second))
        if left is None or right is None or left == right or left.element_type is not right.element_type:
            return None
        return call.with_input(first, right).with_input(second, left)

    return taken


def _ignored(name: str) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        return None if dict(call.inputs).get(name) is None else call.with_input(name, None)

    return taken


def _listed(name: str, choose: Callable[[Places], Places]) -> Taken:
    """Other tensors of a list, in the places in which it has them; of calls with plain inputs."""

    def taken(_spec: Spec, call: Call) -> Call | None:
        places = [at for at, (each, _) in enumerate(call.inputs) if each == name]
        chosen = choose(places)
        if call.slots or len(places) < 2 or list(chosen) == places:
            return None
        others = [each for each in range(len(call.inputs)) if each not in places]
        order = [other for other in others if other < places[0]] + [*chosen]
        order += [other for other in others if other > places[-1]]
        return replace(call, inputs=tuple(call.inputs[each] for each in order))

    return taken


def _turned(_spec: Spec, _call: Call, answer: Answered) -> Response | None:
    turned = answer.outputs[::-1]
    return None if turned == answer.outputs else Answered(turned)


_CHOSEN: tuple[tuple[str, str, Callable[[Places], Places]], ...] = (
    ("without the last", "the last of {} left out", lambda places: places[:-1]),
    ("without the first", "the first of {} left out", lambda places: places[1:]),
    ("two", "the first two of {} alone", lambda places: places[:2]),
    ("turned", "{} in reverse order", lambda places: places[::-1]),
)


def refused_tensors(_spec: Spec) -> Iterator[Mistake]:
    """Tensors that are refused, but where that is left open: without elements, scalars, of many axes."""
    for word, text, has in _HAVING:
        yield refusing(f"{word} refused", text, partial(_has_such_inputs, has))
    yield refusing("empty outputs refused", "outputs without elements refused", _has_empty_outputs)


def _has_such_inputs(has: Callable[[Tensor], bool], spec: Spec, call: Call, _answer: Answered) -> bool:
    such = any(given is not None and has(given) for _, given in call.inputs)
    return such and find_refusable(spec, call) is None


def _has_empty_outputs(spec: Spec, call: Call, answer: Answered) -> bool:
    empty = any(isinstance(made, Tensor) and not made.array.size for made in answer.outputs)
    return empty and find_refusable(spec, call) is None


_HAVING: tuple[tuple[str, str, Callable[[Tensor], bool]], ...] = (
    ("empty inputs", "inputs without elements refused", lambda given: not given.array.size),
    ("scalar inputs", "inputs of rank 0 refused", lambda given: not given.shape),
    ("ranks above 4", "inputs of more than four axes refused", lambda given: len(given.shape) > 4),
)


def taken_attributes(spec: Spec) -> Iterator[Mistake]:
    """Attributes that are left out, and taken to have another value than their default."""
    for name, known in spec.attributes.items():
        if known.kind is None or known.required:
            continue
        for value in _others(spec, known):
            text = f"{name} taken for {print_value(value.value)} where it is left out"
            yield Mistake(f"{name}={print_value(value.value)}", text, _by_default(name, value))
        if known.default is not None:
            yield Mistake(f"{name} dropped", f"{name} ignored", _dropped(name))


def _others(spec: Spec, known: AttributeSpec) -> list[Attribute]:
    """Other defaults: of other versions, words that are allowed, and numbers beside this one."""
    plain: list[object] = []
    for other_version in _other_versions(spec):
        before = other_version.attributes.get(known.name)
        if before is not None and before.kind == known.kind and before.default is not None:
            plain.append(before.default)
    default = known.default
    if known.allowed:
        plain += list(known.allowed)
    elif isinstance(default, bool | str) or default is None:
        pass
    elif known.kind == "int":
        plain += [default + 1, default - 1]
    elif known.kind == "float":
        plain += [0.0, 1.0, 2 * default]
    made = [attribute(str(known.kind), each) for each in plain]
    return list({each.value: each for each in made if each.value != known.default_value}.values())


def _other_versions(spec: Spec) -> Iterator[Spec]:
    operator = spec.operator
    for version in versions_in(room_of(operator, OWN_FOLDER)):
        if version != operator.since_version:
            yield load_spec(type(operator)(operator.domain, operator.name, version))


def _by_default(name: str, value: Attribute) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        return None if name in call.attributes else call.with_attribute(name, value)

    return taken


def _dropped(name: str) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        return call.with_attribute(name, None) if name in call.attributes else None

    return taken


def taken_integers(spec: Spec) -> Iterator[Mistake]:
    """Integers that ask for something (axes, indices, lengths, shapes), and are read otherwise."""
    is_element = is_main(spec)
    for parameter in spec.inputs:
        types = spec.types_of(parameter)
        if not is_element(parameter) and all(name.startswith(("int", "uint")) for name in types):
            for word, text, order in _ORDERS:
                yield Mistake(
                    f"{parameter.name} {word}", text.format(parameter.name), _of_input(parameter.name, order)
                )
    for name, known in spec.attributes.items():
        if known.kind in ("int", "ints") and not known.allowed:
            for word, text, order in _ORDERS:
                yield Mistake(f"{name} {word}", text.format(name), _of_attribute(name, order))


def _of_input(name: str, order: Order) -> Taken:
    def exchange(given: Tensor) -> Tensor | None:
        flat = [int(each) for each in given.array.reshape(-1).tolist()]
        made = list(order(flat))
        low, high = given.element_type.integer_range
        if made == flat or len(made) != len(flat) or not all(low <= each <= high for each in made):
            return None
        array = np.array(made, dtype=given.array.dtype).reshape(given.shape)
        return Tensor(given.element_type, array)

    return lambda spec, call: with_inputs(spec, call, exchange, lambda parameter: parameter.name == name)


def _of_attribute(name: str, order: Order) -> Taken:
    def taken(_spec: Spec, call: Call) -> Call | None:
        given = call.attributes.get(name)
        if given is None:
            return None
        several = isinstance(given.value, tuple)
        before = [int(number) for number in given.numbers] if several else [int(str(given.value))]
        made = list(order(before))
        if made == before:
            return None
        return call.with_attribute(name, Attribute(given.kind, tuple(made) if several else made[0]))

    return taken


def _one_for_all(values: Sequence[int], place: int) -> Sequence[int]:
    return [values[place]] * len(values)


def _in_32_bits(values: Sequence[int]) -> Sequence[int]:
    return [(value + _MOST) % (2 * _MOST) - _MOST for value in values]


_ORDERS: tuple[tuple[str, str, Order], ...] = (
    ("first", "the first of {} for all", lambda values: _one_for_all(values, 0)),
    ("last", "the last of {} for all", lambda values: _one_for_all(values, -1)),
    ("sorted", "{} in ascending order", lambda values: sorted(values)),
    ("reversed", "{} in reverse order", lambda values: values[::-1]),
    ("from 1", "{} counted from 1", lambda values: [value - 1 for value in values]),
    ("one more", "{} one too great", lambda values: [value + 1 for value in values]),
    ("other end", "{} counted from the other end", lambda values: [-1 - value for value in values]),
    ("unsigned", "{} without signs", lambda values: [abs(value) for value in values]),
    ("at least 0", "negative {} taken for 0", lambda values: [max(value, 0) for value in values]),
    ("at most 1", "{} above 1 taken for 1", lambda values: [min(value, 1) for value in values]),
    ("in 32 bits", "{} in 32 bits", _in_32_bits),
)


_FINDERS: tuple[Callable[[Spec], Iterator[Mistake]], ...] = (
    aligned_shapes,
    elements.cut_strings,
    exchanged_tensors,
    elements.kernel_loops,
    elements.other_arithmetic,
    refused_tensors,
    elements.special_values,
    taken_attributes,
    taken_integers,
    elements.unfinished_elements,
)
"""Each is a kind of mistake, called by its name."""
