"""The cases of all calls of a model: each call for itself, made once and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from types import TracebackType

from conformance.checked_models.model_calls import ModelCall
from conformance.clusters.cluster import Cluster
from conformance.suite.suites import Suite
from generator.models.check.call_cases import CallCases
from generator.models.check.cluster_calls import make_on_cluster
from generator.models.check.kept_calls import KeptCalls
from generator.models.check.making import MOST_CASES, cases_of_call
from generator.models.check.node_tests import node_tests_of_call
from opcert.vocabulary.process_pools import broken_off, process_pool

_AGAIN = "Give it more memory, and try again: the cases of calls before it are kept."
_FEW = 12
"""Calls that are made sooner than another process has started."""


def cases_of_calls(
    calls: Sequence[ModelCall],
    *,
    node_tests: Suite | None = None,
    keep: bool = True,
    processes: int = 1,
    told: Callable[[CallCases], object] = lambda _: None,
    cluster: Cluster | None = None,
) -> tuple[CallCases, ...]:
    """What is made of each call, in their order, whoever makes it: `processes`, the cache or a cluster.

    With `keep`, calls that were made before come from the user's cache, and others go there. `node_tests`, a
    suite of ONNX's node tests, is asked for those of each call without cases. `told` is told of each call
    whose cases are there. Errors in one call are told in its `not_covered`. Where there is a `cluster`, it
    makes them instead of this machine, and UserError is raised as `make_on_cluster` says.
    """
    cache = KeptCalls() if keep else None
    found = {} if cache is None else {place: cache.find(each) for place, each in enumerate(calls)}
    missing = [place for place in range(len(calls)) if found.get(place) is None]
    made: list[CallCases] = []
    with _Makers(processes if len(missing) > _FEW else 1, cluster) as makers:
        makers.begin([calls[place] for place in missing])
        for place, call in enumerate(calls):
            known = found.get(place)
            if known is None:
                known = replace(makers.next(), call=call)
                if cache is not None:
                    cache.keep(known)
            if not known.cases and node_tests is not None:
                known = replace(known, node_tests=node_tests_of_call(call, node_tests))
            made.append(known)
            told(known)
    return tuple(made)


class _Makers:
    """Makes the cases of calls one after the other: here, in some processes, or on a cluster."""

    def __init__(self, processes: int, cluster: Cluster | None) -> None:
        self._cluster = cluster
        self._open = ExitStack()
        self._jobs: dict[str, Future[CallCases]] = {}
        left = partial(broken_off, self._jobs)
        self._pool = (
            self._open.enter_context(process_pool(processes, "making the cases of", left, remedy=_AGAIN))
            if processes > 1 and cluster is None
            else None
        )
        self._results: Iterator[CallCases] = iter(())

    def begin(self, calls: Sequence[ModelCall]) -> None:
        """The calls that `next` gives the cases of, in this order."""
        if self._cluster is not None:
            self._results = make_on_cluster(self._cluster, calls)
        elif self._pool is not None:
            for number, call in enumerate(calls, start=1):
                named = f"{call.operator} (call {number} of {len(calls)})"
                self._jobs[named] = self._pool.submit(cases_of_call, call, MOST_CASES)
            self._results = (each.result() for each in self._jobs.values())
        else:
            self._results = map(cases_of_call, calls)

    def next(self) -> CallCases:
        """The cases of the next call."""
        return next(self._results)

    def __enter__(self) -> _Makers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)
