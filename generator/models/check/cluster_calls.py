"""Cases of the calls of a model made by the workers of a cluster, each call for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.checked_models.model_calls import ModelCall
from conformance.clusters.cluster import Cluster
from conformance.clusters.worker_answers import Lost, on_worker
from generator.models.check.call_cases import CallCases, CallGoldens
from generator.models.check.making import MOST_CASES, cases_of_call
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line


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
    alone = (ModelCall(each.first, (each.first,)) for each in calls)
    units = (((place, each), (sources, each)) for place, each in enumerate(alone))
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
