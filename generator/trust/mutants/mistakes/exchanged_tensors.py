"""Inputs taken for each other, tensors of a list that are forgotten, outputs in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from conformance.judging.responses import Answered, Response
from generator.asking.calls import Call
from generator.trust.mutants.mistake import Mistake, Taken
from specs.model.spec import Spec
from specs.model.structures import holds_several

Places = Sequence[int]


def mistakes(spec: Spec) -> Iterator[Mistake]:
    single = [each for each in spec.inputs if not holds_several(spec, each)]
    for first, second in combinations(single, 2):
        if set(spec.types_of(first)) & set(spec.types_of(second)):
            text = f"{first.name} and {second.name} exchanged"
            yield Mistake(text, f"{text}, whatever their shapes", _exchanged(first.name, second.name))
    for each in single:
        if each.option == "optional":
            yield Mistake(f"{each.name} ignored", f"{each.name} ignored", _ignored(each.name))
    for each in spec.inputs:
        if holds_several(spec, each):
            for word, text, choose in _CHOSEN:
                yield Mistake(f"{each.name} {word}", text.format(each.name), _listed(each.name, choose))
    if len(spec.outputs) > 1 or any(holds_several(spec, each) for each in spec.outputs):
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
        order = [each for each in others if each < places[0]] + [*chosen]
        order += [each for each in others if each > places[-1]]
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
