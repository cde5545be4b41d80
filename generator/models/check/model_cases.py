"""The cases of all calls of a model: each call for itself, made once and kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from functools import partial

from conformance.checked_models.model_calls import ModelCall
from conformance.clusters.cluster import Cluster
from generator.models.check.call_cases import CallCases
from generator.models.check.cluster_calls import make_on_cluster
from generator.models.check.kept_calls import KeptCalls
from generator.models.check.making import MOST_CASES, cases_of_call
from opcert.vocabulary.process_pools import broken_off, process_pool

_AGAIN = "Give it more memory, and try again: the cases of calls before it are kept."
_FEW = 12
"""Calls that are made sooner than another process has started."""


def cases_of_calls(
    calls: Sequence[ModelCall],
    *,
    keep: bool = True,
    processes: int = 1,
    told: Callable[[CallCases], object] = lambda _: None,
    cluster: Cluster | None = None,
) -> tuple[CallCases, ...]:
    """What is made of each call, in their order, whoever makes it: `processes`, the cache or a cluster.

    With `keep`, calls that were made before come from the user's cache, and others go there. `told` is told
    of each call whose cases are there. Errors in one call are told in its `not_covered`. Where there is a
    `cluster`, it makes them instead of this machine, and UserError is raised as `make_on_cluster` says.
    """
    cache = KeptCalls() if keep else None
    found = {} if cache is None else {place: cache.find(each) for place, each in enumerate(calls)}
    missing = [place for place in range(len(calls)) if found.get(place) is None]
    made: list[CallCases] = []
    makers = _made([calls[place] for place in missing], processes if len(missing) > _FEW else 1, cluster)
    with closing(makers):
        for place, call in enumerate(calls):
            known = found.get(place)
            if known is None:
                known = replace(next(makers), call=call)
                if cache is not None:
                    cache.keep(known)
            made.append(known)
            told(known)
    return tuple(made)


def _made(
    calls: Sequence[ModelCall], processes: int, cluster: Cluster | None
) -> Generator[CallCases, None, None]:
    """The cases of calls one after the other: made here, in some processes, or on a cluster."""
    if cluster is not None:
        yield from make_on_cluster(cluster, calls)
    elif processes == 1:
        yield from map(cases_of_call, calls)
    else:
        jobs: dict[str, Future[CallCases]] = {}
        left = partial(broken_off, jobs)
        with process_pool(processes, "making the cases of", left, remedy=_AGAIN) as pool:
            for number, call in enumerate(calls, start=1):
                named = f"{call.operator} (call {number} of {len(calls)})"
                jobs[named] = pool.submit(cases_of_call, call, MOST_CASES)
            for job in jobs.values():
                yield job.result()
