"""Chains of models in the user's cache, by what their nodes say and what their cases are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.checked_models.model_calls import Extent, ModelCall
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.goldens import read_golden, write_golden
from generator.models.check.call_keys import key_of_call
from generator.models.check.part_cache import PartCache
from generator.models.model_chains.node_groups import NodeGroup
from opcert.vocabulary.names import OperatorName


@dataclass(frozen=True)
class KeptChain:
    """The golden of a chain's case, or why it has none."""

    golden: bytes | None
    why: str

    def case(self) -> tuple[Case | None, str]:
        return None if self.golden is None else read_golden(self.golden), self.why


class KeptChains(PartCache[KeptChain]):
    """The chains of the cache, of the code and the references of now."""

    def __init__(self) -> None:
        super().__init__("chains", KeptChain)

    def find(self, group: NodeGroup, opsets: Mapping[str, int]) -> tuple[Case | None, str] | None:
        """The case that was made before of a group, or why there is none; None where nothing is kept."""
        return self._read(_operators(group), key_of_group(group, opsets), KeptChain.case)

    def keep(self, group: NodeGroup, opsets: Mapping[str, int], case: Case | None, why: str) -> None:
        """Keep what was made of a group; a cache that cannot be written keeps nothing."""
        kept = KeptChain(None if case is None else write_golden(case)[0], why)
        self._write(_operators(group), key_of_group(group, opsets), kept)


def _operators(group: NodeGroup) -> list[OperatorName | None]:
    return [node.operator for node in group.nodes]


def key_of_group(group: NodeGroup, opsets: Mapping[str, int]) -> str:
    """What a group says as a digest: equal for equal ones, whatever a model names its values and extents."""
    names: dict[str, str] = {}

    def extent(each: Extent) -> Extent:
        return names.setdefault(each, f"n{len(names)}") if isinstance(each, str) else each

    # Names of extents are told apart over all nodes: those of each call are so within it alone.
    extents = [
        [None if one is None or one.shape is None else [extent(each) for each in one.shape] for one in values]
        for node in group.nodes
        for values in (node.inputs, node.outputs)
    ]
    calls = [key_of_call(ModelCall(each, (each,))) for each in group.nodes]
    wanted = [[each is not None for each in node.outputs] for node in group.nodes]
    said = [calls, extents, wanted, group.wiring, opsets.get("ai.onnx", opsets.get("", 0))]
    return sha256(canonical_json(said))
