"""Open readings tried where the reference asks for them, beside all of them tried: evaluations and time.

    uv run python -m benchmarks.readings                 # the calls of every operator
    uv run python -m benchmarks.readings Resize-10

The same calls in the same process, one way after the other; the expectations are held against each other. The
answer is 1 where they differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from time import process_time

from benchmarks.asked import exit_code_of, operators_asked
from conformance.suite.cases import Expectation
from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.families.cover import make_cases
from generator.making.discovery import open_spec, select_operators
from generator.making.workshop import Options, Workshop
from opcert.vocabulary.attributes import AttributeValue
from opcert.vocabulary.names import OperatorName
from reference.answers import Answer
from reference.interpolation import axis_weights, coordinates, nearest, resampling
from reference.reference_operator import Argument, ReferenceOperator
from reference.registry import find_operator
from specs.library import load_spec


def calls_of(operator: OperatorName) -> list[Call]:
    """The calls of the default suite that cover the operator's factors."""
    spec, levels = open_spec(operator)
    workshop = Workshop(spec, find_operator(operator), levels, Options())
    make_cases(workshop)
    return list(workshop.calls.values())


def counted(reference: ReferenceOperator, every: bool) -> tuple[ReferenceOperator, Callable[[], int]]:
    """The operator, and how often it was evaluated; with `every` each reading counts as asked for."""
    count = 0
    every_reading = tuple(reference.readings)

    class Counted(ReferenceOperator):
        def evaluate(
            self,
            attributes: Mapping[str, AttributeValue],
            inputs: Mapping[str, Argument],
            readings: Mapping[str, str] | None = None,
            asked: set[str] | None = None,
            outputs: int | None = None,
            before: Collection[str] = (),
        ) -> tuple[Answer, ...]:
            nonlocal count
            count += 1
            # What counts as asked for here need not be, and tells nothing of the first precision.
            known = () if every else before
            answers = super().evaluate(attributes, inputs, readings, asked, outputs, known)
            if every and asked is not None:
                asked.update(every_reading)
            return answers

    fields = {name: getattr(reference, name) for name in reference.__dataclass_fields__}
    return Counted(**fields), lambda: count


def forget() -> None:
    """Nothing that one way has computed makes the other one quicker."""
    for module in (coordinates, nearest, resampling, axis_weights):
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


def content(expectation: Expectation) -> object:
    """All that is in an expectation, to be compared."""
    outputs = [
        (
            each.name,
            repr(each.expected),
            None if each.allowed is None else each.allowed.tobytes(),
            repr(each.alternatives),
        )
        for each in expectation.outputs
    ]
    return outputs, expectation.readings, expectation.behaviours


def main(arguments: Sequence[str]) -> int:
    names, differing = operators_asked(__doc__, arguments), 0
    print(f"{'':34} {'':>5} {'evaluations':>23} {'seconds':>23}")
    print(f"{'operator':34} {'calls':>5}" + f" {'all':>7} {'asked':>7} {'ratio':>7}" * 2)
    for operator in select_operators(names):
        spec, calls = load_spec(operator), calls_of(operator)
        found, counts, seconds = [], [], []
        for every in (True, False):
            forget()
            reference, count = counted(find_operator(operator), every)
            started = process_time()
            made = [expect(spec, reference, call) for call in calls]
            seconds.append(process_time() - started)
            counts.append(count())
            found.append([[content(each) for each in expectations] for expectations in made])
        differing += found[0] != found[1]
        print(
            f"{operator!s:34} {len(calls):>5} {counts[0]:>7} {counts[1]:>7} {counts[1] / counts[0]:>7.2f} "
            f"{seconds[0]:>7.2f} {seconds[1]:>7.2f} {seconds[1] / seconds[0]:>7.2f}"
            f"{'' if found[0] == found[1] else '  DIFFERENT'}"
        )
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
