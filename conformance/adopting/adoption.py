"""A folder of tests as a suite: every test becomes cases, or is listed with the reason why it does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from conformance.adopting.adopted_cases import UNPACKED, VALUES, WRITTEN_AS, adopt_test, base_name
from conformance.adopting.layout import TestFolder, find_tests
from conformance.suite.cases import Case
from conformance.suite.suites import write_suite
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import CaseId, OperatorName


@dataclass
class Adoption:
    """What became of a folder of tests.

    `counts` are of cases: by how they are written, `unpacked` those whose tests have sequences or optionals,
    and `observed` those of which nothing but survival is demanded. `left_out` are the tests that could not be
    carried, by name, with the reason. `digest` is the suite's.
    """

    tests: int = 0
    operators: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, str] = field(default_factory=dict)
    digest: str = ""

    @property
    def cases(self) -> int:
        return sum(number for name, number in self.counts.items() if name not in (UNPACKED, "observed"))


def adopt_folder(folder: Path, suite: Path, source: Mapping[str, Any]) -> Adoption:
    """Write the tests below a folder as a suite; `source` goes into its manifest: where they are from.

    Raises UserError where there is no test, where none can be carried, or where the suite cannot be written.
    """
    tests = {each.name: each for each in find_tests(folder)}
    if not tests:
        raise UserError(
            "there is no test here",
            where=Place(str(folder)),
            expected="folders with model.onnx and test_data_set_0",
        )
    adoption = Adoption(tests=len(tests))
    cases = _adopt_all(tests, adoption)
    first = next(cases, None)
    if first is None:
        name, reason = next(iter(adoption.left_out.items()))
        raise UserError(
            "no test can be carried by a suite", got=f"for example {name}: {reason}", where=Place(str(folder))
        )
    # What is left out is known when the last case is written, which is before the manifest is.
    facts = {
        "operators": {},
        "adopted": {"source": source, "tests": adoption.tests, "left_out": adoption.left_out},
    }
    adoption.digest = write_suite(suite, chain([first], cases), facts, {"adopted": source})
    return adoption


def _adopt_all(tests: Mapping[str, TestFolder], adoption: Adoption) -> Iterator[Case]:
    seen: set[CaseId] = set()
    operators: set[OperatorName] = set()
    for name, test in tests.items():
        base = base_name(name)
        try:
            cases = list(adopt_test(test, tests.get(base) if base else None))
        except UserError as error:
            adoption.left_out[name] = str(error)
            continue
        for case in cases:
            if case.id in seen:
                adoption.left_out[name] = "another test has the same name and the same call"
                continue
            seen.add(case.id)
            operators.add(case.operator)
            adoption.operators = len(operators)
            adoption.counts[case.levels[WRITTEN_AS]] += 1
            adoption.counts[UNPACKED] += case.levels.get(VALUES) == UNPACKED
            adoption.counts["observed"] += case.demand == "survive"
            yield case
