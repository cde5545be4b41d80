"""An operator's reference as a runtime under test, in process: calls go in, judged answers come out."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np

from conformance.judging.responses import Answered, Refused, Response
from generator.asking.answered_outputs import asked_answers
from generator.asking.calls import Call
from generator.asking.given_inputs import arguments_of, output_names
from generator.asking.questions import settled_options
from generator.asking.validity import find_violations
from generator.trust.mutants.mutated_parts import (
    Cache,
    Point,
    Points,
    ReferenceFunction,
    caches_of,
    find_parts,
)
from opcert.vocabulary.tensors import Tensor
from reference.answers import OutsideDomain, UnstableLength
from reference.registry.reference_operator import ReferenceOperator
from specs.model.spec import Spec

LONGEST = 5.0
"""Seconds of processor time after which a mutant counts as one that hangs: other programs do not count."""

FAR_LESS = 10
"""So many times as long as the right code may a mutant take before it counts as one that hangs."""
_HANG = "hang"


class _TooLong(BaseException):
    """Raised into an evaluation that takes too long; nothing in the reference may catch it."""


@dataclass(frozen=True, eq=False)
class MutatedOperator:
    """The reference of one operator, under the readings that its spec chose, else their first options."""

    spec: Spec
    reference: ReferenceOperator
    parts: tuple[ReferenceFunction, ...]
    points: Points
    caches: tuple[Cache, ...]
    settled: Mapping[str, str]

    @classmethod
    def of(cls, spec: Spec, reference: ReferenceOperator, folders: Sequence[Path] = ()) -> MutatedOperator:
        """The operator of a spec; `folders` hold specs that do not ship."""
        parts = tuple(find_parts(reference, folders))
        settled = settled_options(spec, reference)
        return cls(spec, reference, parts, Points(parts), tuple(caches_of(parts)), settled)

    def forget(self, place: str | None = None) -> None:
        """Empty the caches: all, or those that code at a place has a part in."""
        for cache in self.caches:
            if place is None or place in cache.places:
                cache.clear()

    @contextmanager
    def exchanged(self, running: AbstractContextManager[None], place: str) -> Iterator[None]:
        """Meanwhile a mutant is running whose mistake is at a place."""
        self.forget(place)
        try:
            with running:
                yield
        finally:
            self.forget(place)

    @contextmanager
    def quick(self) -> Iterator[None]:
        """Evaluations that end after LONGEST seconds, and say nothing of what numpy warns of."""
        before = signal.signal(signal.SIGPROF, _stop)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
        finally:
            signal.signal(signal.SIGPROF, before)

    def respond(self, call: Call, readings: Mapping[str, str] | None = None) -> Response:
        """What a runtime that computes as the reference does returns for a call; within `quick`.

        What runs out of time is asked once more: a process can be held up once, and a mutant that hangs
        hangs again.
        """
        response = self._responded(call, readings)
        return self._responded(call, readings) if _hangs(response) else response

    def _responded(self, call: Call, readings: Mapping[str, str] | None) -> Response:
        plain = {name: attribute.value for name, attribute in call.attributes.items()}
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            # The domain stands in the rules of the spec.
            if broken := find_violations(self.spec, call):
                return Refused("OutsideDomain", broken[0].id)
            chosen = {**self.settled, **(readings or {})}
            names = output_names(self.spec, call)
            given = arguments_of(self.spec, call)
            answers = self.reference.evaluate(plain, given, chosen, outputs=len(names))
            outputs = tuple(
                asked_answer.honest for _, asked_answer in asked_answers(self.spec, call, names, answers)
            )
            if not all(map(_holds_its_type, outputs)):
                return Refused("TypeError", "elements that the output's type does not have")
            return Answered(outputs)
        except (OutsideDomain, UnstableLength) as error:
            return Refused(type(error).__name__, str(error))
        except _TooLong:
            return Refused(_HANG, f"no answer within {LONGEST:g} s")
        except Exception as error:  # noqa: BLE001 - a mutant may raise anything
            return Refused(type(error).__name__, str(error))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def watch(self, call: Call) -> tuple[Response, frozenset[Point]]:
        """What comes out of a call, and the points that it comes by; within `quick`."""
        self.forget()
        with self.points.watched() as seen:
            response = self.respond(call)
        return response, frozenset(seen)


def same_answers(left: Response, right: Response) -> bool:
    """Whether two responses are bit for bit the same, or both refusals."""
    if isinstance(left, Answered) and isinstance(right, Answered):
        return left.outputs == right.outputs
    return isinstance(left, Refused) and isinstance(right, Refused)


def tells_nothing(response: Response, seconds: float) -> bool:
    """Whether a response is one that ran out of time where the right one takes nearly as many seconds."""
    return _hangs(response) and seconds * FAR_LESS > LONGEST


def _hangs(response: Response) -> bool:
    return isinstance(response, Refused) and response.kind == _HANG


def _holds_its_type(output: Tensor) -> bool:
    """Whether a tensor of strings holds nothing else: numpy looks after the other types."""
    return output.element_type.kind != "string" or all(
        isinstance(number, bytes) for number in output.array.flat
    )


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TooLong
