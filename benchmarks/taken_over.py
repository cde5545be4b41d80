"""How many cases of older versions are calls that the next newer version has as well.

Usage: uv run python -m benchmarks.taken_over [OPERATOR ...]

Prints for each operator with several versions the cases of the older ones, those of them whose call is the
newer version's (integers such as axes given the other way where versions differ), those of these whose answer
was not asked for again, and the sums. Parts of suites that are kept are taken; others are made.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from benchmarks.asked import operators_asked
from conformance.suite.cases import Case
from conformance.suite.suite_parts import cases_in
from generator.asking.calls import call_of
from generator.making.named_operators import known_operators
from generator.making.newer_versions import newer_versions
from generator.making.part_making import make_part_once
from generator.making.taken_over import answers_hold, taken_call
from generator.making.workshop import Options, open_workshop
from opcert.vocabulary.names import OperatorName
from specs.library import load_spec


def main(names: Sequence[str]) -> None:
    sums: dict[str, Counter[str]] = {}
    for operator in known_operators():
        newer = next(iter(newer_versions(operator)), None)
        if newer is not None and (not names or operator.name in names):
            counted = sums.setdefault(operator.unversioned, Counter())
            counted.update(_counts(operator, newer))
    print("| operator | cases of older versions | taken over | of these not asked again |")
    print("|---|---|---|---|")
    for name, each in sorted(sums.items()):
        print(f"| {name} | {each['all']} | {each['taken']} | {each['answered']} |")
    total = sum(sums.values(), Counter[str]())
    print(f"| all | {total['all']} | {total['taken']} | {total['answered']} |")


def _counts(operator: OperatorName, newer: OperatorName) -> Counter[str]:
    workshop, spec = open_workshop(operator, Options()), load_spec(newer)
    calls = (taken_call(workshop.spec, spec, each) for each in _cases(newer))
    known = {call.digest(operator) for call in calls if call is not None}
    cases = _cases(operator)
    taken = [each for each in cases if call_of(each).digest(operator) in known]
    answered = [each for each in taken if each.expectations] if answers_hold(workshop, spec) else []
    return Counter({"all": len(cases), "taken": len(taken), "answered": len(answered)})


def _cases(operator: OperatorName) -> list[Case]:
    return list(cases_in(make_part_once(operator, Options()).part))


if __name__ == "__main__":
    main(operators_asked(__doc__, sys.argv[1:]))
