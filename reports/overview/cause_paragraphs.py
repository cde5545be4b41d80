"""What a terminal and continuous integration are told: causes in a few lines, tests, counts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.judging.kept_diagnosis import SmallerCall
from conformance.judging.known_causes import WORDS, KnownCause
from conformance.judging.verdicts import BESIDE, HARNESS_ERROR, WORST_FIRST, word
from opcert.vocabulary.harmless import one_line, shown
from opcert.vocabulary.names import CaseId, OperatorName, operator_path_of
from reports.causes.class_words import fit_text, remarks
from reports.causes.failure_class import FailureClass, Told
from reports.causes.failure_classes import classes_of
from reports.causes.followed_readings import fault_text, readings_summary
from reports.causes.kept_findings import class_equals, smaller_call
from reports.causes.lenient_passes import lenient_passes
from reports.causes.titles import shown_text, title
from reports.overview.decided import decide_verdicts
from reports.overview.headline import runtime_name
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import short_names
from reports.text.phrasing import count, listed, plural
from reports.text.tests_and_tables import JUnitTest

MOST_CAUSES = 10
"""So many are told in full."""
_LONGEST = 400
_NAMED = 4


@dataclass(frozen=True)
class CauseParagraph:
    """A cause in lines: its head, what is known of it, and the command for its smallest case.

    `name` is the head without its number and its count, which change from run to run. `call` is the smallest
    call and its answer in a line, empty where nobody made one smaller.
    """

    found: FailureClass
    name: str
    head: str
    remarks: tuple[str, ...]
    command: str
    call: str = ""

    def lines(self, program: str = "opcert") -> list[str]:
        """Its lines, the first one to stand further left; `program` is how opcert is called."""
        return [self.head, *filter(None, [self.call]), *self.remarks, self.reproduction(program)]

    def reproduction(self, program: str = "opcert") -> str:
        """The command for its smallest case."""
        return self.command.replace("opcert", program, 1)


def cause_paragraphs(results: Results) -> list[CauseParagraph]:
    """Every cause of a run, in the order to fix."""
    return [_paragraph(results, failures) for failures in classes_of(results)]


def fault_paragraphs(results: Results) -> list[list[str]]:
    """The faults of the whole run, each with the cases that show it and what is known of it."""
    found = []
    for fault in results.record.faults:
        message = fault_text(fault)
        lines = [one_line(f"Of the whole run: {message}", _LONGEST)]
        cases = fault.get("cases")
        if fault.get("kind") == "inconsistent_reading" and isinstance(cases, dict):
            lines += [
                one_line(f"follows {option} in {_command(results, case)}", _LONGEST)
                for option, case in cases.items()
            ]
        else:
            lines += [
                results.reproduction_command(shown_case) for shown_case in shown_cases(results, fault)[:1]
            ]
        lines += filter(None, [fault_cause(results, fault)])
        found.append(lines)
    return found


def fault_cause(results: Results, fault: Mapping[str, object]) -> str:
    """The entry that explains a fault of the whole run; empty where none does."""
    message = fault_text(fault)
    known = next((known_cause for known_cause in results.known if message in known_cause.faults), None)
    if known is None:
        return ""
    return one_line(f"known as {known.id}: {known.title} ({WORDS[known.kind]})", _LONGEST)


def shown_cases(results: Results, fault: Mapping[str, object]) -> list[CaseId]:
    """The cases that a fault of the whole run names as showing it, as far as the suite has them."""
    cases = fault.get("cases")
    named = cases.values() if isinstance(cases, dict) else cases if isinstance(cases, list) else ()
    names = [each.get("case") if isinstance(each, dict) else each for each in named]
    return [results.by_id[name].id for name in names if isinstance(name, str) and name in results.by_id]


def _command(results: Results, case: object) -> str:
    return results.reproduction_command(CaseId.parse(str(case)))


def others_line(left: Sequence[CauseParagraph]) -> str:
    """The causes that are not told in full, by number and operators."""
    cases = sum(len(cause_paragraph.found.cases) for cause_paragraph in left)
    names = listed(
        [
            f"{cause_paragraph.found.number} ({short_names(cause_paragraph.found.operators)})"
            for cause_paragraph in left[:12]
        ]
    )
    more = f" and {len(left) - 12} more" if len(left) > 12 else ""
    verb = "has" if len(left) == 1 else "have"
    return one_line(
        f"{plural(len(left), 'more cause')} {verb} {plural(cases, 'case')}: {names}{more}; "
        "`opcert report` tells them all",
        2 * _LONGEST,
    )


def mended_line(entry: KnownCause) -> str:
    """An entry that explains nothing any more."""
    return one_line(
        f"{entry.id}: {entry.title} ({plural(len(entry.asked), 'case')} tested, all pass)", _LONGEST
    )


def totals_line(results: Results) -> str:
    """The last lines: what the record comes to, and how the causes of what fails are known.

    Results may be of some of the record's cases: numbers are of all of them, causes of those that were seen.
    """
    classes = [failures for failures in classes_of(results) if any(case.fails for case in failures.cases)]
    verdicts = {**results.record.verdicts, **{str(result.id): result.verdict for result in results.cases}}
    named = (
        (OperatorName.parse(operator_path_of(case)).unversioned, verdict)
        for case, verdict in verdicts.items()
    )
    decided = decide_verdicts(named, len(classes))
    told = Counter(failures.told for failures in classes)
    parts = [f"{count(told[name])} {said}" for name, said in _TOLD.items() if told[name]]
    seen = sum(result.fails for result in results.cases)
    least = " at least, of some of its cases" if seen < decided.failing else ""
    causes = [f"Causes{least}: {', '.join(parts)}."] if parts else []
    return "\n".join([" ".join(decided.sentences()), *filter(None, [decided.beside()]), *causes])


_TOLD: Mapping[Told, str] = {
    "entry": "known",
    "either": "of either of several known ones",
    "together": "of several known ones together",
    "suspected": "suspected and not shown",
    "message": "told by the runtime",
    "experiment": "shown by experiment",
    "rule": "a rule not checked",
    "optimisation": "only with optimisation",
    "association": "by association alone",
    "nothing": "not found",
}


def _paragraph(results: Results, found: FailureClass) -> CauseParagraph:
    resembles = class_equals(results, found.cases)
    name = one_line(title(found, runtime_name(results.record), resembles), _LONGEST)
    told = [fit_text(found), *([short_names(found.operators)] if len(found.operators) <= _NAMED else [])]
    told += filter(None, [shown_text(found)])
    return CauseParagraph(
        found,
        name,
        f"{found.number}. {name} ({'; '.join(told)})",
        tuple(one_line(remark, _LONGEST) for remark in remarks(found, resembles)),
        results.reproduction_command(found.smallest.id),
        _call(smaller_call(results, found)),
    )


def _call(smaller: SmallerCall | None) -> str:
    if smaller is None:
        return ""
    given = [f"{name} = {f'{typed} {values}'.strip()}" for name, typed, values in smaller.inputs]
    given += [f"{name} = {value}" for name, value in smaller.attributes]
    return one_line(f"{'; '.join(given)}: got {smaller.got}, expected {smaller.expected}", _LONGEST)


def summary_table(results: Results) -> list[list[str]]:
    """Rows of cells: a heading, one row an operator version, the sums; without verdicts that nothing has."""
    return verdict_table({str(result.id): result.verdict for result in results.cases})


def verdict_table(verdicts: Mapping[str, str]) -> list[list[str]]:
    """The same of the verdicts of cases by id."""
    counted: dict[OperatorName, Counter[str]] = defaultdict(Counter)
    for case_id, verdict in verdicts.items():
        counted[OperatorName.parse(operator_path_of(case_id))][verdict] += 1
    sums = Counter(verdicts.values())
    columns = [verdict for verdict in reversed(WORST_FIRST) if sums[verdict]]
    table = [["operator", *(word(column) for column in columns), "cases"]]
    for operator in sorted(counted):
        counts = counted[operator]
        cells = [str(counts[column] or "-") for column in columns]
        table.append([str(operator), *cells, str(sum(counts.values()))])
    table.append(["sum", *(str(sums[column]) for column in columns), str(len(verdicts))])
    return table


def readings_lines(results: Results) -> list[str]:
    """Lenient passes first; then for each operator version the readings that its answers tell of."""
    found = [shown(lenient_pass.text) for lenient_pass in lenient_passes(results)]
    for operator in results.by_operator:
        said = readings_summary(results, operator)
        if said:
            found.append(f"{operator}: {shown(said)}")
    return found


CAUSES, OPERATORS = "causes", "operators"
_MOST_NAMED = 200
"""So many ids of cases stand in one test."""


def grouped_tests(results: Results) -> Iterator[JUnitTest]:
    """The tests of a run that is told by cause or by operator, its causes first."""
    if results.grouping == "cause":
        yield from cause_tests(results)
    causes = {str(case.id): failures.number for failures in classes_of(results) for case in failures.cases}
    for operator, cases in results.by_operator.items():
        counted = Counter(result.verdict for result in cases)
        said = listed([f"{count(number)} {word(verdict)}" for verdict, number in counted.most_common()])
        failing = [result for result in cases if result.fails]
        numbers = sorted({causes[str(result.id)] for result in failing})
        # By cause what fails has its own tests: here it is told what passes.
        failed = (bool(failing) and results.grouping == "operator") or counted[HARNESS_ERROR] > 0
        message = f"{plural(len(cases), 'case')}: {said}"
        if numbers:
            message += f"; causes {', '.join(map(str, numbers))}"
        details = "\n".join([message, *_names(failing)])
        skipped = not failing and not any(counted[each] for each in ("pass", "observed", *BESIDE))
        told = JUnitTest(OPERATORS, str(operator), _seconds(cases), "system-out", message)
        if failed:
            told = replace(told, outcome="failure", kind=OPERATORS, details=details)
        elif skipped:
            told = replace(told, outcome="skipped", kind="unsupported", details=details)
        yield told


def cause_tests(results: Results) -> Iterator[JUnitTest]:
    """A test for each cause, under a name that stays while the cause does: no number, no count is in it."""
    names: Counter[str] = Counter()
    for told in cause_paragraphs(results):
        cases = told.found.cases
        names[told.name] += 1
        name = told.name if names[told.name] == 1 else f"{told.name} ({names[told.name]})"
        details = "\n".join([*told.remarks, told.command, "", *_names(cases)])
        failed = any(result.fails for result in cases)
        test = JUnitTest(CAUSES, name, _seconds(cases), "failure", told.head, CAUSES, details)
        yield test if failed else replace(test, outcome="skipped", kind="unsupported")


def _names(cases: Sequence[CaseResult]) -> list[str]:
    names = [f"{result.id}: {word(result.verdict)}" for result in cases[:_MOST_NAMED]]
    left = len(cases) - len(names)
    return [*names, f"and {count(left)} more"] if left else names


def _seconds(cases: Sequence[CaseResult]) -> float:
    return math.fsum(row.seconds for result in cases for row in result.rows)
