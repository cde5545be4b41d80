"""Calls that break exactly one rule, each from a valid call: what kinds propose, shapes, types, presence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from generator.calls import Call
from generator.data import fill
from generator.drawing import draw_call, value_tensor
from generator.draws import Draw
from generator.formed_breaches import formed_breaches
from generator.kind import Level
from generator.partial import Bindings, Partial, levels_in
from generator.solving import Found, Search
from generator.space import Space
from generator.validity import find_violations
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from specs.evaluation import EvaluationError
from specs.model import Constraint, ParameterSpec
from specs.structures import is_structured

MOST = 3
"""Breaches of one rule that are kept."""
BASES = 16
"""Valid calls that rules are broken from."""
FARTHER = 6
"""What is added to an extent of 1, which one more would make broadcast."""
OTHER_TYPES = ("string", "bool", "double", "int32", "float", "int64", "complex64")
OTHER_INTEGERS = ("int16", "uint64", "float", "int32", "int64", "string")
"""Types to give an input that has to be an integer: those that a runtime may take without a look first."""


@dataclass(frozen=True)
class Breach:
    """A call that breaks one rule alone, and the valid call that it was made from."""

    constraint: Constraint
    valid: Call
    call: Call


def find_breaches(space: Space, draw: Draw) -> list[Breach]:
    """At most three breaches of each rule, in the order of the rules; each breaks that rule and no other."""
    rules = {each.id: each for each in space.spec.constraints if each.otherwise is not None}
    kept: dict[str, list[Breach]] = {name: [] for name in rules}
    _keep(space, _bases(space, draw, space.plain_types), draw, rules, kept)
    if not all(kept.values()):
        # Some rules are about certain types alone, which need not be the plainest.
        lacking = {name: rules[name] for name, found in kept.items() if not found}
        _keep(space, _bases(space, draw.child("types"), {}), draw, lacking, kept)
    for name, found in kept.items():
        if not found and rules[name].origin.how != "derived":
            found.extend(islice(_searched(space, rules[name], draw.child(name)), MOST))
    return [each for found in kept.values() for each in found]


def _keep(
    space: Space,
    bases: Iterable[_Drawn],
    draw: Draw,
    rules: Mapping[str, Constraint],
    kept: Mapping[str, list[Breach]],
) -> None:
    """Keep the first calls of some bases that break one of the rules and nothing else."""
    for base in islice(bases, BASES):
        for valid, call in _changed_calls(space, base, draw):
            broken = broken_rules(space, call)
            if len(broken) != 1 or broken[0] not in rules or len(kept[broken[0]]) >= MOST:
                continue
            known = kept[broken[0]]
            digest = call.digest(space.spec.operator)
            if all(each.call.digest(space.spec.operator) != digest for each in known):
                known.append(Breach(rules[broken[0]], valid, call))


def broken_rules(space: Space, call: Call) -> list[str]:
    """The ids of the rules that a call breaks; none where they cannot be decided."""
    try:
        return [each.id for each in find_violations(space.spec, call)]
    except EvaluationError:
        return []


@dataclass(frozen=True)
class _Drawn:
    """A call, and the bindings and levels that it was drawn of."""

    scope: Partial
    levels: Mapping[str, Level]
    call: Call


def _bases(space: Space, draw: Draw, types: Mapping[str, Level]) -> Iterator[_Drawn]:
    """Valid calls with these levels of types and data; with any, the plainest call first."""
    for turn in range(2 * BASES):
        stream = draw.child(f"base {turn}")
        levels = space.plainest if turn == 0 and types else types
        base = _solved(space, space.search, levels, stream)
        if base is not None and not broken_rules(space, base.call):
            yield base


def _solved(space: Space, search: Search, levels: Mapping[str, Level], draw: Draw) -> _Drawn | None:
    found = search.solve(levels, draw)
    if not isinstance(found, Found):
        return None
    return _Drawn(found.scope, levels, draw_call(space, found.scope, levels, draw))


def _changed_calls(space: Space, base: _Drawn, draw: Draw) -> Iterator[tuple[Call, Call]]:
    """Calls that may break a rule, each with the valid one (`base`) that it was made from."""
    stream = draw.child(base.call.digest(space.spec.operator))
    for kind in space.kinds:
        try:
            for _, change in kind.breaches(base.scope, stream.child(kind.name)):
                changed = _with(space, base, change, stream)
                if changed is not None:
                    yield base.call, changed
        except EvaluationError:
            continue  # this call does not have what the breach is about
    yield from ((base.call, changed) for changed in formed_breaches(space.spec, base.call))
    for place, (name, tensor) in enumerate(base.call.inputs):
        parameter = _parameter(space, name)
        if parameter is not None and is_structured(space.spec, parameter):
            continue
        if tensor is not None and parameter is not None:
            for other in _other_shapes(space, tensor, stream):
                yield base.call, _exchanged(base.call, place, other)
            for other_type in _other_types(space, parameter, tensor):
                yield base.call, _exchanged(base.call, place, _in_type(tensor, other_type, stream))
            if parameter.option == "single":
                yield base.call, _exchanged(base.call, place, None)
    if base.call.outputs is not None and any(each.option == "variadic" for each in space.spec.outputs):
        names = base.call.outputs
        for asked in ((*names, f"{names[-1]}_more"), names[:-1]):
            if asked:
                yield base.call, replace(base.call, outputs=asked)
    for name in () if base.call.slots else space.types:
        yield from _beyond_types(space, base.call, name.removeprefix("type_"), stream)
    for name, attribute in space.spec.attributes.items():
        if attribute.required:
            yield base.call, base.call.with_attribute(name, None)


def _with(space: Space, base: _Drawn, change: Bindings, draw: Draw) -> Call | None:
    """The call with values exchanged; None where the operator's version cannot even say it."""
    bindings = {**base.scope.bindings, **change}
    try:
        levels = {**base.levels, **levels_in(change)}
        return draw_call(space, Partial(base.scope.spec, bindings), levels, draw)
    except (EvaluationError, ValueError, OverflowError, TypeError):
        return None


def _parameter(space: Space, name: str) -> ParameterSpec | None:
    return next((each for each in space.spec.inputs if each.name == name), None)


def _exchanged(call: Call, place: int, tensor: Tensor | None) -> Call:
    inputs = list(call.inputs)
    inputs[place] = (inputs[place][0], tensor)
    return replace(call, inputs=tuple(inputs))


def _other_shapes(space: Space, tensor: Tensor, draw: Draw) -> Iterator[Tensor]:
    """The tensor with one extent more, and with one axis more or fewer."""
    if space.spec.declared is None or not space.spec.declared.shapes:
        return
    shape = tensor.shape
    for axis in reversed(range(len(shape))):
        longer = shape[axis] + (FARTHER if shape[axis] == 1 else 1)
        yield _resized(tensor, (*shape[:axis], longer, *shape[axis + 1 :]), draw)
    yield _resized(tensor, (*shape, 1), draw)
    yield _resized(tensor, (*shape, 2), draw)
    if shape:
        yield _resized(tensor, shape[1:], draw)


def _resized(tensor: Tensor, shape: Sequence[int], draw: Draw) -> Tensor:
    if not tensor.array.size:
        return fill(tensor.element_type, shape, "random", draw.child(str(shape)))
    return Tensor(tensor.element_type, np.resize(tensor.array, tuple(shape)))


def _other_types(space: Space, parameter: ParameterSpec, tensor: Tensor) -> Iterator[str]:
    """A type that the input may not have, and one that other inputs of its type do not have."""
    allowed = space.spec.types_of(parameter)
    if allowed:
        yield from _beyond(allowed)[:1]
    yield from [each for each in allowed if each != tensor.element_type.name and each in ELEMENT_TYPES][:1]


def _beyond_types(space: Space, call: Call, variable: str, draw: Draw) -> Iterator[tuple[Call, Call]]:
    """The call with all inputs of a type variable in a type that it does not allow."""
    of_variable = {each.name for each in space.spec.inputs if each.type == variable}
    allowed = space.spec.type_constraints[variable].types
    for name in _beyond(allowed)[:MOST]:
        inputs = tuple(
            (which, _in_type(tensor, name, draw) if which in of_variable and tensor is not None else tensor)
            for which, tensor in call.inputs
        )
        yield call, replace(call, inputs=inputs)


def _beyond(allowed: Sequence[str]) -> list[str]:
    """Types that are not among those allowed, those first that are most easily taken for one."""
    integers = all(each in ELEMENT_TYPES and ELEMENT_TYPES[each].is_integer for each in allowed)
    return [each for each in (OTHER_INTEGERS if integers else OTHER_TYPES) if each not in allowed]


def _in_type(tensor: Tensor, name: str, draw: Draw) -> Tensor:
    """The tensor in another type: the same numbers where it has them, so that nothing else is changed."""
    kind = ELEMENT_TYPES[name]
    if tensor.element_type.is_integer and kind.kind not in ("string", "bool", "complex"):
        same = value_tensor(tensor.array, kind)
        if same.array.tolist() == tensor.array.tolist():
            return same
    return fill(kind, tensor.shape, "random", draw.child(name))


def broken_by_search(space: Space, rule: Constraint, draw: Draw) -> set[str]:
    """The rules that some call breaks which breaks this one; none where no call was found that does."""
    for base in islice(_bases(space, draw, space.plain_types), BASES):
        for _, call in _changed_calls(space, base, draw):
            broken = set(broken_rules(space, call))
            if rule.id in broken:
                return broken
    search = Search(space.spec, space.variables, [_opposite(rule)])
    for turn in range(BASES):
        breaking = _solved(space, search, space.plain_types, draw.child(str(turn)))
        broken = set() if breaking is None else set(broken_rules(space, breaking.call))
        if rule.id in broken:
            return broken
    return set()


def _opposite(rule: Constraint) -> Constraint:
    """The rule that holds where this one, which requires something, is broken."""
    opposite = f"not ({rule.require})" if rule.when is None else f"({rule.when}) and not ({rule.require})"
    return Constraint(rule.id, None, opposite, rule.otherwise, None, None, rule.origin)


def _searched(space: Space, rule: Constraint, draw: Draw) -> Iterator[Breach]:
    """Calls found by a search for the rule's opposite, beside the valid ones of the same levels."""
    if rule.require is None:
        return
    others = [each for each in space.spec.constraints if each.id != rule.id]
    search = Search(space.spec, space.variables, [*others, _opposite(rule)])
    levels = space.plain_types
    for turn in range(BASES):
        stream = draw.child(str(turn))
        breaking = _solved(space, search, levels, stream)
        if breaking is None or broken_rules(space, breaking.call) != [rule.id]:
            continue
        valid = _solved(space, space.search, levels, stream)
        if valid is not None and not broken_rules(space, valid.call):
            yield Breach(rule, valid.call, breaking.call)
