"""Tensors that are refused, but where that is left open: those without elements, scalars, of many axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.judging.responses import Answered, Refused, Response
from generator.asking.calls import Call
from generator.asking.validity import find_refusable
from generator.trust.mutants.mistake import Mistake
from opcert.vocabulary.tensors import Tensor
from specs.model.spec import Spec


def mistakes(_spec: Spec) -> Iterator[Mistake]:
    yield _refused("empty inputs", "inputs without elements refused", _has_empty)
    yield _refused("scalar inputs", "inputs of rank 0 refused", _has_scalar)
    yield _refused("ranks above 4", "inputs of more than four axes refused", _has_many_axes)
    yield Mistake("empty outputs refused", "outputs without elements refused", made=_no_empty_outputs)


def _refused(word: str, text: str, when: Callable[[Call], bool]) -> Mistake:
    def made(spec: Spec, call: Call, _answer: Answered) -> Response | None:
        refused = when(call) and find_refusable(spec, call) is None
        return Refused("Mistake", text) if refused else None

    return Mistake(f"{word} refused", text, made=made)


def _has_empty(call: Call) -> bool:
    return any(each is not None and not each.array.size for _, each in call.inputs)


def _has_scalar(call: Call) -> bool:
    return any(each is not None and not each.shape for _, each in call.inputs)


def _has_many_axes(call: Call) -> bool:
    return any(each is not None and len(each.shape) > 4 for _, each in call.inputs)


def _no_empty_outputs(spec: Spec, call: Call, answer: Answered) -> Response | None:
    empty = any(isinstance(each, Tensor) and not each.array.size for each in answer.outputs)
    refused = empty and find_refusable(spec, call) is None
    return Refused("Mistake", "an output without elements") if refused else None
