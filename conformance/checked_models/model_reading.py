"""Reading a model that somebody has: what each of its nodes asks of a runtime, without trusting the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import ModelProto, NodeProto
from onnx import __version__ as onnx_version
from onnx.defs import SchemaError, get_all_schemas_with_history, get_schema, onnx_opset_version

from conformance.checked_models.folding import MOST_FOLDED
from conformance.checked_models.inlining import Inlined, graphs_of, imported, inline_functions, long_domain
from conformance.checked_models.model_calls import ModelCall, ModelFacts, ModelNode
from conformance.checked_models.model_nodes import NodeReader
from conformance.checked_models.model_values import text
from conformance.checked_models.node_order import Disorder, sort_nodes
from conformance.checked_models.outside_data import read_small_data
from conformance.checked_models.skeletons import Skeleton, read_skeleton
from conformance.checked_models.type_inference import SECONDS, infer_types
from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

_LARGEST = 2**31 - 1
Found = tuple[OperatorName | None, str | None]


class OperatorVersions:
    """Operator versions by the installed onnx package, and beside it those that somebody has specs of."""

    def __init__(self, known: Iterable[OperatorName] = ()) -> None:
        self._known: dict[tuple[str, str], list[OperatorName]] = {}
        for each in known:
            self._known.setdefault((each.domain, each.name), []).append(each)
        self._domains = {each.domain for each in get_all_schemas_with_history()}
        self._found: dict[tuple[str, str, int | None], Found] = {}

    def find(self, domain: str, op_type: str, opsets: Mapping[str, int]) -> Found:
        """The operator version of a node; or, where that is none, what is wrong, in a sentence."""
        key = (long_domain(domain), op_type, opsets.get(long_domain(domain)))
        if key not in self._found:
            self._found[key] = self._find(*key)
        return self._found[key]

    def _find(self, domain: str, op_type: str, version: int | None) -> Found:
        if version is None:
            return None, f"the model imports no version of the domain {one_line(domain, 80)}"
        if not 0 < version <= _LARGEST:
            return None, f"opset {version} of {one_line(domain, 80)} is no version that there can be"
        try:
            plain = OperatorName.parse(f"{domain}::{op_type}-{version}")
        except UserError:
            return None, f"no name of an operator: {one_line(f'{domain}::{op_type}', 120)}, opset {version}"
        short = "" if domain == "ai.onnx" else domain
        newest = max(
            (each for each in self._known.get((domain, op_type), ()) if each.since_version <= version),
            key=lambda each: each.since_version,
            default=None,
        )
        too_new = not short and version > onnx_opset_version()
        if short in self._domains and not too_new:
            try:
                since = get_schema(op_type, version, short).since_version
            except SchemaError:
                since = None
            if since is not None and (newest is None or since >= newest.since_version):
                return OperatorName(domain, op_type, since), None
        if newest is not None and not too_new:
            return newest, None
        if too_new:
            known = f"onnx {onnx_version} knows those up to {onnx_opset_version()}"
            return None, f"opset {version} of ai.onnx is newer than is known here: {known}"
        if short in self._domains:
            return None, f"{domain} has no operator {op_type} in opset {version}"
        return plain, None


MOST_NODES = 300_000
MOST_ATTRIBUTES = 2_000_000
MOST_PARTS = 10_000
"""Attributes, inputs or outputs of one node."""
_FIRST_WITH_FREE_INITIALIZERS = 4


def read_model(path: Path, *, known: Iterable[OperatorName] = (), seconds: float = SECONDS) -> ModelFacts:
    """What a model asks of a runtime, node by node; its weights are not read.

    `known` are operator versions beside those of the installed onnx package. Shape inference takes at most
    `seconds`. Names are the model's own text: whoever shows them makes them harmless first.
    Raises UserError where the file cannot be read, is no model, or is more than can be looked at.
    """
    skeleton = read_skeleton(path)
    model = _parse(skeleton, path)
    _check_size(model, path)
    notes = ["training information is passed over"] if skeleton.has_training else []
    notes += read_small_data(model, path.parent)
    opsets = imported(model.opset_import)
    inlined = inline_functions(model)
    disorder = Disorder()
    sort_nodes(model.graph, disorder)
    notes += [*inlined.notes, *disorder.notes()]
    tables, told = infer_types(model, seconds)
    reader = NodeReader(_Finder(OperatorVersions(known), opsets, inlined), tables)
    reader.read(model.graph)
    notes += told
    if not reader.nodes:
        notes.append("the graph has no node")
    if reader.replaceable and model.ir_version >= _FIRST_WITH_FREE_INITIALIZERS:
        notes.append(
            f"{reader.replaceable} inputs of the graph have values in the model, which are taken for fixed"
        )
    if reader.unfolded:
        notes.append(
            f"what {reader.unfolded} nodes make of fixed numbers is not worked out: "
            f"those of the model come to more than {MOST_FOLDED:,} elements"
        )
    notes += _unknown(reader.nodes)
    nodes = tuple(reader.nodes)
    return ModelFacts(
        str(path), skeleton.sha256, dict(sorted(opsets.items())), nodes, group_calls(nodes), tuple(notes)
    )


def _parse(skeleton: Skeleton, path: Path) -> ModelProto:
    model = ModelProto()
    try:
        model.ParseFromString(skeleton.raw)
    except DecodeError as error:
        raise UserError(
            "this is no ONNX model",
            got=one_line(str(error)),
            expected="a serialized ModelProto",
            where=Place(str(path)),
        ) from error
    if not model.HasField("graph"):
        raise UserError(
            "this is no ONNX model: it has no graph",
            expected="a serialized ModelProto",
            where=Place(str(path)),
        )
    return model


def _check_size(model: ModelProto, path: Path) -> None:
    count = parts = 0
    graphs = [model.graph.node, *(each.node for each in model.functions)]
    while graphs:
        nodes = graphs.pop()
        count += len(nodes)
        if count > MOST_NODES:
            raise _too_many("nodes", path, count, MOST_NODES)
        for node in nodes:
            if max(len(node.attribute), len(node.input), len(node.output)) > MOST_PARTS:
                most = max(len(node.attribute), len(node.input), len(node.output))
                raise _too_many("attributes, inputs or outputs of a node", path, most, MOST_PARTS)
            parts += len(node.attribute)
            if parts > MOST_ATTRIBUTES:
                raise _too_many("attributes", path, parts, MOST_ATTRIBUTES)
            graphs += [graph.node for each in node.attribute for _, graph in graphs_of(each)]


def _too_many(what: str, path: Path, got: int, most: int) -> UserError:
    return UserError(
        f"the model has more {what} than are read",
        got=f"{got:,}",
        expected=f"at most {most:,}",
        where=Place(str(path)),
    )


class _Finder:
    def __init__(self, versions: OperatorVersions, opsets: Mapping[str, int], inlined: Inlined) -> None:
        self._versions, self._opsets, self._inlined = versions, opsets, inlined

    def __call__(self, node: NodeProto) -> Found:
        left = self._inlined.left.get(node.doc_string)
        if left is not None:
            return None, f"a function of the model that is not looked into: {left}"
        opsets = self._inlined.opsets.get(node.doc_string, self._opsets)
        return self._versions.find(text(node.domain), text(node.op_type), opsets)


def _unknown(nodes: Iterable[ModelNode]) -> list[str]:
    """The nodes of no known operator, in a sentence for each reason."""
    reasons: dict[str, int] = {}
    for each in nodes:
        if each.unknown is not None:
            reasons[each.unknown] = reasons.get(each.unknown, 0) + 1
    told = [f"{count} nodes are of no known operator: {why}" for why, count in reasons.items()]
    return told[:10]


def group_calls(nodes: Iterable[ModelNode]) -> tuple[ModelCall, ...]:
    """The calls, in the order of their first nodes."""
    groups: dict[str, list[ModelNode]] = {}
    for each in nodes:
        groups.setdefault(ModelCall(each, (each,)).digest, []).append(each)
    return tuple(ModelCall(members[0], tuple(members)) for members in groups.values())
