"""Rules on what examples print, held against the reference's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import prod

from opcert.vocabulary.errors import UserError
from opcert.vocabulary.yaml_files import load_file
from reference.answers import Answer
from reference.registry import reference_of
from reference.registry.printed_examples import ExampleCall, find_difference, read_call
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, room_of
from specs.model.spec import Example, Reading, Source, Spec
from specs.rules import Told, examine

MOST_ELEMENTS = 4_096
_ROUNDED = 1e-3
"""Relative difference that pages leave by rounding what they write as values."""


def _printed_calls(spec: Spec) -> Iterator[tuple[Example, ExampleCall]]:
    """The examples whose inputs are known and that the operator's reference, where there is one, takes."""
    try:
        operator = reference_of(spec)
    except UserError:
        if spec.reference_module is not None:
            raise
        return
    for example in spec.examples:
        call = read_call(spec, operator, example) if example.printed and _is_small(example) else None
        if call is not None:
            yield example, call


def _is_small(example: Example) -> bool:
    """Whether an example has as few elements as people print."""
    values = [value for _, value in (*example.inputs, *example.outputs) if value is not None]
    return sum(prod(value.shape) for value in values) <= MOST_ELEMENTS


@examine("error")
def example_vs_reference(spec: Spec) -> Iterator[Told]:
    """The output that an example prints is not what the operator gives for its inputs.

    One finding for each example that no combination of the operator's readings explains. Nothing is said of
    examples whose inputs are not known, or that the reference does not take, and of those whose difference is
    known to be the document's reading of what its text leaves open.
    """
    for example, call in _printed_calls(spec):
        reason = _disagreement(call, example)
        if reason is not None and not _is_known_reading(spec, example):
            message = f"the output that example {example.id} prints is not what the operator gives"
            yield Told(_printed(example), message, reason)


def _is_known_reading(spec: Spec, example: Example) -> bool:
    """Whether the room of the operator says that an example reads the text in a way of its own."""
    file = room_of(spec.operator, OWN_FOLDER) / "disagreements.yaml"
    if not file.is_file():
        return False
    entries = load_file(file)[0].value["cases"]
    return any(
        entry.get("against") == "document"
        and entry["cause"] == "reading"
        and str(entry["cases"]).endswith(f"/example/{example.id}")
        for entry in entries
    )


def _disagreement(call: ExampleCall, example: Example) -> str | None:
    """Why no combination explains the printed outputs (that of the first); None where one does."""
    reasons = []
    for readings in call.combinations():
        answers = call.answers(readings)
        if answers is None:
            continue
        if _is_of_another_call(answers, example):
            return None
        reason = find_difference(answers, example.outputs, call.inputs, _ROUNDED)
        if reason is None:
            return None
        reasons.append(reason)
    return reasons[0] if reasons else None


def _is_of_another_call(answers: Sequence[Answer], example: Example) -> bool:
    """Whether a printed array has neither the rank nor the number of elements of any answer."""
    return any(
        value is not None
        and len(value.shape) != len(answer.expected.shape)
        and prod(value.shape) != prod(answer.expected.shape)
        for answer, (_, value) in zip(answers, example.outputs, strict=False)
    )


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
