"""The short table at the end of a certification, for a terminal or a log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from conformance.judging.verdicts import WORST_FIRST, word
from opcert.vocabulary.harmless import shown
from opcert.vocabulary.names import OperatorName, operator_path_of
from reports.causes.followed_readings import readings_summary
from reports.causes.lenient_passes import lenient_passes
from reports.results.case_results import Results


def summary_table(results: Results) -> list[list[str]]:
    """Rows of cells: a heading, one row an operator version, the sums; without verdicts that nothing has."""
    return verdict_table({str(each.id): each.verdict for each in results.cases})


def verdict_table(verdicts: Mapping[str, str]) -> list[list[str]]:
    """The same of the verdicts of cases by id."""
    counted: dict[OperatorName, Counter[str]] = defaultdict(Counter)
    for case_id, verdict in verdicts.items():
        counted[OperatorName.parse(operator_path_of(case_id))][verdict] += 1
    sums = Counter(verdicts.values())
    columns = [each for each in reversed(WORST_FIRST) if sums[each]]
    table = [["operator", *(word(each) for each in columns), "cases"]]
    for operator in sorted(counted):
        counts = counted[operator]
        cells = [str(counts[each] or "-") for each in columns]
        table.append([str(operator), *cells, str(sum(counts.values()))])
    table.append(["sum", *(str(sums[each]) for each in columns), str(len(verdicts))])
    return table


def readings_lines(results: Results) -> list[str]:
    """Lenient passes first; then for each operator version the readings that its answers tell of."""
    found = [shown(each.text) for each in lenient_passes(results)]
    for operator in results.by_operator:
        said = readings_summary(results, operator)
        if said:
            found.append(f"{operator}: {shown(said)}")
    return found
