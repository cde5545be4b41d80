"""What requests of the worker protocol hold, on a worker's side: a model to load, and tensors.

Python 3.9 or newer and the standard library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from conformance.workers.wire_frames import Blobs, Header


class WireTensor:
    """A tensor on its way: element type (ONNX's name), shape, and raw bytes as the protocol has them."""

    __slots__ = ("data", "element_type", "shape")

    def __init__(self, element_type: str, shape: Tuple[int, ...], data: bytes) -> None:
        self.element_type = element_type
        self.shape = shape
        self.data = data


class NotTensor:
    """Something that a runtime returned in place of a tensor."""

    __slots__ = ("kind", "text")

    def __init__(self, value: object) -> None:
        self.kind = type(value).__name__
        try:
            self.text = repr(value)[:200]
        except Exception:  # noqa: BLE001 - a runtime's own __repr__ may raise anything
            self.text = ""


class WireMap:
    """A map: its keys and its values, in one order, each a tensor of one axis."""

    __slots__ = ("keys", "values")

    def __init__(self, keys: WireTensor, values: WireTensor) -> None:
        self.keys = keys
        self.values = values


class WireOptional:
    """An optional that is returned: what it holds, or None."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


class LoadRequest:
    """One model to load.

    `onnx` is the serialized ModelProto where the worker takes the domain as `onnx`, else None. `domain`,
    `name`, `since_version`, `attributes` (name to plain value: int, float, str or a list) and `outputs`
    (names) describe the node. `inputs` are its inputs in order, (name, element type, shape) each, None for an
    omitted one; a shape holds None where an extent is not known. `constants` are the inputs that do not come
    with `run`. An input made of several tensors, or of none, has its type (`seq(tensor(float))`) in place of
    an element type, and no shape; `output_types` are those of outputs that are no tensors. `threads` is one
    of the counts that the worker's `hello` named, None for its own.
    """

    def __init__(self, header: Header, blobs: Blobs) -> None:
        operator = header["operator"]
        self.domain: str = operator["domain"]
        self.name: str = operator["name"]
        self.since_version: int = operator["since_version"]
        self.form: str = header["form"]
        self.threads: Optional[int] = header.get("threads")
        self.onnx: Optional[bytes] = None if header.get("onnx") is None else blobs[header["onnx"]]
        self.attributes: Dict[str, Any] = {
            name: _read_attribute(each, blobs) for name, each in header["attributes"].items()
        }
        self.attribute_kinds: Dict[str, str] = {
            name: each["kind"] for name, each in header["attributes"].items()
        }
        self.inputs: List[Optional[Tuple[str, str, Tuple[Optional[int], ...]]]] = [
            None if each is None else _read_input(each) for each in header["inputs"]
        ]
        self.constants: Dict[str, WireTensor] = {
            each["name"]: read_tensor(each, blobs)
            for entry in header["inputs"]
            for each in ((entry or {}).get("parts") or [entry])
            if each and each.get("constant")
        }
        self.output_types: Dict[str, str] = dict(header.get("output_types") or {})
        self.outputs: List[str] = list(header["outputs"])


def read_tensor(description: Header, blobs: Blobs) -> WireTensor:
    return WireTensor(description["element_type"], tuple(description["shape"]), blobs[description["blob"]])


def read_value(kind: str, parts: List[WireTensor], empty: bool = False) -> Any:
    """A value of a type (`seq(map(string,tensor(float)))`) out of its tensors.

    A list, a WireMap, a WireTensor; None for an optional that holds nothing.
    """
    if kind.startswith("optional("):
        return None if empty else read_value(kind[len("optional(") : -1], parts)
    if kind.startswith("seq("):
        inner = kind[len("seq(") : -1]
        step = 2 if inner.startswith("map(") else 1
        return [read_value(inner, parts[at : at + step]) for at in range(0, len(parts), step)]
    if kind.startswith("map("):
        keys, values = parts
        return WireMap(keys, values)
    (tensor,) = parts
    return tensor


def write_value(value: Any, blobs: Blobs) -> Header:
    """The description of what a runtime returned; its tensors go behind the others in `blobs`."""
    if isinstance(value, WireTensor):
        blobs.append(value.data)
        shape = list(value.shape)
        return {"element_type": value.element_type, "shape": shape, "blob": len(blobs) - 1}
    if isinstance(value, WireMap):
        both = {"keys": write_value(value.keys, blobs), "values": write_value(value.values, blobs)}
        return {"map": both}
    if isinstance(value, WireOptional):
        return {"optional": None if value.held is None else write_value(value.held, blobs)}
    if isinstance(value, list) and all(isinstance(each, (WireTensor, WireMap)) for each in value):
        return {"sequence": [write_value(each, blobs) for each in value]}
    other = value if isinstance(value, NotTensor) else NotTensor(value)
    return {"not_a_tensor": other.kind, "text": other.text}


def _read_input(entry: Header) -> Tuple[str, str, Tuple[Optional[int], ...]]:
    if "type" in entry:
        return entry["name"], entry["type"], ()
    return entry["name"], entry["element_type"], tuple(entry["shape"])


_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _read_attribute(description: Header, blobs: Blobs) -> Any:
    """A plain value; a WireTensor, the bytes of a GraphProto, or the text of a type; or a list of these."""
    kind, value = description["kind"], description["value"]
    if kind in ("tensors", "graphs"):
        return [_read_attribute({"kind": kind[:-1], "value": each}, blobs) for each in value]
    if kind == "tensor":
        return read_tensor(value, blobs)
    if kind == "graph":
        return bytes(blobs[value["blob"]])
    if kind == "float":
        return _NUMBERS[value] if isinstance(value, str) else float(value)
    if kind == "floats":
        return [_NUMBERS[each] if isinstance(each, str) else float(each) for each in value]
    return value
