"""Entries that state what is computed instead, held against the answer that was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from conformance.judging.judge import judge
from conformance.judging.kept_diagnosis import EntryTrial
from conformance.judging.responses import Answered, ReturnedOther
from conformance.suite.cases import Case
from conformance.suite.values import decode_floats
from generator.asking.calls import Call
from generator.calls.edits.attribute_changes import taken_for
from generator.calls.edits.change import Change, Changed
from generator.calls.edits.value_changes import held_narrower, narrowings
from generator.exploring.diagnosis.change_trials import ChangeTrial, ChangeTrials, FailingCase, is_known
from generator.exploring.diagnosis.explainer import digest_of
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from reference.numbers.numbers import encode
from reference.readings.disagreements import Disagreement
from specs.model.spec import Spec

Restored = Tensor | ReturnedOther
Restate = Callable[[Sequence[Tensor], Sequence[Restored]], tuple[Restored, ...] | None]
"""What the outputs would be in the form of the expected ones; None where they have not the other one."""
RestateOne = Callable[[Tensor, Restored], Restored | None]
"""The same of one output alone."""

_OF, _IN = "result of type ", "result in "
LIST_OF_ONE = "result as a list of one"
MORE_AXES = "result with axes of length 1"
NOTHING = "nothing for no elements"
LIST = "result as list"
FIRST = "first outputs alone"
SATURATED = "result saturated"
NARROWED = tuple(f"result {key}" for key in narrowings())
"""The right result held in a narrower type on the way."""


def result_form(key: str) -> tuple[str, Restate] | None:
    """A form by its key, with what is said of it.

    `result in T`: of elements that are right once they are brought into their own type; `result of type T`:
    of the type alone, whatever the elements are. None where the key is of no form.
    """
    if key in _FORMS:
        return _FORMS[key]
    if key in NARROWED:
        return f"{key.removeprefix('result ')}", _each(_narrowed(key.removeprefix("result ")))
    for start, restate in ((_OF, _type_alone), (_IN, _converted)):
        name = key.removeprefix(start)
        if name != key and name in ELEMENT_TYPES:
            whatever = ", whatever its elements" if start == _OF else ""
            return f"{name} for its element type{whatever}", _each(restate(ELEMENT_TYPES[name]))
    return None


def _without_axis(expected: Tensor, got: Restored) -> Restored | None:
    if not isinstance(got, Tensor) or expected.shape != () or got.shape != (1,):
        return None
    return Tensor(got.element_type, got.array.reshape(()))


def _without_axes(expected: Tensor, got: Restored) -> Restored | None:
    if not isinstance(got, Tensor) or len(got.shape) <= len(expected.shape):
        return None
    longer = [[extent for extent in shape if extent != 1] for shape in (got.shape, expected.shape)]
    return Tensor(got.element_type, got.array.reshape(expected.shape)) if longer[0] == longer[1] else None


def _each(restate: RestateOne) -> Restate:
    """What is said of each output alone, where at least one has the form."""

    def of_all(expected: Sequence[Tensor], got: Sequence[Restored]) -> tuple[Restored, ...] | None:
        if len(expected) != len(got):
            return None
        found = [restate(*pair) for pair in zip(expected, got, strict=True)]
        if all(each is None for each in found):
            return None
        return tuple(one if each is None else each for each, one in zip(found, got, strict=True))

    return of_all


def _with_the_last(expected: Sequence[Tensor], got: Sequence[Restored]) -> tuple[Restored, ...] | None:
    return (*got, *expected[len(got) :]) if 0 < len(got) < len(expected) else None


def _unsaturated(expected: Tensor, got: Restored) -> Restored | None:
    """Infinities where they are expected, and the greatest finite number of that sign came."""
    if not isinstance(got, Tensor) or got.element_type is not expected.element_type:
        return None
    if got.shape != expected.shape or expected.array.dtype.kind != "f":
        return None
    greatest = np.copysign(np.finfo(expected.array.dtype).max, expected.array)
    lost = np.isinf(expected.array) & (got.array == greatest)
    return Tensor(got.element_type, np.where(lost, expected.array, got.array)) if lost.any() else None


def _empty(expected: Tensor, got: Restored) -> Restored | None:
    return expected if isinstance(got, ReturnedOther) and expected.array.size == 0 else None


def _listed(expected: Tensor, got: Restored) -> Restored | None:
    return expected if isinstance(got, ReturnedOther) and got.kind == "list" else None


def _narrowed(key: str) -> RestateOne:
    def restate(expected: Tensor, got: Restored) -> Restored | None:
        held = held_narrower(key, expected)
        alike = held is not None and held != expected and isinstance(got, Tensor) and got == held
        return expected if alike else None

    return restate


def _type_alone(kind: ElementType) -> RestateOne:
    def restate(expected: Tensor, got: Restored) -> Restored | None:
        other = isinstance(got, Tensor) and got.element_type is kind and expected.element_type is not kind
        return expected if other else None

    return restate


def _converted(kind: ElementType) -> RestateOne:
    def restate(expected: Tensor, got: Restored) -> Restored | None:
        wanted = expected.element_type
        if not isinstance(got, Tensor) or got.element_type is not kind or wanted is kind:
            return None
        return _brought_into(wanted, got)

    return restate


def _brought_into(wanted: ElementType, got: Tensor) -> Tensor | None:
    kind = got.element_type
    plain = [dtype.is_float or dtype.is_integer or dtype.kind == "bool" for dtype in (kind, wanted)]
    if not all(plain):
        return None
    values = decode_floats(kind, got.array) if kind.is_float else got.array
    with np.errstate(over="ignore", invalid="ignore"):
        if wanted.is_float and np.dtype(wanted.storage).kind != "f":
            numbers = np.asarray(values, dtype=np.float64).reshape(-1).tolist()
            return Tensor(wanted, np.asarray(encode(wanted, numbers)).reshape(got.shape))
        return Tensor(wanted, np.asarray(values).astype(wanted.storage))


_FORMS: Mapping[str, tuple[str, Restate]] = {
    LIST_OF_ONE: ("a list of one for a scalar", _each(_without_axis)),
    MORE_AXES: ("axes of length 1 more", _each(_without_axes)),
    LIST: ("a list in place of a tensor", _each(_listed)),
    FIRST: ("the first outputs alone", _with_the_last),
    NOTHING: ("nothing in place of a tensor without elements", _each(_empty)),
    SATURATED: ("the greatest finite number for an infinity", _each(_unsaturated)),
}
MOST_TOGETHER = 4
"""Of so many entries with formulas that may be about one answer each set is tried."""


@dataclass(frozen=True, eq=False)
class _Stated:
    """A formula of an entry: a form of the result, or a change of the call."""

    text: str
    form: Restate | None = None
    change: Change | None = None


def formula_trials(stating: Sequence[Disagreement], failure: FailingCase) -> list[EntryTrial]:
    """What the recorded answer of a case says of entries that state what is computed instead.

    `equals` is said of an entry whose formula gives the answer alone; where none does, `together` of those of
    the smallest set whose formulas give it one behind the other.
    """
    forms_alone = all(_is_form(stated) for disagreement in stating for stated in disagreement.computes)
    # What comes in another form alone needs no reference.
    bench = None if forms_alone else _bench(failure)
    stated = {disagreement.id: list(_stated_by(disagreement, bench)) for disagreement in stating}
    case = str(failure.case.id)
    found: dict[str, EntryTrial] = {}
    for entry in stating:
        texts = (_gives(failure, bench, [each]) for each in stated[entry.id])
        by = next((text for text in texts if text), None)
        found[entry.id] = EntryTrial(
            case, entry.id, digest_of(entry), "refuted" if by is None else "equals", by or ""
        )
    several = [disagreement for disagreement in stating if stated[disagreement.id]]
    if (
        any(entry_trial.result == "equals" for entry_trial in found.values())
        or not 2 <= len(several) <= MOST_TOGETHER
    ):
        return list(found.values())
    for number in range(2, len(several) + 1):
        for some in combinations(several, number):
            together = next(
                _choices([stated[disagreement.id] for disagreement in some], failure, bench), None
            )
            if together is not None:
                for entry, each in zip(some, together, strict=True):
                    found[entry.id] = replace(found[entry.id], result="together", by=each.text)
                return list(found.values())
    return list(found.values())


def _choices(
    stated: Sequence[Sequence[_Stated]], failure: FailingCase, bench: ChangeTrials | None
) -> Iterator[list[_Stated]]:
    """The choices of one formula each that give the answer together."""
    pools: list[list[_Stated]] = [[]]
    for each in stated:
        pools = [[*pool, one] for pool in pools for one in each]
    yield from (pool for pool in pools if _gives(failure, bench, pool))


def _bench(failure: FailingCase) -> ChangeTrials | None:
    """The reference under changes of the call; None of a case that is no call of a spec."""
    try:
        return ChangeTrials(failure) if is_known(failure.case, failure.folders) else None
    except (UserError, IndexError):
        return None


def _is_form(stated: str | dict[str, str | None]) -> bool:
    return isinstance(stated, str) and result_form(stated) is not None


def _stated_by(entry: Disagreement, bench: ChangeTrials | None) -> Iterator[_Stated]:
    """The formulas of an entry, as far as the operator of the case has them."""
    for stated in entry.computes:
        form = result_form(stated) if isinstance(stated, str) else None
        if form is not None:
            yield _Stated(form[0], form=form[1])
        elif bench is not None and not isinstance(stated, str):
            change = taken_for(stated)
            yield _Stated(change.text, change=change)
        elif bench is not None and stated in bench.changes:
            change = bench.changes[str(stated)]
            yield _Stated(change.text, change=change)


def _gives(failure: FailingCase, bench: ChangeTrials | None, stated: Sequence[_Stated]) -> str:
    """What formulas one behind the other do, in words, where they give the answer and not the right one.

    Empty where they do not.
    """
    outputs: tuple[Restored, ...] = failure.outputs
    for each in stated:
        if each.form is not None:
            restated = _restated(failure.case, each.form, outputs)
            if restated is None:
                return ""
            outputs = restated
    changes = [each.change for each in stated if each.change is not None]
    if not changes:
        case = replace(failure.case, demand="answer")
        return stated[0].text if judge(case, Answered(outputs)).verdict == "pass" else ""
    if bench is None:
        return ""
    trial = ChangeTrial(changes[0] if len(changes) == 1 else _one_behind_the_other(changes))
    (bench if outputs is failure.outputs else ChangeTrials(replace(failure, outputs=outputs))).test(trial)
    return trial.named.text if trial.telling else ""


def _restated(case: Case, form: Restate, outputs: tuple[Restored, ...]) -> tuple[Restored, ...] | None:
    """The outputs without a form; None where none of them has it."""
    wanted = ([each.expected for each in expectation.outputs] for expectation in case.expectations)
    return next((found for each in wanted if (found := form(each, outputs)) is not None), None)


def _one_behind_the_other(changes: Sequence[Change]) -> Change:
    """Changes of a call made one behind the other; those that are more than changes of it are left."""

    def apply(spec: Spec, call: Call) -> Changed | None:
        made = Changed(call)
        for change in changes:
            following = change.apply(spec, made.call)
            if following is None or following.expectations is not None or following.narrow is not None:
                return None
            made = replace(
                following,
                settled={**made.settled, **following.settled},
                breaks=made.breaks | following.breaks,
            )
        return made

    key, text = (
        " and ".join(change.key for change in changes),
        " and ".join(change.text for change in changes),
    )
    return Change(key, text, apply)
