"""The page of a run: what each section says, ready for the templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from conformance.judging.verdicts import ALWAYS, GROUPS
from reports.causes.class_words import equals_text, fit_text, headline, remarks
from reports.causes.failure_class import FailureClass, marked_features
from reports.causes.failure_classes import classes_of
from reports.causes.followed_readings import fault_name, fault_text
from reports.causes.kept_findings import class_equals, class_sentence, smaller_call
from reports.causes.lenient_passes import LenientPasses, lenient_passes
from reports.causes.operator_use import use_text
from reports.causes.titles import title
from reports.overview.cause_paragraphs import fault_cause, shown_cases
from reports.overview.decided import StandingGroup, operator_standings
from reports.overview.headline import (
    HeadlineFact,
    list_facts,
    list_sentences,
    list_warnings,
    runtime_label,
    runtime_name,
)
from reports.overview.matrix import Matrix, build_matrix
from reports.results.case_results import Results
from reports.results.excuses import STANDINGS, Excuse
from reports.results.told_facts import short_names
from reports.single_cases.answer_views import AnswerView, view_answer
from reports.single_cases.case_views import CaseView, view_case
from reports.single_cases.passages_shown import with_titles
from reports.text.links import case_link, cases_link, note_id, token
from reports.text.phrasing import count, listed, plural
from reports.text.value_text import ViewedValue, in_type_order


@dataclass(frozen=True)
class BarPart:
    """A part of the line of all cases: where it starts and how long it is, in thousandths of the line."""

    heading: str
    verdict: str
    number: int
    start: float
    width: float


_NARROWEST = 2.0
"""Thousandths of the line that what there is takes at least, so that it is seen."""


@dataclass(frozen=True)
class ExcusedCases:
    """How many failing cases have one excuse, or one standing; `link` leads to them."""

    words: str
    number: int
    link: str
    excuse: Excuse | None = None


@dataclass(frozen=True)
class ClassView:
    """A failure class in words, with what is known of it and its smallest case.

    `anchor` is its element; the links lead to cases. `smaller` says that the call and its answer are what is
    left of that case after it was made smaller on the runtime.
    """

    found: FailureClass
    headline: str
    remarks: tuple[str, ...]
    anchor: str
    operators: str
    fit: str
    types: str
    resembles: str
    smallest: CaseView
    answer: AnswerView
    smallest_link: str
    cases_link: str
    excused: tuple[ExcusedCases, ...]
    use: str = ""
    smaller: bool = False

    @property
    def number(self) -> int:
        return len(self.found.cases)

    @property
    def fit_beyond(self) -> str:
        """How many cases fit, where that says more than their number."""
        return "" if self.fit == plural(self.number, "case") else self.fit[0].upper() + self.fit[1:]

    @property
    def all_cases(self) -> str:
        return f"All {plural(self.number, 'case')}" if self.number > 1 else "The only case"


MOST_SHOWN = 6
"""So many operator versions are named of a cause that is not told in full."""
WORST, MOST_UNFOLDED = 5, 7
"""So many causes stand on the first screen, the others behind a line; of a few more all do."""
MOST_TOLD, MOST_NAMED = 500, 2000
"""So many causes are told with their smallest case; of further ones, up to so many, the head alone."""


@dataclass(frozen=True)
class CauseLine:
    """A cause that is not told in full; `anchor` is its element."""

    number: int
    cases: int
    headline: str
    anchor: str
    operators: str
    cases_link: str


@dataclass(frozen=True)
class TierView:
    heading: str
    why: str
    classes: tuple[ClassView, ...]
    lines: tuple[CauseLine, ...] = ()

    def part(self, has: Callable[[int], bool]) -> TierView | None:
        """The same with the causes alone whose numbers it has; None where that is none."""
        classes = tuple(each for each in self.classes if has(each.found.number))
        lines = tuple(each for each in self.lines if has(each.number))
        return replace(self, classes=classes, lines=lines) if classes or lines else None


@dataclass(frozen=True)
class FaultView:
    """A fault of the whole run, what an entry tells and what excuses it, and links to cases that show it."""

    text: str
    told: str
    known: Excuse | None
    links: tuple[str, ...]


class RunPage:
    """What the report of one run says; each section is put together when it is asked for."""

    def __init__(self, results: Results, position: int = 0, key: str = "", label: str = "") -> None:
        self.results = results
        self.position = position
        self.key = key
        self.runtime = label or runtime_label(results.record)
        self.total = len(results.cases)

    @property
    def of(self) -> str:
        """What names this run in links: nothing for the first one."""
        return self.key if self.position else ""

    @cached_property
    def everything(self) -> str:
        """The link to all cases."""
        return cases_link(of=self.of)

    @cached_property
    def classes(self) -> tuple[FailureClass, ...]:
        return classes_of(self.results)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return list_sentences(self.results, self.classes)

    @cached_property
    def lenient(self) -> tuple[LenientPasses, ...]:
        return lenient_passes(self.results)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        return list_warnings(self.results)

    @cached_property
    def facts(self) -> tuple[HeadlineFact, ...]:
        return list_facts(self.results)

    @cached_property
    def ledger(self) -> Sequence[tuple[str, Sequence[tuple[str, int, str]]]]:
        """Verdicts under their headings, each with its number of cases and the link to them."""
        found, counts = [], self.results.counts
        for group in GROUPS:
            told = [
                (verdict, counts[verdict], cases_link(token("status", verdict), of=self.of))
                for verdict in group.verdicts
                if counts[verdict] or verdict in ALWAYS
            ]
            if told:
                found.append((group.heading, told))
        return found

    @cached_property
    def bar(self) -> tuple[BarPart, ...]:
        """All cases as parts of one line, what conforms first."""
        parts, start = [], 0.0
        for group in GROUPS:
            number = sum(self.results.counts[verdict] for verdict in group.verdicts)
            width = 1000 * number / max(1, self.total)
            if number:
                parts.append(BarPart(group.heading, group.verdicts[0], number, start, max(width, _NARROWEST)))
            start += width
        return tuple(parts)

    @cached_property
    def standings(self) -> tuple[StandingGroup, ...]:
        return operator_standings(self.results.cases, self.classes, self.of)

    @cached_property
    def matrix(self) -> Matrix:
        return build_matrix(self.results.cases, self.classes, self.of, self.position, self.results.group_of)

    @cached_property
    def tiers(self) -> tuple[TierView, ...]:
        found = []
        for tier, together in groupby(self.classes, key=lambda each: each.group):
            own = list(together)
            classes = tuple(self._class_view(each) for each in own if each.number <= MOST_TOLD)
            lines = tuple(self._line(each) for each in own if MOST_TOLD < each.number <= MOST_NAMED)
            if classes or lines:
                found.append(TierView(tier.heading, tier.why, classes, lines))
        return tuple(found)

    @property
    def causes_left_out(self) -> int:
        """How many causes are counted alone."""
        return max(len(self.classes) - MOST_NAMED, 0)

    def _line(self, found: FailureClass) -> CauseLine:
        return CauseLine(
            found.number,
            len(found.cases),
            title(found, runtime_name(self.results.record), class_equals(self.results, found.cases)),
            note_id(self.position, found.number),
            short_names(found.operators[:MOST_SHOWN]),
            cases_link(token("note", str(found.number)), of=self.of),
        )

    @cached_property
    def worst(self) -> tuple[TierView, ...]:
        """The causes to fix first, on ordinary data where something fails there, under their headings."""
        return self._with_causes(lambda number: number <= self._in_sight)

    @cached_property
    def further(self) -> tuple[TierView, ...]:
        """The others."""
        return self._with_causes(lambda number: number > self._in_sight)

    def _with_causes(self, has: Callable[[int], bool]) -> tuple[TierView, ...]:
        return tuple(part for tier in self.tiers if (part := tier.part(has)) is not None)

    @property
    def further_causes(self) -> int:
        return sum(len(tier.classes) + len(tier.lines) for tier in self.further)

    @property
    def _in_sight(self) -> int:
        return WORST if len(self.classes) > MOST_UNFOLDED else MOST_UNFOLDED

    @cached_property
    def faults(self) -> tuple[FaultView, ...]:
        known = self.results.excuses.by_name
        return tuple(
            FaultView(
                fault_text(fault),
                fault_cause(self.results, fault),
                known.get(fault_name(fault)),
                tuple(case_link(case, of=self.of) for case in shown_cases(self.results, fault)[:2]),
            )
            for fault in self.results.record.faults
        )

    @cached_property
    def excused(self) -> tuple[ExcusedCases, ...]:
        """The failing cases by what is to be said of them, each in one; empty where nothing was asked."""
        excuses = self.results.excuses
        if not excuses.against:
            return ()
        found = Counter(excuses.standing(str(each.id)) for each in self.results.cases if each.fails)
        return tuple(
            ExcusedCases(words, found[each], cases_link(token("known", each), of=self.of))
            for each, words in STANDINGS.items()
            if found[each]
        )

    def _excused(self, found: FailureClass, note: str) -> tuple[ExcusedCases, ...]:
        """The excuses of a class's cases, with how many of them each excuses."""
        known = self.results.excuses.by_name
        numbers = Counter(known[str(result.id)] for result in found.cases if str(result.id) in known)
        return tuple(
            ExcusedCases(
                _part(number, len(found.cases)),
                number,
                cases_link(note, token("known", excuse.standing), of=self.of),
                excuse.beside(headline(found)),
            )
            for excuse, number in numbers.items()
        )

    def _class_view(self, found: FailureClass) -> ClassView:
        results, smallest = self.results, found.smallest
        case = results.suite.case(str(smallest.id))
        note = token("note", str(found.number))
        resembles = class_equals(results, found.cases)
        view, answer = view_case(results, case, marked_features(found)), view_answer(results, smallest, case)
        smaller = smaller_call(results, found)
        if smaller is not None:
            view = replace(
                view,
                inputs=tuple(ViewedValue(name, values, typed) for name, typed, values in smaller.inputs),
                attributes=tuple(ViewedValue(name, value) for name, value in smaller.attributes),
                demand=smaller.expected,
            )
            answer = replace(answer, answer=smaller.got, error="", picture=None)
        return ClassView(
            found,
            title(found, runtime_name(results.record), resembles),
            tuple(with_titles(remark, smallest.operator) for remark in remarks(found, resembles)),
            note_id(self.position, found.number),
            short_names(found.operators),
            fit_text(found),
            _types(results, found),
            "" if equals_text(found, resembles) else class_sentence(results, found.cases),
            view,
            answer,
            case_link(smallest.id, note, of=self.of),
            cases_link(note, of=self.of),
            self._excused(found, note),
            use_text(found.use),
            smaller is not None,
        )


def _part(number: int, whole: int) -> str:
    if number == whole:
        return "this case" if whole == 1 else f"all {plural(whole, 'case')}"
    return f"{count(number)} of {plural(whole, 'case')}"


def _types(results: Results, found: FailureClass) -> str:
    """Which element types fail, and whether those are all that were judged."""
    failing = {result.element_type for result in found.cases}
    judged = {
        result.element_type
        for operator in found.operators
        for result in results.by_operator[operator]
        if result.fails or result.verdict == "pass"
    }
    names = in_type_order(failing)
    said = listed(names) if len(names) <= 6 else f"{len(names)} element types"
    if failing == judged and len(failing) > 1:
        said = "every element type that was judged"
    if len(found.signals) == 1 and all(result.row and result.row.signal for result in found.cases):
        said += f"; always {found.signals[0]}"
    return said
