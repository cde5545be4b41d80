"""A chain as a case of the family `pair`: of the operator of its last node, with the model that it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.suite.cases import Case, call_digest
from generator.models.chains.chain_models import write_chain
from generator.models.chains.chains import Chain
from generator.models.chains.pushing import expectations_of_chain
from opcert.vocabulary.names import CHAINS, CaseId


def case_of_chain(chain: Chain) -> Case:
    """The case of a chain; raises Unpushed where nobody can say what must come out.

    Its levels name `producer` and `consumer` (the first and the last node), the whole `chain` where there are
    more than two nodes, and what tells it from other chains of its word.
    """
    expectations = expectations_of_chain(chain)
    outputs = {each.name: each for each in expectations[0].outputs}
    model = write_chain(chain, outputs)
    first = next((each for _, each in chain.given), None)
    levels = {"producer": chain.links[0].operator.name, "consumer": chain.owner.name}
    if len(chain.links) > 2:
        levels["chain"] = chain.path
    return Case(
        id=CaseId(chain.owner, CHAINS, chain.word, call_digest(chain.owner, {}, chain.given, model)),
        element_type=(expectations[0].outputs[0].expected if first is None else first).element_type,
        attributes={},
        inputs=chain.given,
        output_names=chain.outputs,
        demand="answer",
        expectations=expectations,
        levels=levels | dict(chain.levels),
        rule=chain.why or None,
        model=model,
    )


def distinct_cases(chains: Iterable[Chain]) -> Iterator[Case]:
    """The cases of chains, each once."""
    seen: set[str] = set()
    for each in chains:
        case = case_of_chain(each)
        if str(case.id) not in seen:
            seen.add(str(case.id))
            yield case
