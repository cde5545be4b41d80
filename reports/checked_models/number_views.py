"""What the page of a check says of the whole model with actual inputs."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.checked_models.whole_model import OutputVerdict, WholeModelFacts
from opcert.vocabulary.harmless import one_line
from reports.checked_models.call_words import node_name, operator_text
from reports.checked_models.check_views import anchor_of
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.checked_models.number_words import (
    effect_text,
    not_running_text,
    numbers_line,
    passed_over_lines,
    wrong_text,
)
from reports.checked_models.output_words import output_text

MOST_WRONG = 500
"""So many wrong nodes stand on the page."""
_LONGEST = 200


@dataclass(frozen=True)
class WrongNode:
    """A node that was wrong with actual inputs, and what its wrong values do to the model's outputs."""

    place: str
    name: str
    operator: str
    anchor: str
    said: str
    effects: tuple[str, ...]


@dataclass(frozen=True)
class NumbersView:
    """The whole model on one runtime."""

    label: str
    line: str
    inputs: tuple[str, ...]
    wrong: tuple[WrongNode, ...]
    left_out: int
    passed_over: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def view_numbers(check: ModelCheck, runtime: RuntimeAnswers) -> NumbersView:
    """Put the numbers of a runtime, which has some, into words."""
    numbers = runtime.numbers
    assert numbers is not None
    nodes = {each.place: each for each in check.model.nodes}
    wrong = []
    for each in numbers.wrong[:MOST_WRONG]:
        node, call = nodes.get(each.place), check.call_of.get(each.place)
        wrong.append(
            WrongNode(
                each.place,
                each.place if node is None else node_name(node),
                "" if node is None else operator_text(node),
                "" if call is None else anchor_of(call),
                wrong_text(each),
                tuple(effect_text(one) for one in numbers.effects if one.place == each.place),
            )
        )
    inputs = [
        f"{each.name}: {each.element_type} {list(each.shape)}, {each.source}" for each in numbers.inputs
    ]
    return NumbersView(
        runtime.label,
        numbers_line(numbers),
        tuple(one_line(each, _LONGEST) for each in inputs),
        tuple(wrong),
        max(0, len(numbers.wrong) - MOST_WRONG),
        tuple(passed_over_lines(numbers)),
        _outputs(numbers),
        tuple(one_line(each, _LONGEST) for each in numbers.notes),
    )


def _outputs(numbers: WholeModelFacts) -> tuple[tuple[str, str], ...]:
    """What came at the end, with the verdict whose sign it has."""
    signs: dict[OutputVerdict, str] = {"right": "pass", "same": "pass", "near": "pass", "unknown": "not_run"}
    failing = numbers.failing
    told = [("mismatch", output_text(each)) for each in failing]
    told += [
        (signs.get(each.verdict, "observed"), output_text(each))
        for each in numbers.outputs
        if each not in failing
    ]
    if numbers.does_not_run:
        told.insert(0, ("rejected_valid", not_running_text(numbers)))
    return tuple(told)
