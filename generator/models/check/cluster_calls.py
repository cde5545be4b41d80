"""Cases of the calls of a model made by the workers of a cluster, each call for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.checked_models.model_calls import ModelCall
from conformance.clusters.cluster import Cluster
from conformance.clusters.worker_answers import Lost, on_worker
from conformance.models.case_models import Form
from conformance.suite.goldens import read_golden, write_golden
from generator.models.check.call_cases import CallCases, NotCovered
from generator.models.check.call_keys import key_of_call
from generator.models.check.making import MOST_CASES, cases_of_call
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line


@dataclass(frozen=True, eq=False)
class CallGoldens:
    """The cases of a call as goldens, and the rest as `CallCases` has it."""

    goldens: tuple[bytes, ...]
    not_covered: NotCovered | None
    fixed: Mapping[str, str]
    given_up: tuple[str, ...]
    varied: Mapping[str, tuple[str, ...]]
    pairs: int
    covered_pairs: int
    forms: tuple[Form, ...]

    @classmethod
    def of(cls, made: CallCases) -> CallGoldens:
        return cls(
            tuple(write_golden(each)[0] for each in made.cases),
            made.not_covered,
            made.fixed,
            made.given_up,
            made.varied,
            made.pairs,
            made.covered_pairs,
            made.forms,
        )

    def cases_of(self, call: ModelCall) -> CallCases:
        """The cases of the call; UserError where a golden is none, or none of this call's operator."""
        cases = tuple(map(read_golden, self.goldens))
        for each in cases:
            if each.operator != call.operator or each.call_digest() != each.id.digest:
                raise UserError("a case of something else", got=str(each.id))
        return CallCases(
            call,
            key_of_call(call),
            cases,
            self.not_covered,
            self.fixed,
            self.given_up,
            self.varied,
            self.pairs,
            self.covered_pairs,
            self.forms,
        )


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
