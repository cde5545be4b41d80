"""What a runtime makes of each call of a model, out of the cases of that call that it was asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from conformance.judging.known_causes import KnownCause
from conformance.judging.verdicts import LOST, NOT_RUN, REJECTED_VALID, word
from opcert.vocabulary.harmless import one_line
from reports.causes.class_words import headline, remarks
from reports.causes.failure_class import FailureClass, smallness
from reports.causes.failure_classes import class_of
from reports.causes.optimisation import fails_optimised_alone
from reports.causes.titles import told_by_entries
from reports.checked_models.call_evidence import (
    CheckedCall,
    at_other_extents,
    grade_of,
    inexact_by,
    level_remarks,
)
from reports.results.case_results import CaseResult, Results
from reports.single_cases.answer_views import error_text
from reports.text.phrasing import ratio_text

Answer = Literal[
    "crashes",
    "wrong",
    "refused",
    "special",
    "constant",
    "inexact",
    "elsewhere",
    "open",
    "uncovered",
    "conformant",
]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
"""The worst first; `special` is what fails on special values alone, `constant` with such in the place of the
model's constants alone, `inexact` what is wrong by few steps of its type or less exact than the table of
functions, `elsewhere` what fails at other extents than the model has, and at these alone."""
BLAMING: frozenset[Answer] = frozenset({"crashes", "wrong", "refused"})
"""Those that say that the model does not run there as its documents say."""
Setting = Literal["any", "optimised", "unoptimised"]
"""Under which settings of the runtime's own optimisation cases fail: whatever it is, or under one alone."""
BY_ITSELF = "tested by itself, with what is no constant given at run time; inside the model more may be known"
"""What is said of refusals: a runtime may work out in a whole model what it does not take from outside."""
_LONGEST = 400


@dataclass(frozen=True, eq=False)
class CallCause:
    """Failing cases of one call that have one cause, and those beside the failures that have the same one.

    `results` is the run that shows them. `found` is the class that the failing ones are in there, None where
    the runtime said itself that it does not offer the call.
    """

    answer: Answer
    title: str
    remarks: tuple[str, ...]
    cases: tuple[CaseResult, ...]
    results: Results
    found: FailureClass | None
    setting: Setting = "any"

    @property
    def blamed(self) -> tuple[CaseResult, ...]:
        """The cases that the answer is of: those that fail, or all where none does."""
        return _blamed(self.cases)

    @property
    def smallest(self) -> CaseResult:
        """The one of `blamed` with the fewest elements, attributes and dimensions."""
        return min(self.blamed, key=smallness)

    @property
    def known(self) -> KnownCause | None:
        """The known entry that it is."""
        return None if self.found is None else self.found.known

    @property
    def ratio(self) -> float | None:
        """The greatest error in units of the allowed one; None where equality was asked of all."""
        return max((each.ratio for each in self.blamed if each.ratio is not None), default=None)

    @property
    def error(self) -> str:
        """By how much the cases are wrong, in words; empty for what is no matter of values."""
        told = {error_text(each) for each in self.blamed}
        if self.ratio is None or len(told) == 1:
            return error_text(self.smallest)
        return f"up to {ratio_text(self.ratio)} the allowed error"

    @property
    def says(self) -> str:
        """The title, and under which setting alone it is so."""
        alone = {
            "any": "",
            "optimised": "only with optimisation: ",
            "unoptimised": "only without optimisation: ",
        }
        return f"{alone[self.setting]}{self.title}"


@dataclass(frozen=True, eq=False)
class CallAnswer:
    """What a runtime makes of a call.

    Of its cases `asked` ran, `passing` are right, and of `unsupported` the runtime says itself that it does
    not offer them; `left` were left out, since others had lost their workers. `why` says why nothing is
    known.
    """

    checked: CheckedCall
    answer: Answer
    causes: tuple[CallCause, ...] = ()
    asked: int = 0
    passing: int = 0
    unsupported: int = 0
    why: str = ""
    left: int = 0

    @property
    def weaker(self) -> bool:
        """Whether what is said rests on ONNX's node tests alone."""
        return self.checked.evidence == "node_tests" and self.answer != "uncovered"


def answer_calls(
    calls: Sequence[CheckedCall], results: Results | None, plain: Results | None = None
) -> tuple[CallAnswer, ...]:
    """What the run `results` makes of each call; `plain` is the same run without the runtime's optimisation.

    Without results no call has cases that ran.
    """
    optimised = _by_id(results)
    unoptimised = _by_id(plain)
    return tuple(_answer(call, results, plain, optimised, unoptimised) for call in calls)


def _by_id(results: Results | None) -> Mapping[str, CaseResult]:
    return {} if results is None else {str(result.id): result for result in results.cases}


def _answer(
    checked: CheckedCall,
    results: Results | None,
    plain: Results | None,
    optimised: Mapping[str, CaseResult],
    unoptimised: Mapping[str, CaseResult],
) -> CallAnswer:
    # A call that a document calls an error is none of a model's.
    cases = [optimised[each] for each in checked.cases if each in optimised]
    valid = [result for result in cases if result.demand != "refuse"]
    cases = [result for result in valid if result.verdict != NOT_RUN]
    if results is None or not cases:
        return CallAnswer(checked, "uncovered", why=checked.why or "no case of it ran")
    also = {str(result.id): unoptimised[str(result.id)] for result in cases if str(result.id) in unoptimised}
    causes = sorted(_causes(checked, cases, results, plain, also), key=_order)
    passing = sum(result.verdict == "pass" for result in cases)
    refusing = [result for result in cases if result.verdict == "unsupported"]
    # What fails without optimisation alone says nothing of the runtime as it was asked for.
    told = [cause.answer for cause in causes if cause.setting != "unoptimised"]
    answer: Answer = min(told, key=ANSWERS.index, default="conformant")
    why = ""
    if refusing and not passing and not causes:
        answer, causes = "refused", [*_said(refusing, results)]
    elif not causes and not passing:
        answer, why = "uncovered", _nothing_known(cases)
    left = len(valid) - len(cases)
    return CallAnswer(checked, answer, tuple(causes), len(cases), passing, len(refusing), why, left)


def _causes(
    checked: CheckedCall,
    cases: Sequence[CaseResult],
    results: Results,
    plain: Results | None,
    also: Mapping[str, CaseResult],
) -> Iterable[CallCause]:
    """The failing cases by their causes, and by the settings under which they fail."""
    groups: dict[tuple[int | str, Setting], list[CaseResult]] = defaultdict(list)
    verdicts = {name: result.verdict for name, result in also.items()}
    for result in cases:
        found = class_of(results, result)
        if found is not None:
            alone = fails_optimised_alone(str(result.id), verdicts)
            groups[_cause_name(found), "optimised" if alone else "any"].append(result)
    for (_, setting), members in groups.items():
        yield _cause(checked, members, cases, results, setting)
    if plain is None:
        return
    left: dict[int | str, list[CaseResult]] = defaultdict(list)
    for result in cases:
        beside = also.get(str(result.id))
        found = None if beside is None else class_of(plain, beside)
        if result.verdict == "pass" and found is not None and beside is not None:
            left[_cause_name(found)].append(beside)
    for members in left.values():
        yield _cause(checked, members, tuple(also.values()), plain, "unoptimised")


def _cause_name(found: FailureClass) -> int | str:
    """What is one for both classes of an entry: its failing cases, and those that stand beside them."""
    return found.number if found.known is None else found.known.id


def _blamed(cases: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
    return tuple(each for each in cases if each.fails) or tuple(cases)


def _cause(
    checked: CheckedCall,
    members: Sequence[CaseResult],
    asked: Sequence[CaseResult],
    results: Results,
    setting: Setting,
) -> CallCause:
    blamed = _blamed(members)
    found = class_of(results, blamed[0])
    assert found is not None
    levels = level_remarks(members, asked, checked, results)
    told = tuple(one_line(level, _LONGEST) for level in (*levels, *remarks(found)))
    runtime = str(results.record.header["runtime"]["name"])
    title = one_line(told_by_entries(found, runtime) or headline(found), _LONGEST)
    answer = _answer_of(found)
    if answer == "refused":
        told = (*told, BY_ITSELF)
    if answer in BLAMING and at_other_extents(blamed, asked, checked, results):
        answer = "elsewhere"
    if answer in BLAMING:
        answer, further = _graded(answer, blamed, checked, results)
        told = (*further, *told)
    return CallCause(answer, title, told, tuple(members), results, found, setting)


def _graded(
    answer: Answer, members: Sequence[CaseResult], checked: CheckedCall, results: Results
) -> tuple[Answer, tuple[str, ...]]:
    """The answer for how much the cases say, and that in words; what ends a process is told in any case."""
    match grade_of(members, checked, results):
        case "inexact":
            return "inexact", (f"inexact by {inexact_by(members)} ULP at most",)
        case "constant":
            return "constant", ("only with special values in the place of the model's own constants",)
        case "special":
            told = "only with NaN, infinities, subnormal or extreme numbers, or no elements"
            return answer if answer == "crashes" else "special", (told,)
    return answer, ()


def _answer_of(found: FailureClass) -> Answer:
    # A lost process is one, whoever is to blame.
    if found.kind in LOST:
        return "crashes"
    if not found.fails:
        return "inexact" if found.kind == "inexact" else "open"
    return "refused" if found.kind == REJECTED_VALID else "wrong"


def _said(refusing: Sequence[CaseResult], results: Results) -> Iterable[CallCause]:
    """The runtime's own words, each once, where it says of a whole call that it does not offer it."""
    groups: dict[str, list[CaseResult]] = defaultdict(list)
    for result in refusing:
        row = result.row
        said = (row.message or row.reason) if row is not None else None
        groups[one_line(said or "no reason given", _LONGEST)].append(result)
    for said, members in groups.items():
        yield CallCause(
            "refused", f"not supported, as it says itself: {said}", (), tuple(members), results, None
        )


def _nothing_known(cases: Sequence[CaseResult]) -> str:
    verdicts = {result.verdict for result in cases}
    if verdicts == {"observed"}:
        return "the documents demand nothing of it but survival"
    return f"its cases came to nothing: {', '.join(sorted(word(verdict) for verdict in verdicts))}"


def _order(cause: CallCause) -> tuple[int, int, str]:
    return ANSWERS.index(cause.answer), -len(cause.cases), cause.title
