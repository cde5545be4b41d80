"""Lenient passes: right by a reading by which ordinary numbers become none, or that nobody else follows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reports.causes.followed_readings import matched_options
from reports.results.case_results import CaseResult, Results
from reports.results.told_facts import mapping, text
from reports.text.phrasing import listed, plural

FEWEST = 2
"""So many other runtimes must be known to read it otherwise before a runtime is told to be alone."""
Why = Literal["no number", "alone"]


@dataclass(frozen=True)
class LenientPasses:
    """Those of one operator version that are alike, and the runtimes that read it otherwise."""

    operator: str
    why: Why
    options: str
    cases: tuple[CaseResult, ...]
    others: tuple[str, ...]

    @property
    def text(self) -> str:
        """What there is to say, in one line."""
        under = f" under {self.options}" if self.options else ""
        where = f"in {plural(len(self.cases), 'case')}, such as {self.cases[0].id}"
        if self.why == "no number":
            return f"{self.operator}: ordinary numbers become NaN or infinite{under} {where}"
        return f"{self.operator}: alone{under} {where}; {listed(list(self.others))} read it otherwise"


def lenient_passes(results: Results) -> tuple[LenientPasses, ...]:
    """All of them, those by which ordinary numbers become none first."""
    own = _family(text(mapping(results.record.header.get("runtime")).get("name")))
    found: dict[tuple[Why, str, str, tuple[str, ...]], list[CaseResult]] = defaultdict(list)
    for case in results.cases:
        if case.verdict != "pass":
            continue
        operator = str(case.operator)
        options = matched_options(case)
        if any(row.no_number for row in case.rows):
            found["no number", operator, _told(options), ()].append(case)
            continue
        for name, chosen in options.items():
            others = _others(results.followed.get(operator, {}).get(name, {}), chosen, own)
            if others:
                found["alone", operator, _told({name: chosen}), others].append(case)
                break
    groups = (
        LenientPasses(operator, why, options, tuple(cases), others)
        for (why, operator, options, others), cases in found.items()
    )
    return tuple(sorted(groups, key=lambda group: group.why == "alone"))


def lenient_sentences(results: Results) -> tuple[str, ...]:
    """How many there are, for a first screen; nothing where there is none."""
    found = lenient_passes(results)
    counts: Counter[Why] = Counter()
    for passes in found:
        counts[passes.why] += len(passes.cases)
    said = []
    if counts["no number"]:
        cases = plural(counts["no number"], "passing case")
        said.append(f"In {cases} ordinary numbers become NaN or infinite, which the documents leave open.")
    if counts["alone"]:
        verb = "passes" if counts["alone"] == 1 else "pass"
        said.append(
            f"{plural(counts['alone'], 'case')} {verb} by a reading that no other tested runtime follows."
        )
    return tuple(said)


def _others(followed: Mapping[str, Sequence[str]], chosen: Sequence[str], own: str) -> tuple[str, ...]:
    """The other runtimes that read it otherwise, where there are several and none follows a chosen option."""
    if len(chosen) != 1 or any(_family(each) != own for each in followed.get(chosen[0], ())):
        return ()
    others = [runtime for runtimes in followed.values() for runtime in runtimes if _family(runtime) != own]
    names = tuple(sorted(set(others)))
    return names if len({_family(name) for name in names}) >= FEWEST else ()


def _family(runtime: str) -> str:
    """Builds of one runtime for several languages are one."""
    return runtime.split("-")[0]


def _told(options: Mapping[str, Sequence[str]]) -> str:
    """Options as one text; those of readings that several options fit alike say nothing."""
    return ", ".join(f"{name}: {chosen[0]}" for name, chosen in sorted(options.items()) if len(chosen) == 1)
