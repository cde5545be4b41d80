"""Rules on what examples print, held against the reference's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from opcert.vocabulary.errors import UserError
from reference.registry import find_operator, implemented
from reference.registry.printed_examples import ExampleCall, find_difference, read_call
from specs.files.library import load_spec
from specs.model.spec import Example, Reading, Source, Spec
from specs.rules import Told, examine


def _printed_calls(spec: Spec) -> Iterator[tuple[Example, ExampleCall]]:
    """The examples whose inputs are known and that the operator's reference, where there is one, takes."""
    if spec.reference_module is None and spec.operator not in implemented():
        return
    operator = find_operator(spec.operator, spec.reference_module)
    for example in spec.examples:
        call = read_call(spec, operator, example) if example.printed else None
        if call is not None:
            yield example, call


@examine("error")
def example_vs_reference(spec: Spec) -> Iterator[Told]:
    """The output that an example prints is not what the operator gives for its inputs.

    One finding for each example that no combination of the operator's readings explains. Nothing is said of
    examples whose inputs are not known, or that the reference does not take.
    """
    for example, call in _printed_calls(spec):
        reason = _disagreement(call, example)
        if reason is not None:
            message = f"the output that example {example.id} prints is not what the operator gives"
            yield Told(_printed(example), message, reason)


def _disagreement(call: ExampleCall, example: Example) -> str | None:
    """Why no combination explains the printed outputs (that of the first); None where one does."""
    reasons = []
    for readings in call.combinations():
        answers = call.answers(readings)
        if answers is None:
            continue
        reason = find_difference(answers, example.outputs, call.inputs)
        if reason is None:
            return None
        reasons.append(reason)
    return reasons[0] if reasons else None


@examine("warning")
def example_vs_text(spec: Spec) -> Iterator[Told]:
    """Examples are computed in another way than the text says.

    One finding for each open reading of which the text states one option and printed outputs need another.
    What the text states is evidence in the operator's declaration; where that is of the document at hand, the
    finding stands at the text's line, otherwise at the first such example.
    """
    calls = list(_printed_calls(spec))
    if not calls:
        return
    against: dict[tuple[str, str], list[Example]] = defaultdict(list)
    known = _declared(spec)
    readings = {each.id: each for each in known.readings if each.chosen is None and each.kind == "reading"}
    for example, call in calls:
        explained = _explaining(call, example)
        for name in readings.keys() & explained.keys():
            for option in readings[name].options.keys() - explained[name]:
                against[name, option].append(example)
    for (name, option), examples in sorted(against.items()):
        places = [
            place for each in readings[name].evidence
            if each.option == option and each.kind == "text"
            for place in each.sources
        ]  # fmt: skip
        if places:
            yield _finding(spec, known, readings[name], option, places[0], examples)


def _declared(spec: Spec) -> Spec:
    """The spec with its readings: that of the operator that ships, where this one is of documents alone."""
    if spec.readings:
        return spec
    try:
        return load_spec(spec.operator)
    except UserError:
        return spec


def _explaining(call: ExampleCall, example: Example) -> dict[str, set[str]]:
    """The options of each reading that matters, under which some combination gives what is printed."""
    explaining: dict[str, set[str]] = defaultdict(set)
    for readings in call.combinations():
        answers = call.answers(readings)
        if answers is not None and find_difference(answers, example.outputs, call.inputs) is None:
            for name, option in readings.items():
                explaining[name].add(option)
    matter = call.matter()
    return {name: options for name, options in explaining.items() if name in matter}


def _finding(
    spec: Spec, known: Spec, reading: Reading, option: str, place: Source, examples: list[Example]
) -> Told:
    digest = known.document(place.document).sha256
    key = next((each.key for each in spec.documents if each.sha256 == digest), None)
    lines = ", ".join(str(_printed(each).line) for each in examples)
    return Told(
        Source(key, place.line, place.column) if key is not None else _printed(examples[0]),
        f"printed outputs are computed in another way than the text says: {reading.question}",
        f"the text: {reading.options[option]}; lines {lines} need another: "
        f"{', '.join(each.id for each in examples)}",
        "became a reading",
    )


def _printed(example: Example) -> Source:
    return next(
        (each.source for _, each in example.outputs if each is not None and each.source is not None),
        example.source,
    )
