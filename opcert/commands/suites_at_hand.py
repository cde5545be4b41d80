"""Suites of many records: each opened once, with its cases read once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from opcert.commands.cause_finding import with_known_causes
from opcert.commands.operator_facts import with_operator_facts
from opcert.commands.suite_argument import resolve_suite
from reports.results.case_results import Results, blank_results, fill

if TYPE_CHECKING:
    from conformance.recording.records import Record
    from conformance.suite.suites import Suite


class SuitesAtHand:
    """The suites that are named, and those that are kept, by their digests; a context, which closes them."""

    def __init__(self, names: Sequence[str] = (), known_files: tuple[Path, ...] = ()) -> None:
        self._names = [*names]
        self._known_files = known_files
        self._blank: dict[str, Results | None] = {}

    def __enter__(self) -> Self:
        for each in self._names:
            suite = resolve_suite(each)
            self._add(suite)
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._blank.values():
            if each is not None:
                each.suite.close()

    def results_of(self, record: Record) -> Results | None:
        """A record beside its suite, with what entries tell of its causes; None where that is not at hand."""
        digest = str(record.header.get("suite"))
        if digest not in self._blank:
            self._find(digest)
        blank = self._blank[digest]
        if blank is None:
            return None
        return with_known_causes(fill(blank, record), (), self._known_files)

    def _find(self, digest: str) -> None:
        from conformance.suite.kept_suites import kept_suite
        from conformance.suite.suites import open_suite

        path = kept_suite(digest)
        self._blank[digest] = None
        if path is not None:
            self._add(open_suite(path))

    def _add(self, suite: Suite) -> None:
        self._blank[suite.digest] = with_operator_facts(blank_results(suite))
