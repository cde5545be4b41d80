"""How well a classification of failures tells causes: held against causes that were made by hand.

Usage: uv run python -m benchmarks.causes RECORD... [-s SUITE] [--without-known] [--each]

The causes stand in `benchmarks/hand_made_causes/<runtime>.yaml`, one list of cases for each, written
before the code that finds causes was tuned. `purity`: how many of the cases are of the cause that most of
their class are of. `pair recall`: of the pairs of cases that are of one cause, how many are in one class.
A case that fails of several causes counts for the one of its class. With `--without-known` no entry of
`disagreements.yaml` explains anything; a `diagnosis.json` beside the record is used where there is one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from benchmarks.asked import exit_code_of
from conformance.recording.records import Record, read_record
from conformance.suite.kept_suites import kept_suite
from conformance.suite.suites import open_suite
from generator.making.cache import named_suite
from opcert.commands.cause_finding import with_known_causes
from opcert.vocabulary.yaml_files import load_file
from reports.causes.failure_classes import classes_of
from reports.results.case_results import put_together

HAND_MADE = Path(__file__).parent / "hand_made_causes"


@dataclass(frozen=True)
class HandMade:
    """Which causes each failing case has: the one that it fails of first, then others."""

    causes: Mapping[str, Sequence[str]]

    @property
    def number(self) -> int:
        return len({each[0] for each in self.causes.values()})


@dataclass(frozen=True)
class Quality:
    """A classification beside the causes made by hand; `missing` cases are in no class."""

    cases: int
    classes: int
    pure: int
    pairs: int
    found: int
    missing: tuple[str, ...]

    @property
    def purity(self) -> float:
        return self.pure / self.cases if self.cases else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.pairs if self.pairs else 1.0

    def __str__(self) -> str:
        return (
            f"{self.cases} cases in {self.classes} classes: purity {self.purity:.3f}, pair recall "
            f"{self.recall:.3f} ({self.found} of {self.pairs} pairs), {len(self.missing)} in no class"
        )


def read_hand_made(path: Path) -> HandMade:
    """The causes of a file; raises UserError where there is none."""
    causes: dict[str, list[str]] = {}
    value = load_file(path)[0].value
    for each in value["causes"]:
        for case in each["cases"]:
            causes.setdefault(str(case), []).insert(0, str(each["cause"]))
        for case in each.get("also", ()):
            causes.setdefault(str(case), []).append(str(each["cause"]))
    return HandMade(causes)


def hold_against(classes: Sequence[Sequence[str]], made: HandMade) -> Quality:
    """How good classes of case ids are; cases without a cause made by hand are left out."""
    known = [[case for case in each if case in made.causes] for each in classes]
    known = [each for each in known if each]
    class_of, cause_of, pure = dict[str, int](), dict[str, str](), 0
    for number, cases in enumerate(known):
        counted = Counter(cause for case in cases for cause in made.causes[case])
        (most, _), *_ = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
        for case in cases:
            pure += most in made.causes[case]
            class_of[case] = number
            cause_of[case] = most if most in made.causes[case] else made.causes[case][0]
    missing = tuple(sorted(made.causes.keys() - class_of.keys()))
    cause_of.update({case: made.causes[case][0] for case in missing})
    by_cause: dict[str, list[str]] = {}
    for case, cause in cause_of.items():
        by_cause.setdefault(cause, []).append(case)
    pairs = found = 0
    for cases in by_cause.values():
        for first, second in combinations(cases, 2):
            pairs += 1
            found += first in class_of and class_of[first] == class_of.get(second)
    return Quality(len(made.causes), len(known), pure, pairs, found, missing)


def main(words: Sequence[str]) -> int:
    """Print the quality for each record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORD")
    parser.add_argument("-s", "--suite", default="first-operators")
    parser.add_argument("--without-known", action="store_true", help="no entry explains anything")
    parser.add_argument("--each", action="store_true", help="print what is in each class")
    asked = parser.parse_args(words)
    for path in asked.records:
        _show(read_record(path), asked.suite, known=not asked.without_known, each=asked.each)
    return 0


def _show(record: Record, suite_name: str, *, known: bool, each: bool) -> None:
    name = str(record.header["runtime"]["name"])
    made = read_hand_made(HAND_MADE / f"{name}.yaml")
    kept = kept_suite(str(record.header["suite"]))
    with open_suite(kept or named_suite(suite_name, lambda told: print(told, file=sys.stderr))) as suite:
        results = put_together(suite, record, suite_name)
        if known:
            results = with_known_causes(results)
        classes = [[str(case.id) for case in found.cases] for found in classes_of(results)]
    print(f"{name}: {made.number} causes by hand; {hold_against(classes, made)}")
    if each:
        for number, cases in enumerate(classes, 1):
            counted = Counter(made.causes.get(case, ["-"])[0] for case in cases)
            print(f"  {number}: {', '.join(f'{cause} {count}' for cause, count in counted.most_common())}")


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
