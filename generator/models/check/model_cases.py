"""The cases of all calls of a model, each call for itself, made once and kept; and a suite of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from onnx import ModelProto

from conformance.adopting.adopted_cases import WRITTEN_AS
from conformance.checked_models.model_calls import ModelCall
from conformance.clusters.cluster import Cluster
from conformance.clusters.worker_answers import Lost, on_worker, read_value, write_value
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.protos import read_attribute
from conformance.suite.store import Store
from conformance.suite.suite_parts import SuitePart, make_part
from conformance.suite.suites import Suite, write_suite_of_parts
from generator.asking.named_operators import referenced_operators
from generator.calls.declared.declared_levels import DeclaredLevels
from generator.calls.space.space import open_space
from generator.making.operators.discovery import load_rules
from generator.making.operators.sources import SourceReader, code_files, digest_of_many
from generator.making.operators.workshop import Options, Workshop
from generator.making.suites.manifest_facts import operator_facts
from generator.making.suites.suite_making import known_causes
from generator.models.check.call_cases import CallCases, CallGoldens, key_of_call
from generator.models.check.making import MOST_CASES, cases_of_call
from opcert.vocabulary.attributes import Attribute
from opcert.vocabulary.errors import NothingRan, Place, UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.process_pools import broken_off, process_pool
from opcert.vocabulary.user_folders import cache_folder
from reference.registry import reference_of
from specs.files.library import load_spec

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


_NODE = "node"


def node_tests_of_call(call: ModelCall, suite: Suite) -> tuple[Case, ...]:
    """The cases of a suite of node tests that make a call of the same operator version and attributes.

    An attribute that is left out is the same as one that has its default. Element types, ranks and values
    may be others: that is what makes them weaker evidence than cases of the very call.
    """
    node = call.first
    if node.operator is None or node.unread:
        return ()
    wanted = _said(node.operator, node.attributes)
    cases = (suite.case(name) for name in suite.case_ids if name.startswith(f"{node.operator.path}/"))
    return tuple(
        case
        for case in cases
        if (found := _attributes_of(case)) is not None and _said(node.operator, found) == wanted
    )


def _attributes_of(case: Case) -> Mapping[str, Attribute] | None:
    """The attributes of the one node of a test; None where it is written as several."""
    if case.levels.get(WRITTEN_AS, _NODE) != _NODE:
        return None
    if case.model is None:
        return case.attributes
    nodes = [
        node
        for node in ModelProto.FromString(case.model).graph.node
        if node.op_type == case.operator.name and (node.domain or "ai.onnx") == case.operator.domain
    ]
    if len(nodes) != 1:
        return None
    try:
        return {attribute.name: read_attribute(attribute) for attribute in nodes[0].attribute}
    except UserError:
        return None


def _said(operator: OperatorName, attributes: Mapping[str, Attribute]) -> Mapping[str, object]:
    """What attributes say, without those that have their default."""
    said = {name: _plain(attribute.value) for name, attribute in attributes.items()}
    defaults = _defaults(operator)
    return {name: each for name, each in said.items() if name not in defaults or defaults[name] != each}


@cache
def _defaults(operator: OperatorName) -> Mapping[str, object]:
    try:
        spec = load_spec(operator)
    except UserError:
        return {}
    return {
        name: _plain(attribute.default)
        for name, attribute in spec.attributes.items()
        if attribute.has_default
    }


def _plain(value: object) -> object:
    """A value that is equal to others that say the same: attributes have floats of 32 bits."""
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return float(np.float32(value)) if isinstance(value, float) else value


def write_model_suite(
    path: Path, made: Sequence[CallCases], options: Mapping[str, Any], chains: Sequence[Case] = ()
) -> str:
    """Write the cases of calls as a suite, to a folder or to a `.zip`; returns its digest.

    Ids of cases have the word of their call, `call_<key>`; node tests keep their own. The facts of the
    manifest say under `calls` what `CallCases` says of each call that has cases. `options` go into the
    manifest as they are. `chains` are cases of nodes in a row, each of another id. Raises NothingRan where
    there is no case at all, UserError where the place cannot be written.
    """
    cases = {
        str(case.id): case for call_cases in made for case in (*call_cases.cases, *call_cases.node_tests)
    }
    cases |= {str(case.id): case for case in chains}
    if not cases:
        raise NothingRan(
            "none of the model's calls has a case",
            got="; ".join(call_cases.not_covered.text for call_cases in made if call_cases.not_covered)[:500]
            or "no calls",
        )
    by_operator: dict[OperatorName, list[Case]] = defaultdict(list)
    for case in cases.values():
        by_operator[case.operator].append(case)
    parts = [_part(operator, own) for operator, own in sorted(by_operator.items())]
    facts = {
        "operators": {str(part.operator): part.facts for part in parts if part.facts},
        "calls": {
            call_cases.key: _call_facts(call_cases)
            for call_cases in made
            if call_cases.cases or call_cases.node_tests
        },
    }
    known = known_causes([part.operator for part in parts], ())
    chosen = {"operators": sorted(str(part.operator) for part in parts), **options}
    return write_suite_of_parts(path, parts, facts, chosen, known)


def _part(operator: OperatorName, cases: Sequence[Case]) -> SuitePart:
    if operator not in referenced_operators():
        return make_part(operator, cases, {})
    # Calls of a model are no covering array: there are no factors whose combinations could be counted.
    spec = replace(load_rules(operator), factors=(), exclusions=(), interactions=())
    reference = reference_of(spec)
    levels = DeclaredLevels(open_space(load_spec(operator)))
    workshop = Workshop(spec, reference, levels, Options())
    workshop.cases = {case.id.digest: case for case in cases}
    return make_part(operator, cases, operator_facts(workshop))


def _call_facts(made: CallCases) -> dict[str, Any]:
    return {
        "operator": str(made.call.operator),
        "nodes": [node.place for node in made.call.nodes],
        "fixed": dict(made.fixed),
        "given_up": list(made.given_up),
        "varied": {name: list(levels) for name, levels in made.varied.items()},
        "pairs": made.pairs,
        "covered_pairs": made.covered_pairs,
        "forms": list(made.forms),
        "node_tests": [str(node_test.id) for node_test in made.node_tests],
    }
