"""A chain as a case of the family `pair`: of the operator of its last node, with the model that it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from onnx import ModelProto, OperatorSetIdProto

from conformance.models.case_models import add_node
from conformance.models.ir_versions import least_ir_version
from conformance.suite.cases import Case, ExpectedOutput, call_digest
from conformance.suite.protos import declare_tensor, write_tensor
from generator.models.chains.chains import Chain
from generator.models.chains.pushing import expectations_of_chain
from opcert.vocabulary.names import CHAINS, CaseId

_OURS = "ai.onnx"
_BESIDE_OTHERS = 13


def write_chain(chain: Chain, outputs: Mapping[str, ExpectedOutput]) -> bytes:
    """The serialized ModelProto of a chain; `outputs` tell what it declares of those that are asked for.

    Its operator sets are the oldest that hold the nodes, or the chain's own. Only constants that its nodes
    take stand in it.
    """
    model = ModelProto(producer_name="opcert")
    opsets: dict[str, int] = {_OURS: chain.opset}
    for link in chain.links:
        operator = link.operator
        opsets[operator.domain] = max(opsets.get(operator.domain, 0), operator.since_version)
    opsets[_OURS] = opsets[_OURS] or _BESIDE_OTHERS
    model.opset_import.extend(
        OperatorSetIdProto(domain="" if domain == _OURS else domain, version=version)
        for domain, version in sorted(opsets.items())
    )
    graph = model.graph
    graph.name = "chain"
    for link in chain.links:
        add_node(graph, link.operator, link.attributes, link.inputs, link.outputs)
    for name, tensor in chain.given:
        shape = chain.shapes.get(name, tensor.shape)
        declare_tensor(graph.input.add(), name, tensor.element_type, shape)
    taken = {name for link in chain.links for name in link.inputs}
    graph.initializer.extend(
        write_tensor(constant, name) for name, constant in chain.constants if name in taken
    )
    for name in chain.outputs:
        expected = outputs[name].expected
        declare_tensor(graph.output.add(), name, expected.element_type, [None] * len(expected.shape))
    types = {tensor.element_type.name for tensor in chain.data.values()}
    types |= {output.expected.element_type.name for output in outputs.values()}
    model.ir_version = least_ir_version(model.opset_import, types)
    return bytes(model.SerializeToString(deterministic=True))


def case_of_chain(chain: Chain) -> Case:
    """The case of a chain; raises Unpushed where nobody can say what must come out.

    Its levels name `producer` and `consumer` (the first and the last node), the whole `chain` where there are
    more than two nodes, and what tells it from other chains of its word.
    """
    expectations = expectations_of_chain(chain)
    outputs = {output.name: output for output in expectations[0].outputs}
    model = write_chain(chain, outputs)
    first = next((tensor for _, tensor in chain.given), None)
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
    for chain in chains:
        case = case_of_chain(chain)
        if str(case.id) not in seen:
            seen.add(str(case.id))
            yield case
