"""Reading a model that somebody has: what each of its nodes asks of a runtime, without trusting the file."""

from __future__ import annotations

import hashlib
import io
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped] # protobuf ships no types
from onnx import ModelProto, NodeProto
from onnx import __version__ as onnx_version
from onnx.defs import SchemaError, get_all_schemas_with_history, get_schema, onnx_opset_version

from conformance.checked_models.folding import MOST_FOLDED
from conformance.checked_models.inlining import graphs_of, imported, inline_functions, long_domain
from conformance.checked_models.model_calls import ModelCall, ModelFacts, ModelNode, with_opset
from conformance.checked_models.model_nodes import NodeReader, text
from conformance.checked_models.node_order import Disorder, sort_nodes
from conformance.checked_models.outside_data import read_small_data
from conformance.checked_models.type_inference import SECONDS, infer_types
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import BESIDE_ONNX, OperatorName
from opcert.vocabulary.regular_files import open_regular

MOST_TENSOR_BYTES = 1 << 16
"""A tensor whose message has more bytes keeps its type and shape alone."""
MOST_STRUCTURE = 48 << 20
"""Bytes that a model may have beside the data of its tensors; in memory they are many times as many."""
MOST_SMALL_DATA = 256 << 20
"""Bytes of the data of small tensors."""
MOST_FIELDS = 3_000_000
_LOOKED_INTO = 1 << 12
_DEEPEST = 100
_WINDOW = 1 << 20
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_WIDTHS = {_FIXED32: 4, _FIXED64: 8}
_DATA = frozenset(
    ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
)
_LISTS = frozenset(("floats", "ints", "strings"))
_PROSE = frozenset(("doc_string", "metadata_props"))


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A serialized ModelProto without the data of large tensors and without training; the file's digest."""

    raw: bytes
    sha256: str
    has_training: bool


def read_skeleton(path: Path) -> Skeleton:
    """Raises UserError where the file cannot be read, is no protobuf message, or has too much structure."""
    try:
        with open_regular(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = os.fstat(file.fileno()).st_size
            try:
                walk = _walk(file, size)
            except ValueError as error:
                raise _no_model(path, file, str(error)) from error
            except _TooMuch as error:
                raise UserError(
                    "the model is more than is read", got=str(error), where=Place(str(path))
                ) from error
    except OSError as error:
        raise unreadable("the model", path, error) from error
    return Skeleton(walk.raw, digest, walk.has_training)


def _walk(file: io.BufferedReader, size: int) -> _Walk:
    """Where there is too much of it, prose is left out as well: that takes a look at every message."""
    try:
        return _Walk(file, size, _LOOKED_INTO)
    except _TooManyFields:
        raise
    except _TooMuch:
        return _Walk(file, size, 0)


def _no_model(path: Path, file: io.BufferedReader, problem: str) -> UserError:
    file.seek(0)
    head = file.read(16)
    what = next((name for magic, at, name in _OTHERS if head[at : at + len(magic)] == magic), None)
    return UserError(
        "this is no ONNX model",
        got=f"{what}" if what else problem,
        expected="a serialized ModelProto",
        where=Place(str(path)),
        remedy="Give the .onnx file that it was made from." if what and "ORT" in what else None,
    )


_OTHERS = (
    (b"ORTM", 4, "a model in the ORT format"),
    (b"TFL3", 4, "a TensorFlow Lite model"),
    (b"PK\x03\x04", 0, "a zip file, such as PyTorch writes"),
    (b"\x89HDF", 0, "an HDF5 file"),
    (b"\x1f\x8b", 0, "a gzip file"),
    (b"version https://", 0, "a pointer of Git LFS, not the file itself"),
    (b"<", 0, "a text"),
    (b"{", 0, "a text"),
)


class _TooMuch(Exception):
    """The model may be one, and is more than is read."""


class _TooManyFields(_TooMuch):
    pass


class _Walk:
    """Copies a message, and leaves out what is too large; ValueError where the bytes are none."""

    def __init__(self, file: io.BufferedReader, size: int, looked_into: int) -> None:
        self._file = file
        self._looked_into = looked_into
        self._start, self._window = 0, b""
        self._structure = self._data = self._seen = 0
        self.has_training = False
        self.raw = b"".join(self._message(0, size, ModelProto.DESCRIPTOR, 0))

    def _message(self, at: int, end: int, descriptor: Any, depth: int) -> list[bytes]:
        if depth > _DEEPEST:
            raise ValueError(f"messages within each other more than {_DEEPEST} deep")
        fields = _fields(descriptor)
        is_tensor = descriptor.name == "TensorProto"
        drops_data = is_tensor and end - at > MOST_TENSOR_BYTES
        found: list[bytes] = []
        while at < end:
            begin = at
            tag, at = self._varint(at, end)
            self._seen += 1
            if self._seen > MOST_FIELDS:
                raise _TooManyFields(f"more than {MOST_FIELDS:,} fields")
            wire, field = tag & 7, fields.get(tag >> 3)
            name = "" if field is None else field.name
            length = _WIDTHS.get(wire, 0)
            if wire == _VARINT:
                at = self._varint(at, end)[1]
            elif wire == _DELIMITED:
                length, at = self._varint(at, end)
            elif wire not in _WIDTHS:
                raise ValueError("a field of no kind that protobuf has")
            content, at = at, at + length
            if at > end:
                raise ValueError("a message that ends early: the file is cut off, or no protobuf at all")
            if name == "training_info":
                self.has_training = True
                continue
            if field is None or (drops_data and name in _DATA) or (not self._looked_into and name in _PROSE):
                continue
            if wire == _DELIMITED and field.message_type is not None and length > self._looked_into:
                inner = self._message(content, at, field.message_type, depth + 1)
                head = _varint_of(tag) + _varint_of(sum(map(len, inner)))
                self._count(len(head), is_data=False)
                found += (head, *inner)
                continue
            if name in _LISTS and descriptor.name == "AttributeProto":
                at = end  # trees have millions of numbers in them, each of which would be a field
            self._count(at - begin, is_data=is_tensor and name in _DATA)
            found.append(self._read(begin, at))
        return found

    def _count(self, number: int, *, is_data: bool) -> None:
        if is_data:
            self._data += number
        else:
            self._structure += number
        if self._structure > MOST_STRUCTURE:
            raise _TooMuch(f"more than {MOST_STRUCTURE:,} bytes beside the data of its tensors")
        if self._data > MOST_SMALL_DATA:
            raise _TooMuch(f"more than {MOST_SMALL_DATA:,} bytes of small tensors")

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        offset = at - self._start
        if not 0 <= offset <= len(self._window) - 10:
            self._load(at)
            offset = 0
        number = shift = 0
        for byte in self._window[offset : offset + min(10, end - at)]:
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number, at + shift // 7
        raise ValueError("a number that does not end: the file is cut off, or no protobuf at all")

    def _read(self, begin: int, end: int) -> bytes:
        if end - begin > _WINDOW:
            self._file.seek(begin)
            return self._file.read(end - begin)
        if begin < self._start or end > self._start + len(self._window):
            self._load(begin)
        return self._window[begin - self._start : end - self._start]

    def _load(self, at: int) -> None:
        self._file.seek(at)
        self._start, self._window = at, self._file.read(_WINDOW)


def _varint_of(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


@cache
def _fields(descriptor: Any) -> dict[int, Any]:
    return {field.number: field for field in descriptor.fields}


_LARGEST = 2**31 - 1
Found = tuple[OperatorName | None, str | None]


_OF_EVERY_OPSET = {
    each.name: each for each in (BESIDE_ONNX, OperatorName("ai.onnx", "LayerNormalization", 17))
}
"""What ONNX Runtime's optimiser writes into models of any operator set of ONNX, older ones among them."""


class OperatorVersions:
    """Operator versions by the installed onnx package, and beside it those that somebody has specs of."""

    def __init__(self, known: Iterable[OperatorName] = ()) -> None:
        self._known: dict[tuple[str, str], list[OperatorName]] = {}
        for operator in known:
            self._known.setdefault((operator.domain, operator.name), []).append(operator)
        self._domains = {schema.domain for schema in get_all_schemas_with_history()}
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
            (
                operator
                for operator in self._known.get((domain, op_type), ())
                if operator.since_version <= version
            ),
            key=lambda operator: operator.since_version,
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
        if not short and op_type in _OF_EVERY_OPSET:
            return _OF_EVERY_OPSET[op_type], None
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
    versions = OperatorVersions(known)

    def operator_of(node: NodeProto) -> Found:
        left = inlined.left.get(node.doc_string)
        if left is not None:
            return None, f"a function of the model that is not looked into: {left}"
        own = inlined.opsets.get(node.doc_string, opsets)
        return versions.find(text(node.domain), text(node.op_type), own)

    reader = NodeReader(operator_of, tables)
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
    nodes = tuple(with_opset(node, inlined.opsets.get(node.place, opsets)) for node in reader.nodes)
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
    graphs = [model.graph.node, *(function.node for function in model.functions)]
    while graphs:
        nodes = graphs.pop()
        count += len(nodes)
        if count > MOST_NODES:
            raise _too_many("nodes", path, count, MOST_NODES)
        for node in nodes:
            most = max(len(node.attribute), len(node.input), len(node.output))
            if most > MOST_PARTS:
                raise _too_many("attributes, inputs or outputs of a node", path, most, MOST_PARTS)
            parts += len(node.attribute)
            if parts > MOST_ATTRIBUTES:
                raise _too_many("attributes", path, parts, MOST_ATTRIBUTES)
            graphs += [graph.node for attribute in node.attribute for _, graph in graphs_of(attribute)]


def _too_many(what: str, path: Path, got: int, most: int) -> UserError:
    return UserError(
        f"the model has more {what} than are read",
        got=f"{got:,}",
        expected=f"at most {most:,}",
        where=Place(str(path)),
    )


def _unknown(nodes: Iterable[ModelNode]) -> list[str]:
    """The nodes of no known operator, in a sentence for each reason."""
    reasons = Counter(node.unknown for node in nodes if node.unknown is not None)
    told = [
        f"{count:,} {'node is' if count == 1 else 'nodes are'} of no known operator: {why}"
        for why, count in reasons.items()
    ]
    return told[:10]


def group_calls(nodes: Iterable[ModelNode]) -> tuple[ModelCall, ...]:
    """The calls, in the order of their first nodes."""
    groups: dict[str, list[ModelNode]] = {}
    for node in nodes:
        groups.setdefault(ModelCall(node, (node,)).digest, []).append(node)
    return tuple(ModelCall(members[0], tuple(members)) for members in groups.values())
