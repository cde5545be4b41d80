"""Every cause of a site once: what is known of it, and which runs have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from conformance.judging.known_causes import KnownCause
from conformance.judging.verdicts import FAILING, HOLDING, NOT_JUDGED
from opcert.vocabulary.names import OperatorName
from reports.causes.failure_kinds import GROUPS, NOBODY, TIERS
from reports.causes.operator_use import Use, use_of
from reports.sites.cause_examples import CauseExample
from reports.sites.cause_keys import CauseKey
from reports.sites.kept_run import ArchivedRun
from reports.sites.kept_runs import KeptRuns
from reports.sites.seen_causes import SeenCause


@dataclass(frozen=True, eq=False)
class SiteCause:
    """A cause as the newest run of the first runtime that has it says it, and that in every run with it."""

    first: SeenCause
    example_run: ArchivedRun
    example: CauseExample
    seen: Mapping[ArchivedRun, SeenCause] = field(default_factory=dict)

    @property
    def key(self) -> CauseKey:
        return self.first.key

    @property
    def title(self) -> str:
        return self.first.title

    @property
    def known(self) -> KnownCause | None:
        return self.first.known

    @property
    def open(self) -> bool:
        return self.first.open

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """The cases of all runs that fail by it."""
        return tuple(sorted({case for each in self.seen.values() for case in each.cases}))

    @cached_property
    def operators(self) -> tuple[OperatorName, ...]:
        return tuple(sorted({operator for each in self.seen.values() for operator in each.operators}))


@dataclass(frozen=True)
class CauseInRun:
    """What a run makes of the cases of a cause: those that fail by it, and the others; `absent` are not in
    its suite. `example` is the verdict on the case that is shown."""

    run: ArchivedRun
    failing: int
    passing: int
    otherwise: int
    unsupported: int
    absent: int
    example: str | None


def collect_causes(runs: KeptRuns) -> Mapping[CauseKey, SiteCause]:
    """The causes of all runs by their keys, in the order to fix them, those of most runs first."""
    seen: dict[CauseKey, dict[ArchivedRun, SeenCause]] = {}
    for run in _newest_first(runs):
        for each in run.causes:
            seen.setdefault(each.key, {})[run] = each
    found = [_site_cause(each) for each in seen.values()]
    groups, tiers = ({each.heading: place for place, each in enumerate(those)} for those in (GROUPS, TIERS))

    def order(each: SiteCause) -> tuple[int, int, Use, int, CauseKey]:
        use = use_of(each.operators)
        return (
            # Of a run without its suite nobody knows it.
            groups.get(each.first.group, groups[NOBODY.heading]),
            tiers.get(each.first.tier, 0),
            Use(-use.models, -use.nodes),
            -len(each.cases),
            each.key,
        )

    found.sort(key=order)
    return {each.key: each for each in found}


def _newest_first(runs: KeptRuns) -> Iterator[ArchivedRun]:
    for series in runs.series.values():
        yield from reversed(series)


def _site_cause(seen: Mapping[ArchivedRun, SeenCause]) -> SiteCause:
    first = next(iter(seen.values()))
    # Of equal calls the first, which is the newest run's: what is shown is what users meet today.
    run, shown = min(seen.items(), key=lambda each: each[1].example.rank)
    return SiteCause(first, run, shown.example, seen)


def cause_in_runs(cause: SiteCause, runs: Sequence[ArchivedRun]) -> tuple[CauseInRun, ...]:
    """What each run makes of all the cases of a cause."""
    return tuple(_in_run(cause, each) for each in runs)


def _in_run(cause: SiteCause, run: ArchivedRun) -> CauseInRun:
    own = cause.seen.get(run)
    by_it = frozenset(own.cases) if own is not None else frozenset[str]()
    others = [run.verdicts.get(each) for each in cause.cases if each not in by_it]
    return CauseInRun(
        run,
        len(by_it),
        sum(each in HOLDING for each in others),
        sum(each in FAILING for each in others),
        others.count("unsupported"),
        sum(each is None or each in NOT_JUDGED for each in others),
        run.verdicts.get(cause.example.case),
    )
