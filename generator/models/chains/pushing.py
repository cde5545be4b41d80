"""What must come out of a chain: the reference of each node, asked about what the one before it answers.

Where every right program holds the same value between two nodes, the second one's expectation on that value
is the chain's. An allowed error goes through operators that move elements, and through those that bring
numbers no farther apart; accepted values also through such as take each element alone; from DequantizeLinear
to QuantizeLinear it goes through those that `spreading` knows. Through anything else nothing is pushed: then
there is no case. docs/your-runtime.md says why this holds for fused nodes as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.suite.cases import Alternative, Expectation, ExpectedOutput
from generator.models.chains.carrying import (
    MOVING,
    NEVER_FARTHER,
    ONE_BY_ONE,
    carried,
    is_exact,
    numbered,
    opened_by,
    same_but_for_zeros,
    substituted,
    with_open_zeros,
)
from generator.models.chains.chain_bodies import answers_of_bodies, has_bodies
from generator.models.chains.chains import Chain, Link
from generator.models.chains.node_answers import (
    Unpushed,
    answers,
    folded_error,
    folds,
    rules_and_reference,
    widened,
)
from generator.models.chains.spreading import (
    COMPUTING,
    from_integers,
    quantised,
    scaled_once,
    scales_softmax,
    spread,
)
from opcert.vocabulary.tensors import Tensor

_MOST_WORLDS = 24
Options = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class World:
    """The values of a chain so far under some options of what the documents leave open."""

    values: Mapping[str, ExpectedOutput]
    readings: Options = field(default_factory=dict)
    behaviours: Options = field(default_factory=dict)


def worlds_of(links: Iterable[Link], data: Mapping[str, Tensor]) -> tuple[World, ...]:
    """The values after some nodes, by name, one world for each distinct outcome of open readings.

    Raises Unpushed where what goes in is not known exactly enough, or there are too many worlds.
    """
    worlds: tuple[World, ...] = (
        World({name: ExpectedOutput(name, tensor) for name, tensor in data.items()}),
    )
    makers: dict[str, Link] = {}
    for link in links:
        worlds = tuple(later for before in worlds for later in after(link, before, makers))
        makers |= dict.fromkeys(link.outputs, link)
        if len(worlds) > _MOST_WORLDS:
            raise Unpushed(f"{link.operator} is open in too many ways", got=str(len(worlds)))
    return worlds


def expectations_of_chain(chain: Chain) -> tuple[Expectation, ...]:
    """The expectations of a chain's outputs, in order; raises Unpushed where nobody can say them."""
    found = []
    for world in worlds_of(chain.spelled or chain.links, chain.data):
        outputs = tuple(world.values[name] for name in chain.outputs)
        if chain.beside is not None:
            outputs = (*outputs[:-1], _widened(outputs[-1], chain.beside))
        found.append(Expectation(outputs, world.readings, world.behaviours))
    return tuple(found)


def _widened(value: ExpectedOutput, beside: NDArray[np.float64]) -> ExpectedOutput:
    allowed = np.zeros(value.expected.shape) if value.allowed is None else value.allowed
    return replace(value, allowed=np.nextafter(allowed + beside, np.inf))


def after(link: Link, world: World, makers: Mapping[str, Link]) -> Iterable[World]:
    """The worlds that one more node leads to; `makers` are the nodes before it by what they give.

    Raises Unpushed where nobody can say its values exactly enough.
    """
    if has_bodies(link):
        yield from _behind(link, world, answers_of_bodies(link, world.values))
        return
    taken = [world.values[name] if name else None for name in link.inputs]
    vague = [output for output in taken if output is not None and not is_exact(output)]
    first = makers.get(link.inputs[0]) if link.inputs else None
    tensors = [None if output is None else output.expected for output in taken]
    for expectation in _whatever_zeros(link, taken, answers(link, tensors)):
        outputs = expectation.outputs
        if link.operator.name == "QuantizeLinear":
            given = [scaled_once(link, world.values, makers), *taken[1:]]
            outputs = tuple(quantised(link, given, output) for output in outputs)
        elif _spreads(link, taken, outputs, makers):
            outputs = tuple(spread(link, taken, output) for output in outputs)
        elif vague:
            outputs = tuple(_carry(link, taken, output, place) for place, output in enumerate(outputs))
        elif first is not None and folds(first, link):
            outputs = tuple(_folded(first, link, world, output) for output in outputs)
        yield from _behind(link, world, [replace(expectation, outputs=outputs)])


def _behind(link: Link, world: World, found: Iterable[Expectation]) -> Iterable[World]:
    """The world with what a node gives, once for each expectation."""
    names = [name for name in link.outputs if name]
    for expectation in found:
        outputs = zip(names, expectation.outputs, strict=True)
        made = {name: replace(output, name=name) for name, output in outputs}
        yield World(
            {**world.values, **made},
            _joined(world.readings, expectation.readings),
            _joined(world.behaviours, expectation.behaviours),
        )


def _whatever_zeros(
    link: Link, taken: Sequence[ExpectedOutput | None], found: Sequence[Expectation]
) -> Sequence[Expectation]:
    """What comes out where zeros that go in may have either sign: the same, with such zeros."""
    flipped = [None if output is None else with_open_zeros(output) for output in taken]
    if not any(tensor is not None for tensor in flipped):
        return found
    tensors = [
        other if other is not None else None if output is None else output.expected
        for output, other in zip(taken, flipped, strict=True)
    ]
    widened_ones = list(found)
    for other in answers(link, tensors):
        alike = [at for at, one in enumerate(found) if same_but_for_zeros(one.outputs, other.outputs)]
        if not alike:
            raise Unpushed(f"{link.operator} hangs on the signs of zeros, which are open")
        for at in alike:
            outputs = map(opened_by, widened_ones[at].outputs, other.outputs)
            widened_ones[at] = replace(widened_ones[at], outputs=tuple(outputs))
    return widened_ones


def _spreads(
    link: Link,
    taken: Sequence[ExpectedOutput | None],
    outputs: Sequence[ExpectedOutput],
    makers: Mapping[str, Link],
) -> bool:
    """Whether the node computes with what was dequantised, or scales Softmax, and not all is exact here."""
    known = link.operator.name in COMPUTING and from_integers(link, makers)
    if not known and not scales_softmax(link, makers):
        return False
    return not all(is_exact(output) for output in (*taken, *outputs) if output is not None)


def _folded(before: Link, link: Link, world: World, output: ExpectedOutput) -> ExpectedOutput:
    if is_exact(output):
        return output
    values = {name: value.expected for name, value in world.values.items()}
    return widened(output, folded_error(before, link, values))


def _joined(one: Options, other: Options) -> Options:
    """Options of both; a runtime may follow one of them in one node and another in the next."""
    return {
        name: tuple(dict.fromkeys((*one.get(name, ()), *other.get(name, ())))) for name in {**one, **other}
    }


def _carry(
    link: Link, taken: Sequence[ExpectedOutput | None], output: ExpectedOutput, place: int
) -> ExpectedOutput:
    """One output of a node of which an input is not exact; Unpushed where no rule carries it."""
    name = link.operator.name
    if name in ("Shape", "Size"):
        return output
    if name in ONE_BY_ONE:
        value = taken[0]
        rest = [each for each in taken[1:] if each is not None]
        if value is not None and all(map(is_exact, rest)):
            return _one_by_one(link, taken, value, output)
    if name in MOVING:
        return _moved(link, taken, output, place)
    raise Unpushed(f"what {name} is given is not known exactly")


def _one_by_one(
    link: Link, taken: Sequence[ExpectedOutput | None], value: ExpectedOutput, output: ExpectedOutput
) -> ExpectedOutput:
    inexact = value.allowed is not None and bool(value.allowed.any())
    if inexact and link.operator.name not in NEVER_FARTHER | MOVING:
        raise Unpushed(f"what {link.operator.name} makes of a value that may be off a little is not known")
    if not is_exact(output):
        raise Unpushed(f"{link.operator.name} leaves open what it makes of values that are open")
    further: dict[int, list[Any]] = {}
    expected = output.expected.array.reshape(-1)
    rest = [None if each is None else each.expected for each in taken[1:]]
    for place in range(max((len(alternative.values) for alternative in value.alternatives), default=0)):
        for expectation in answers(link, [substituted(value, place), *rest]):
            other = expectation.outputs[0]
            if not is_exact(other):
                raise Unpushed(f"{link.operator.name} leaves open what it makes of values that are open")
            flat = other.expected.array.reshape(-1)
            for alternative in value.alternatives:
                same = flat[alternative.index].tobytes() == expected[alternative.index].tobytes()
                if place < len(alternative.values) and not same:
                    further.setdefault(alternative.index, []).append(flat[alternative.index])
    found = tuple(
        Alternative(index, tuple(dict.fromkeys(each.item() for each in values)))
        for index, values in sorted(further.items())
    )
    return replace(output, allowed=value.allowed if inexact else output.allowed, alternatives=found)


def _moved(
    link: Link, taken: Sequence[ExpectedOutput | None], output: ExpectedOutput, place: int
) -> ExpectedOutput:
    spec, _ = rules_and_reference(link.operator)
    moved = {spec.outputs[0].type}
    last = len(spec.inputs) - 1
    moving = [at for at in range(len(taken)) if spec.inputs[min(at, last)].type in moved]
    values = {at: each for at in moving if (each := taken[at]) is not None}
    if any(each is not None and not is_exact(each) for at, each in enumerate(taken) if at not in values):
        raise Unpushed(f"what {link.operator.name} moves by is not known exactly")
    numbers, _ = numbered({str(at): value.expected for at, value in values.items()})
    tensors = [
        numbers[str(at)] if at in values else None if each is None else each.expected
        for at, each in enumerate(taken)
    ]
    (found, *others) = answers(link, tensors)
    if others or not is_exact(found.outputs[place]):
        raise Unpushed(f"{link.operator.name} leaves open where elements go")
    return carried(output.name, output.expected, found.outputs[place].expected, list(values.values()))
