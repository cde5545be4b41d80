"""Faults planted in fakes, alone, in pairs and in triples: does experiment alone name the cause of each?

A fake answers as the reference does but where a fault applies: the first of its faults that does hides the
others. A fault applies where attributes, inputs and types have certain values; these are the factors that its
cause must be named by. A cause that is named by other factors than a fault that its cases have needs is
named wrongly; a factor at its default may be named as one beside which alone it fails. One that says only
some of the factors, because no call could be made that shows the others, names no fault and is not wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from conformance.judging.judge import judge
from conformance.judging.kept_diagnosis import DiagnosedCause, Diagnosis
from conformance.judging.responses import Answered, Refused, Response
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.exploring.diagnosis.diagnose import diagnose
from generator.exploring.shrinking.known_space import CallValidity, open_space
from generator.exploring.shrinking.one_factor import value_of
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength

Effect = Callable[[Tensor], Tensor]


def off_by_one(output: Tensor) -> Tensor:
    """Every element one more; what is no number becomes the first element."""
    kind, array = output.element_type, output.array
    if kind.is_integer or kind.name in ("float", "double"):
        with np.errstate(over="ignore"):
            return Tensor(kind, (array + np.ones(1, array.dtype)).astype(array.dtype))
    return Tensor(kind, np.full(array.shape, array.reshape(-1)[0], array.dtype) if array.size else array)


def turned_round(output: Tensor) -> Tensor:
    """The elements in the opposite order."""
    return Tensor(output.element_type, output.array.reshape(-1)[::-1].reshape(output.shape).copy())


def clipped(output: Tensor) -> Tensor:
    """Infinities become the greatest number, and nothing else is wrong."""
    kind, array = output.element_type, output.array
    if kind.name not in ("float", "double", "float16"):
        return output
    return Tensor(kind, np.clip(array, np.finfo(array.dtype).min, np.finfo(array.dtype).max))


def an_axis_more(output: Tensor) -> Tensor:
    """Another shape."""
    return Tensor(output.element_type, output.array[np.newaxis])


@dataclass(frozen=True, eq=False)
class Fault:
    """A fault of an operator: the values of factors that it needs, and what becomes of the output."""

    operator: str
    needs: Mapping[str, tuple[str, ...]]
    effect: Effect

    @property
    def factors(self) -> frozenset[str]:
        return frozenset(self.needs)

    def applies(self, space: CallValidity, case: Case) -> bool:
        call = Call(dict(case.attributes), case.inputs)
        return all(value_of(space, call, name) in values for name, values in self.needs.items())


PAD, CROP = "com.microsoft::Pad-1", "ai.onnx::CenterCropPad-18"
PATCHES, CUMSUM = "org.openvino::ExtractImagePatches-3", "ai.onnx::CumSum-14"
REDUCE = "ai.onnx::ReduceMax-20"
WIDE, NEGATIVE = ("double",), ("some negative",)

PADS: tuple[Fault, ...] = (
    Fault(PAD, {"mode": ("reflect",)}, off_by_one),
    Fault(PAD, {"mode": ("edge",)}, turned_round),
)
CROPS: tuple[Fault, ...] = (
    Fault(CROP, {"signs of axes": NEGATIVE}, off_by_one),
    Fault(CROP, {"type of shape": ("int32",)}, an_axis_more),
    Fault(CROP, {"type of input_data": ("int8", "uint8")}, turned_round),
)
HIDDEN_TYPES: tuple[Fault, ...] = (
    Fault(PATCHES, {"type of data": WIDE}, off_by_one),
    Fault(PATCHES, {"auto_pad": ("same_upper", "same_lower"), "type of data": ("float16",)}, an_axis_more),
)
"""Both hang on the type of one input and look otherwise: no case of one is of the other."""
REDUCED: tuple[Fault, ...] = (
    Fault(REDUCE, {"keepdims": ("0",)}, off_by_one),
    Fault(REDUCE, {"keepdims": ("0",), "type of data": WIDE}, turned_round),
)
"""Their cases are right by chance, too, where all that is expected comes to one element."""
PATCHED: tuple[Fault, ...] = (
    Fault(PATCHES, {"auto_pad": ("valid",)}, off_by_one),
    Fault(PATCHES, {"type of data": ("int32",)}, an_axis_more),
    Fault(PATCHES, {"auto_pad": ("same_lower",), "type of data": ("int64",)}, turned_round),
)
"""With auto_pad = valid everything is wrong, whatever the type is that the third fault needs."""


@dataclass(frozen=True)
class Plant:
    """Faults of one operator in one fake; the first that applies hides those behind it."""

    faults: tuple[Fault, ...]

    @property
    def operator(self) -> str:
        return self.faults[0].operator

    def first(self, space: CallValidity, case: Case) -> Fault | None:
        return next((fault for fault in self.faults if fault.applies(space, case)), None)

    def ask(self, case: Case, _valid: Case | None = None) -> Response:
        space = space_of(self.operator)
        values = {name: attribute.value for name, attribute in case.attributes.items()}
        try:
            answers = space.reference.evaluate(values, dict(case.inputs), space.settled)
        except (OutsideDomain, UnstableLength) as error:
            return Refused("ValueError", str(error))
        outputs = tuple(answer.expected for answer in answers)
        fault = self.first(space, case)
        return Answered(outputs if fault is None else (fault.effect(outputs[0]), *outputs[1:]))


@dataclass(frozen=True)
class Score:
    """What became of a plant: faults that show in a case, those named, causes named wrongly."""

    shown: tuple[Fault, ...]
    named: tuple[Fault, ...]
    wrong: tuple[DiagnosedCause, ...]
    diagnosis: Diagnosis


@cache
def space_of(operator: str) -> CallValidity:
    return open_space(OperatorName.parse(operator))


@cache
def cases_of(operator: str) -> tuple[Case, ...]:
    made = generate_operator(OperatorName.parse(operator), Options())
    return tuple(each for each in made.cases if each.demand == "answer")


def score(plant: Plant) -> Score:
    """Run a plant's fake, diagnose its failures, and hold the causes against the faults."""
    space = space_of(plant.operator)
    failing = [
        each for each in cases_of(plant.operator) if judge(each, plant.ask(each)).verdict == "mismatch"
    ]
    found = diagnose(failing, [], plant.ask, seconds=float("inf"))
    fault_of = {str(each.id): plant.first(space, each) for each in failing}
    shown = {fault for fault in fault_of.values() if fault is not None}
    named, wrong = set[Fault](), []
    for cause in found.causes:
        cases = [each for each in failing if str(each.id) in cause.cases]
        had = [
            fault
            for fault in plant.faults
            if sum(fault.applies(space, case) for case in cases) >= 0.9 * len(cases)
        ]
        named.update(fault for fault in had if _names(cause, fault))
        wrong += [] if any(_names(cause, fault, in_part=True) for fault in had) else [cause]
    return Score(tuple(shown), tuple(named & shown), tuple(wrong), found)


def _names(cause: DiagnosedCause, fault: Fault, *, in_part: bool = False) -> bool:
    """Whether a cause says just the factors that the fault needs (or some), with a value that it needs."""
    told = {needed.factor: needed.value for needed in cause.needed}
    beside = {needed.factor: needed.value for needed in cause.beside}
    if not told or not told.keys() <= fault.factors:
        return False
    found = {name: told.get(name, beside.get(name)) for name in fault.factors}
    return all(value in fault.needs[name] or (in_part and value is None) for name, value in found.items())
