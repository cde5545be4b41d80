"""Whether a case tells that a runtime loses something of elements: the reference is asked what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.judging.judge import judge
from conformance.judging.responses import Answered
from conformance.judging.verdicts import DIFFERENT
from conformance.suite.cases import Case, ExpectedOutput
from conformance.suite.values import decode_floats
from conformance.suite.where_shown import has_ordinary_inputs
from generator.asking.answered_outputs import asked_answers
from generator.asking.calls import Call
from generator.asking.computed import as_run
from generator.asking.given_inputs import arguments_of, output_names
from generator.asking.questions import settled_options
from generator.asking.tensor_edits import is_any, is_main, with_inputs, with_outputs
from generator.making.operators.workshop import Workshop
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength
from reference.numbers.numbers import encode


def held_in(given: Tensor, narrow: ElementType) -> Tensor:
    """The tensor after its elements were turned into another type and back; integers are clamped."""
    kind, array = given.element_type, given.array
    with np.errstate(over="ignore", invalid="ignore"):
        if narrow.is_integer:
            return Tensor(kind, array.astype(narrow.storage).astype(kind.storage))
        if narrow.name in ("bfloat16", "float8e5m2"):
            plain = decode_floats(kind, array).reshape(-1).tolist()
            held = decode_floats(narrow, np.asarray(encode(narrow, plain))).reshape(array.shape)
            return Tensor(kind, np.asarray(held).astype(kind.storage))
        rounded = array.astype(narrow.storage)
        if not kind.is_integer:
            return Tensor(kind, rounded.astype(kind.storage))
    low, high = kind.integer_range
    whole = [min(max(int(each), low), high) for each in rounded.reshape(-1).tolist()]
    return Tensor(kind, np.array(whole, dtype=kind.storage).reshape(array.shape))


Tells = Callable[[Workshop, Call, Case, "Loss"], bool]


@dataclass(frozen=True)
class Loss:
    """What becomes of tensors, None where they stay: of those of a type, if one is named, or of all.

    With `of_main` it is of those inputs or outputs alone that have the type of the first input.
    """

    lose: Callable[[Tensor], Tensor | None]
    element_type: str | None = None
    of_main: bool = False

    def __call__(self, given: Tensor) -> Tensor | None:
        return self.lose(given) if self.element_type in (None, given.element_type.name) else None


def held_as(element_type: str, narrow: str) -> Loss:
    """Elements held in a narrower type."""
    return Loss(lambda given: held_in(given, ELEMENT_TYPES[narrow]), element_type, of_main=True)


def is_told(workshop: Workshop, tells: Tells, loss: Loss) -> bool:
    """Whether any case of a workshop tells a loss."""
    # What is drawn tells nothing of elements.
    answered = ((digest, case) for digest, case in workshop.cases.items() if case.expectations)
    return any(tells(workshop, workshop.calls[digest], case, loss) for digest, case in answered)


def keep_first_told(
    workshop: Workshop, word: str, tells: Tells, loss: Loss, calls: Iterable[tuple[Mapping[str, str], Call]]
) -> None:
    """Keep the case of the first of some calls, each with its levels, that tells a loss."""
    for levels, call in calls:
        case = workshop.attempt(word, call, levels)
        if case is not None and case.expectations and tells(workshop, call, case, loss):
            workshop.keep(call, case)
            return


def tells_of_inputs(workshop: Workshop, call: Call, case: Case, loss: Loss) -> bool:
    """Whether a runtime fails on a case that loses something of the inputs."""
    spec = workshop.spec
    changed = with_inputs(spec, call, loss, is_main(spec) if loss.of_main else is_any)
    if changed is None:
        return False
    response = None if workshop.violations(changed) else answer_of(workshop, changed)
    return response is None or judge(case, as_run(case, response)).verdict in DIFFERENT


def tells_of_outputs(workshop: Workshop, call: Call, case: Case, loss: Loss) -> bool:
    """Whether a runtime fails on a case that loses something of the outputs."""
    spec = workshop.spec
    right = Answered(tuple(output.expected for output in case.expectations[0].outputs))
    response = with_outputs(spec, call, right, loss, is_main(spec) if loss.of_main else is_any)
    return response is not None and judge(case, as_run(case, response)).verdict in DIFFERENT


def answer_of(workshop: Workshop, call: Call) -> Answered | None:
    """What the reference makes of a call under the chosen readings; None where it refuses it."""
    spec, reference = workshop.spec, workshop.reference
    settled = settled_options(spec, reference)
    names = output_names(spec, call)
    plain = {name: attribute.value for name, attribute in call.attributes.items()}
    try:
        answers = reference.evaluate(plain, arguments_of(spec, call), settled, outputs=len(names))
    except (OutsideDomain, UnstableLength):
        return None
    return Answered(
        tuple(asked_answer.honest for _, asked_answer in asked_answers(spec, call, names, answers))
    )


_SHORTEST = 2


def says_something(case: Case) -> bool:
    """Whether no output of floats may be off, in half of its elements, by half of what each is, or more.

    Whatever the reading. Cases whose data is not ordinary, or that have no values, say what they can.
    """
    if not has_ordinary_inputs(case):
        return True
    return not any(_is_hollow(output) for found in case.expectations for output in found.outputs)


def _is_hollow(output: ExpectedOutput) -> bool:
    kind = output.expected.element_type
    if output.allowed is None or kind.layout is None:
        return False
    sizes = np.abs(decode_floats(kind, output.expected.array))
    counted = np.isfinite(sizes) & (sizes > 0)
    far = output.allowed[counted] >= sizes[counted] / 2
    return bool(far.size and 2 * np.count_nonzero(far) >= far.size)


def meaningful(workshop: Workshop, call: Call, case: Case) -> tuple[Call, Case]:
    """The case, if it says something; else that of a shorter call that does, where there is one."""
    if says_something(case):
        return call, case
    for shorter in shortened(call):
        made = workshop.attempt(case.id.word, shorter, case.levels, case.family)
        if made is not None and says_something(made):
            return shorter, made
    return call, case


def shortened(call: Call) -> Iterator[Call]:
    """The call with its longest axes half as long, all of one length together, again and again.

    Whether it is valid then is for the caller to see. What a graph makes of other shapes nobody knows: a call
    that has one stays as it is.
    """
    while all(attribute.kind not in ("graph", "graphs") for attribute in call.attributes.values()):
        longest = max((length for tensor in _tensors(call) for length in tensor.shape), default=0)
        length = max(longest // 2, _SHORTEST)
        if length >= longest:
            return
        inputs = tuple((name, _shortened_axis(given, longest, length)) for name, given in call.inputs)
        call = replace(call, inputs=inputs)
        yield call


def _tensors(call: Call) -> Iterator[Tensor]:
    return (given for _, given in call.inputs if isinstance(given, Tensor))


def _shortened_axis(given: Any, longest: int, length: int) -> Any:
    if not isinstance(given, Tensor) or longest not in given.shape:
        return given
    part: NDArray[Any] = given.array[
        tuple(slice(length if extent == longest else None) for extent in given.shape)
    ]
    return Tensor(given.element_type, np.ascontiguousarray(part))
