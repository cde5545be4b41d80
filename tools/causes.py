"""How well a classification of failures tells causes: held against causes that were made by hand.

Usage: uv run python -m tools.causes RECORD... [-s SUITE] [--without-known | --alone] [--by-entries]
       [--each]

The causes stand in `tools/hand_made_causes/<runtime>.yaml`, one list of cases for each, written
before the code that finds causes was tuned. `purity`: how many of the cases are of the cause that most of
their class are of. `pair recall`: of the pairs of cases that are of one cause, how many are in one class.
A case that fails of several causes counts for the one of its class. With `--without-known` no entry of
`disagreements.yaml` explains anything; a `diagnosis.json` beside the record is used where there is one.
With `--alone` the runtime is asked anew, for as long as it takes, as if there were no entries. With
`--by-entries` the causes are those of the entries that explain the failures instead of those made by hand,
so that runtimes and operators count that nobody made causes for; other cases are left out.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.processes.worker_limits import Limits
from conformance.recording.records import read_record
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.kept_suites import kept_suite
from conformance.suite.suites import Suite, open_suite
from generator.making.suites.cache import named_suite
from opcert.commands.cause_finding import with_experiments, with_known_causes
from opcert.vocabulary.yaml_files import load_file
from reports.causes.failure_classes import classes_of, diagnosis_of
from reports.results.case_results import Results, put_together
from tools.asked import exit_code_of

HAND_MADE = Path(__file__).parent / "hand_made_causes"
FOR_EVER = 1e6
"""Seconds in which experiments come to their end."""


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


def causes_of_entries(results: Results) -> HandMade:
    """The causes of the failures that entries explain: those of one entry, or of several of one cause."""
    causes: dict[str, list[str]] = {}
    for each in with_known_causes(results).known:
        for case in each.cases:
            causes.setdefault(case, []).append(each.id)
    return HandMade(causes)


def main(words: Sequence[str]) -> int:
    """Print the quality for each record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORD")
    parser.add_argument("-s", "--suite", default="first-operators")
    by = parser.add_mutually_exclusive_group()
    by.add_argument("--without-known", action="store_true", help="no entry explains anything")
    by.add_argument("--alone", action="store_true", help="nor is it told to experiments, which are made anew")
    parser.add_argument("--by-entries", action="store_true", help="the causes are those of entries")
    parser.add_argument("--each", action="store_true", help="print what is in each class")
    asked = parser.parse_args(words)
    for path in asked.records:
        header = read_record(path).header
        kept = kept_suite(str(header["suite"]))
        with open_suite(kept or _made_suite(asked.suite)) as suite, TemporaryDirectory() as folder:
            if asked.alone:
                results = _alone(suite, path, Path(folder), asked.suite)
            else:
                results = put_together(suite, read_record(path), asked.suite)
                results = results if asked.without_known else with_known_causes(results)
            name = str(header["runtime"]["name"])
            made = (
                causes_of_entries(results) if asked.by_entries else read_hand_made(HAND_MADE / f"{name}.yaml")
            )
            _show(name, results, made, each=asked.each)
    return 0


def _made_suite(name: str) -> Path:
    found = Path(name)
    return found if found.exists() else named_suite(name, lambda told: print(told, file=sys.stderr))


def _alone(suite: Suite, path: Path, folder: Path, suite_name: str) -> Results:
    """The results with experiments that nothing is told to; the record's own are left as they are."""
    copied = Path(shutil.copy(path, folder / path.name))
    results = put_together(suite, read_record(copied), suite_name)
    runtime = find_runtime(str(results.record.header["runtime"]["name"]))
    results = with_experiments(results, runtime, Limits(), seconds=FOR_EVER, keep_calls=False)
    found = diagnosis_of(results)
    if found is not None:
        print(f"by experiment alone: {len(found.calls)} calls in {found.seconds:.0f} s")
    return results


def _show(name: str, results: Results, made: HandMade, *, each: bool) -> None:
    classes = [[str(case.id) for case in found.cases] for found in classes_of(results)]
    print(f"{name}: {made.number} causes; {hold_against(classes, made)}")
    if each:
        for number, cases in enumerate(classes, 1):
            counted = Counter(made.causes.get(case, ["-"])[0] for case in cases)
            print(f"  {number}: {', '.join(f'{cause} {count}' for cause, count in counted.most_common())}")


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
