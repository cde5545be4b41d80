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


class LoadRequest:
    """One model to load.

    `onnx` is the serialized ModelProto where the worker takes the domain as `onnx`, else None. `domain`,
    `name`, `since_version`, `attributes` (name to plain value: int, float, str or a list) and `outputs`
    (names) describe the node. `inputs` are its inputs in order, (name, element type, shape) each, None for an
    omitted one; a shape holds None where an extent is not known. `constants` are the inputs that do not come
    with `run`. `threads` is one of the counts that the worker's `hello` named, None for its own.
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
            name: _read_attribute(each) for name, each in header["attributes"].items()
        }
        self.attribute_kinds: Dict[str, str] = {
            name: each["kind"] for name, each in header["attributes"].items()
        }
        self.inputs: List[Optional[Tuple[str, str, Tuple[Optional[int], ...]]]] = [
            None if each is None else (each["name"], each["element_type"], tuple(each["shape"]))
            for each in header["inputs"]
        ]
        self.constants: Dict[str, WireTensor] = {
            each["name"]: read_tensor(each, blobs)
            for each in header["inputs"]
            if each and each.get("constant")
        }
        self.outputs: List[str] = list(header["outputs"])


def read_tensor(description: Header, blobs: Blobs) -> WireTensor:
    return WireTensor(description["element_type"], tuple(description["shape"]), blobs[description["blob"]])


_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _read_attribute(description: Header) -> Any:
    kind, value = description["kind"], description["value"]
    if kind == "float":
        return _NUMBERS[value] if isinstance(value, str) else float(value)
    if kind == "floats":
        return [_NUMBERS[each] if isinstance(each, str) else float(each) for each in value]
    return value
