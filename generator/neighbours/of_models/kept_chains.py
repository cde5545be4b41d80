"""Chains of models in the user's cache, by what their nodes say and what their cases are made from."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from conformance.checked_models.model_calls import Extent, ModelCall
from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.kept_suites import suites_folder
from conformance.suite.suite_parts import cases_in, make_part, part_bytes, read_part
from generator.checking.call_keys import key_of_call
from generator.making.sources import SourceReader
from generator.neighbours.of_models.node_groups import NodeGroup
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular

MOST_KEPT = 4_000
"""So many chains stay in the cache, those that were made last."""
_LARGEST = 1 << 28
_MODULES = (
    "generator.neighbours.of_models.model_chains",
    "generator.spaces.declared_kinds",
    "specs.functions",
)


class KeptChains:
    """The chains of the cache, of the code and the references of now."""

    def __init__(self) -> None:
        self._reader = SourceReader()
        self._code: str | None = None

    def find(self, group: NodeGroup, opsets: Mapping[str, int]) -> tuple[Case | None, str] | None:
        """The case that was made before of a group, or why there is none; None where nothing is kept."""
        path = self._path(group, opsets)
        if path is None:
            return None
        try:
            part = read_part(read_regular(path, _LARGEST))
            cases = tuple(cases_in(part))
            return (cases[0], "") if cases else (None, str(part.facts["why"]))
        except Exception:  # noqa: BLE001 - whatever is in a file, it is made again
            return None

    def keep(self, group: NodeGroup, opsets: Mapping[str, int], case: Case | None, why: str) -> None:
        """Keep what was made of a group; a cache that cannot be written keeps nothing."""
        path, operator = self._path(group, opsets), group.nodes[-1].operator
        if path is None or operator is None:
            return
        part = make_part(operator, () if case is None else (case,), {"why": why})
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch_folder("chain", path.parent) as making:
                (making / path.name).write_bytes(part_bytes(part))
                (making / path.name).replace(path)

    def trim(self) -> None:
        """Remove the oldest of more chains than are kept."""
        with suppress(OSError):
            kept = [each for each in _folder().iterdir() if each.is_file()]
            for each in sorted(kept, key=lambda path: path.stat().st_mtime_ns, reverse=True)[MOST_KEPT:]:
                each.unlink()

    def _path(self, group: NodeGroup, opsets: Mapping[str, int]) -> Path | None:
        operators = [each.operator for each in group.nodes if each.operator is not None]
        if len(operators) < len(group.nodes):
            return None
        try:
            sources = self._sources(operators)
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        return _folder() / sha256(canonical_json([key_of_group(group, opsets), sources]))

    def _sources(self, operators: list[OperatorName]) -> list[str]:
        if self._code is None:
            files = self._reader.imported_files(_MODULES)
            self._code = sha256(b"\0".join(path.read_bytes() for path in files))
        return [self._code, *(self._reader.sources_of(each).digest for each in operators)]


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


def _folder() -> Path:
    """Where chains are kept: beside the suites."""
    return suites_folder().with_name("chains")
