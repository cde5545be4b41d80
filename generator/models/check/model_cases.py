"""The cases of all calls of a model: each call for itself, made once and kept, as what is made of chains."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

from conformance.checked_models.model_calls import ModelCall
from conformance.clusters.cluster import Cluster
from conformance.clusters.worker_answers import Lost, on_worker, read_value, write_value
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.store import Store
from generator.making.operators.sources import SourceReader, code_files, digest_of_many
from generator.models.check.call_cases import CallCases, CallGoldens, key_of_call
from generator.models.check.making import MOST_CASES, cases_of_call
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import broken_off, process_pool
from opcert.vocabulary.user_folders import cache_folder

Kept = TypeVar("Kept")
Found = TypeVar("Found")
MOST_KEPT = 4_000
"""So many values stay in a folder, those that were used last."""
_LARGEST = 1 << 28


class PartCache(Generic[Kept]):
    """A folder beside the suites, with values of one type, of the code and the declarations of now."""

    def __init__(self, folder: str, kind: type[Kept]) -> None:
        self._store = Store(cache_folder() / folder, MOST_KEPT, largest=_LARGEST, sealed=True)
        self._kind = kind
        self._reader = SourceReader()
        self._code: str | None = None

    def find(
        self, operators: Sequence[OperatorName | None], said: str, take: Callable[[Kept], Found]
    ) -> Found | None:
        """What is taken from a value; None where it is not kept, or is not what was written."""
        key = self._key(operators, said)
        try:
            raw = None if key is None else self._store.find(key)
            return None if raw is None else take(read_value(raw, self._kind, said))
        except Exception:  # noqa: BLE001 - whatever is in a file, it is made again
            return None

    def keep(self, operators: Sequence[OperatorName | None], said: str, value: Kept) -> None:
        """Keep a value; a cache that cannot be written keeps nothing."""
        key = self._key(operators, said)
        if key is not None:
            self._store.keep(key, write_value(value, self._kind, said))

    def _key(self, operators: Sequence[OperatorName | None], said: str) -> str | None:
        """The key of what was said about operators; None where it can be kept nowhere."""
        if None in operators:
            return None
        try:
            sources = [self._reader.spec_digests(operator) for operator in operators if operator is not None]
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        if self._code is None:
            self._code = digest_of_many(code_files())
        return sha256(canonical_json([said, *map(str, operators), self._code, sources]))


@on_worker
def make_call_on_worker(call: ModelCall) -> CallGoldens:
    """The cases of a call, as `cases_of_call` makes them anywhere."""
    return CallGoldens.of(cases_of_call(call, MOST_CASES))


def make_on_cluster(cluster: Cluster, calls: Sequence[ModelCall]) -> Iterator[CallCases]:
    """The cases of each call, in the order of the calls, whichever comes first.

    Raises as `Cluster.each` does, and UserError where all workers of a call are lost, or one makes no cases
    of it.
    """
    sources = project_digest()
    came: dict[int, CallCases] = {}
    # A node that makes the call is enough, and a model may have thousands.
    alone = (ModelCall(call.first, (call.first,)) for call in calls)
    units = (((place, model_call), (sources, model_call)) for place, model_call in enumerate(alone))
    answers = cluster.each(make_call_on_worker, units)
    following = 0
    for (place, call), found in answers:
        node = call.first
        name = f"{node.op_type or node.operator}, node {node.place}"
        if isinstance(found, Lost):
            raise UserError(
                "the workers that made cases of a call were lost again and again",
                got=f"{name}: {found.reason}",
                remedy="Give them more memory. What others have made is kept: ask again for the rest.",
            )
        try:
            came[place] = found.cases_of(call)
        except (UserError, ValueError) as error:
            raise UserError(
                "a worker's cases of a call are none of it",
                got=one_line(f"{name}: {error}", 300),
                where=Place(cluster.address),
                remedy="Look at what runs there. What others have made is kept: ask again for the rest.",
            ) from error
        while following in came:
            yield came.pop(following)
            following += 1


_NOT_KEPT = ("failed", "too_slow")
"""What is made again: it may be a mistake of ours, or this machine's slowness."""
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
    cache = PartCache("calls", CallGoldens) if keep else None
    found = {} if cache is None else {place: _kept(cache, call) for place, call in enumerate(calls)}
    missing = [place for place in range(len(calls)) if found.get(place) is None]
    made: list[CallCases] = []
    makers = _made([calls[place] for place in missing], processes if len(missing) > _FEW else 1, cluster)
    with closing(makers):
        for place, call in enumerate(calls):
            known = found.get(place)
            if known is None:
                known = replace(next(makers), call=call)
                left = None if known.not_covered is None else known.not_covered.why
                if cache is not None and left not in _NOT_KEPT:
                    cache.keep([call.operator], known.key, CallGoldens.of(known))
            made.append(known)
            told(known)
    return tuple(made)


def _kept(cache: PartCache[CallGoldens], call: ModelCall) -> CallCases | None:
    return cache.find([call.operator], key_of_call(call), lambda kept: kept.cases_of(call))


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
