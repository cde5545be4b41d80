"""If, Loop, Scan, SequenceMap: bodies run once, again and again, or for each slice or element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opcert.vocabulary.attributes import Graph
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor
from reference.answers import Answer, OutsideDomain, UnstableLength, sequence_of
from reference.readings.choices import Choice
from reference.registry import reference_operator
from reference.registry.body_runs import EvaluatedBody, Shared
from reference.registry.body_values import as_answer, is_exact, tensors_of
from reference.shared.movement import Accumulation, NegativeZeros, Overflow, Subnormals

_MOST_RUNS = 10_000
_BOOL, _INT64 = ELEMENT_TYPES["bool"], ELEMENT_TYPES["int64"]


@reference_operator("ai.onnx::If")
def if_else(
    cond: Tensor,
    *,
    then_branch: Graph,
    else_branch: Graph,
    version: int,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> tuple[Answer, ...]:
    """What the branch gives that the condition names. Source: If, Summary, cond."""
    shared = _shared(accumulation_type, integer_overflow, subnormals, negative_zeros)
    branch = then_branch if _truth(as_answer(cond)) else else_branch
    return tuple(EvaluatedBody.of(branch, version, shared).outputs(()))


@reference_operator("ai.onnx::Loop")
def loop(
    M: Tensor | None = None,
    cond: Tensor | None = None,
    v_initial: tuple[Tensor, ...] = (),
    *,
    body: Graph,
    version: int,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> tuple[Answer, ...]:
    """The states behind the last run, then what each run gave: at most M runs, and while the condition is so.

    Where the condition is left out, what the body says of it counts for nothing. Source: Loop, Summary.
    """
    run = EvaluatedBody.of(
        body, version, _shared(accumulation_type, integer_overflow, subnormals, negative_zeros)
    )
    states = [as_answer(state) for state in v_initial]
    most = None if M is None else _whole(as_answer(M))
    going = Answer(Tensor(_BOOL, np.array(True))) if cond is None else as_answer(cond)
    if most is None and cond is None:
        raise OutsideDomain("a loop that nothing ends")
    gathered: list[list[Answer]] = []
    while (most is None or len(gathered) < most) and (cond is None or _truth(going)):
        if len(gathered) == _MOST_RUNS:
            raise UnstableLength("more runs than are evaluated", expected=f"at most {_MOST_RUNS}")
        number = Answer(Tensor(_INT64, np.array(len(gathered), dtype=np.int64)))
        going, *found = run.outputs([number, going, *states])
        if len(found) < len(states):
            raise OutsideDomain("a body that gives fewer states than it takes")
        gathered.append(found[len(states) :])
        states = found[: len(states)]
    count = len(run.proto.output) - 1 - len(states)
    return (*states, *(_gathered(run, 1 + len(states) + place, place, gathered) for place in range(count)))


@reference_operator("ai.onnx::Scan")
def scan(
    initial_state_and_scan_inputs: tuple[Tensor, ...],
    *,
    body: Graph,
    num_scan_inputs: int,
    scan_input_axes: tuple[int, ...] | None = None,
    scan_input_directions: tuple[int, ...] | None = None,
    scan_output_axes: tuple[int, ...] | None = None,
    scan_output_directions: tuple[int, ...] | None = None,
    version: int,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> tuple[Answer, ...]:
    """The states behind the last slice, then what each slice gave, along an axis. Source: Scan, Summary."""
    run = EvaluatedBody.of(
        body, version, _shared(accumulation_type, integer_overflow, subnormals, negative_zeros)
    )
    given = [as_answer(value) for value in initial_state_and_scan_inputs]
    states, scanned = given[:-num_scan_inputs], given[-num_scan_inputs:]
    axes = scan_input_axes or (0,) * num_scan_inputs
    moved = [
        _arranged(value, partial(_axis_moved, axis, 0)) for value, axis in zip(scanned, axes, strict=True)
    ]
    turned = _turned(moved, scan_input_directions)
    states, gathered = _scanned(run, states, turned, turned[0].expected.shape[0])
    return (*states, *_placed(gathered, scan_output_axes, scan_output_directions))


@reference_operator("ai.onnx::Scan-8")
def scan_of_batches(
    sequence_lens: Tensor | None = None,
    initial_state_and_scan_inputs: tuple[Tensor, ...] = (),
    *,
    body: Graph,
    num_scan_inputs: int,
    directions: tuple[int, ...] | None = None,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> tuple[Answer, ...]:
    """The same for each member of a batch, as many slices of it as its length says; behind these anything.

    Source: Scan-8, Summary.
    """
    run = EvaluatedBody.of(body, 8, _shared(accumulation_type, integer_overflow, subnormals, negative_zeros))
    given = [as_answer(value) for value in initial_state_and_scan_inputs]
    batch, most = given[-1].expected.shape[:2]
    lengths = [most] * batch if sequence_lens is None else sequence_lens.array.tolist()
    found: list[list[Answer]] = []
    for member, length in enumerate(lengths):
        own = [_arranged(value, partial(_taken, member)) for value in given]
        cut = [_arranged(value, partial(_taken, slice(length))) for value in own[-num_scan_inputs:]]
        states, gathered = _scanned(run, own[:-num_scan_inputs], _turned(cut, directions), length)
        found.append([*states, *(_filled(value, most) for value in gathered)])
    return tuple(_stacked(list(values)) for values in zip(*found, strict=True))


@reference_operator("ai.onnx::SequenceMap")
def sequence_map(
    input_sequence: tuple[Tensor, ...],
    additional_inputs: tuple[Tensor, ...] = (),
    *,
    body: Graph,
    version: int,
    accumulation_type: Accumulation,
    integer_overflow: Overflow,
    subnormals: Subnormals,
    negative_zeros: NegativeZeros,
) -> tuple[Answer, ...]:
    """What the body gives of each element, beside the one at its place in other sequences, and any tensor.

    Source: SequenceMap, Summary.
    """
    run = EvaluatedBody.of(
        body, version, _shared(accumulation_type, integer_overflow, subnormals, negative_zeros)
    )
    beside = [as_answer(value) for value in additional_inputs]
    if any(len(tensors_of(value)) != len(input_sequence) for value in beside if value.is_sequence):
        raise OutsideDomain("sequences of different lengths")
    runs = [
        run.outputs([as_answer(first), *(tensors_of(each)[place * each.is_sequence] for each in beside)])
        for place, first in enumerate(input_sequence)
    ]
    return tuple(sequence_of(tuple(found[place] for found in runs)) for place in range(len(run.proto.output)))


def _shared(
    accumulation_type: Choice[Any],
    integer_overflow: Choice[Any],
    subnormals: Choice[Any],
    negative_zeros: Choice[Any],
) -> Shared:
    return {
        "accumulation_type": accumulation_type,
        "integer_overflow": integer_overflow,
        "subnormals": subnormals,
        "negative_zeros": negative_zeros,
    }


def _truth(value: Answer) -> bool:
    return bool(_single(value))


def _whole(value: Answer) -> int:
    return int(_single(value))


def _single(value: Answer) -> Any:
    """The element of a value that decides what is run."""
    if not is_exact(value):
        raise UnstableLength("what decides which body is run, or how often, is not known exactly")
    if value.expected.array.size != 1:
        raise OutsideDomain("a condition or a number of runs of several elements")
    return value.expected.array.reshape(-1)[0]


def _gathered(run: EvaluatedBody, output: int, place: int, runs: Sequence[Sequence[Answer]]) -> Answer:
    """What all runs gave at a place, one after the other along a new first axis."""
    return _stacked([each[place] for each in runs]) if runs else Answer(run.nothing_given(output))


def _scanned(
    run: EvaluatedBody, states: list[Answer], slices: Sequence[Answer], count: int
) -> tuple[list[Answer], list[Answer]]:
    """The last states, and what all runs gave besides, along a new first axis."""
    runs: list[list[Answer]] = []
    first = len(states)
    for at in range(count):
        cut = [_arranged(value, partial(_taken, at)) for value in slices]
        found = run.outputs([*states, *cut])
        if len(found) < first:
            raise OutsideDomain("a body that gives fewer states than it takes")
        if any(new.expected.shape != old.expected.shape for new, old in zip(found, states, strict=False)):
            raise OutsideDomain("a state whose shape changes between two slices")
        states = found[:first]
        runs.append(found[first:])
    places = range(len(run.proto.output) - first)
    return states, [_gathered(run, first + place, place, runs) for place in places]


def _turned(values: Sequence[Answer], directions: Sequence[int] | None) -> list[Answer]:
    """Values turned around along their first axis where their direction is 1."""
    ways = directions or (0,) * len(values)
    return [
        _arranged(value, lambda each: each[::-1]) if way else value
        for value, way in zip(values, ways, strict=True)
    ]


def _placed(
    values: Sequence[Answer], axes: Sequence[int] | None, directions: Sequence[int] | None
) -> list[Answer]:
    """What was gathered along the first axis, along the axes that are asked for."""
    found = _turned(values, directions)
    return [
        _arranged(value, partial(_axis_moved, 0, axis))
        for value, axis in zip(found, axes or (0,) * len(found), strict=True)
    ]


def _filled(value: Answer, count: int) -> Answer:
    """As many elements along the first axis as are asked for: those that are added may be anything."""
    more = count - value.expected.shape[0]
    if not more:
        return value
    kind = value.expected.element_type
    if not kind.is_float:
        raise UnstableLength("what stands behind the last slice may be any of values that have no distance")
    allowed = np.zeros(value.expected.shape) if value.allowed is None else value.allowed
    rest = ((0, more), *([(0, 0)] * (value.expected.array.ndim - 1)))
    return Answer(
        Tensor(kind, np.pad(value.expected.array, rest)),
        np.pad(allowed, rest, constant_values=np.inf),
        value.alternatives,
    )


def _stacked(values: Sequence[Answer]) -> Answer:
    """Values of one shape along a new first axis, with what is allowed to each."""
    first = values[0].expected
    if any(
        (each.expected.shape, each.expected.element_type) != (first.shape, first.element_type)
        for each in values
    ):
        raise OutsideDomain("values of several runs that differ in shape or type")
    if any(each.unordered or not each.valued for each in values):
        raise UnstableLength("values of which no element has a place of its own")
    bounded = any(each.allowed is not None for each in values)
    allowed = [np.zeros(first.shape) if each.allowed is None else each.allowed for each in values]
    size = first.array.size
    alternatives = {
        at * size + place: others
        for at, each in enumerate(values)
        for place, others in (each.alternatives or {}).items()
    }
    array = np.stack([each.expected.array for each in values])
    return Answer(
        Tensor(first.element_type, array), np.stack(allowed) if bounded else None, alternatives or None
    )


def _arranged(value: Answer, arrange: Callable[[NDArray[Any]], NDArray[Any]]) -> Answer:
    """The elements in another order or shape, or some of them, with what is allowed to each."""
    array = arrange(value.expected.array)
    expected = Tensor(value.expected.element_type, np.ascontiguousarray(array).reshape(array.shape))
    allowed = None if value.allowed is None else arrange(value.allowed)
    alternatives = None
    if value.alternatives:
        places = (
            arrange(np.arange(value.expected.array.size).reshape(value.expected.shape)).reshape(-1).tolist()
        )
        alternatives = {
            at: value.alternatives[place] for at, place in enumerate(places) if place in value.alternatives
        }
    return Answer(expected, allowed, alternatives or None)


def _axis_moved(source: int, place: int, array: NDArray[Any]) -> NDArray[Any]:
    return np.moveaxis(array, source, place)


def _taken(places: int | slice, array: NDArray[Any]) -> NDArray[Any]:
    """What stands at places of the first axis; of one place an array, too."""
    found: NDArray[Any] = array[places, ...]
    return found
