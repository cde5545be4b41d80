"""Modules of StableHLO with one operator of ONNX: their text, and the call that becomes one."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

if TYPE_CHECKING or __package__:
    from conformance.workers import wire_arrays as wire
    from conformance.workers import worker_protocol as protocol
else:
    import wire_arrays as wire
    import worker_protocol as protocol

Shape = Tuple[int, ...]

FLOATS = {"float": "f32", "double": "f64", "float16": "f16", "bfloat16": "bf16"}
SIGNED = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64"}
UNSIGNED = {"uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64"}
TYPES = {**FLOATS, **SIGNED, **UNSIGNED, "bool": "i1"}
"""Element types by ONNX's name, as StableHLO calls them."""
_DIGITS = {"float": 24, "double": 53, "float16": 11, "bfloat16": 8}
_WIDER = {"float16": ("float", "double"), "bfloat16": ("float", "double"), "float": ("double",)}


class SsaValue(NamedTuple):
    """A value of a module: its name there, its element type as ONNX calls it, and its shape."""

    name: str
    element_type: str
    shape: Shape

    @property
    def type(self) -> str:
        extents = "".join("%dx" % each for each in self.shape)
        return "tensor<%s%s>" % (extents, TYPES[self.element_type])


class Module:
    """The text of a module of one function; `further` are arguments of it that a call fixes."""

    def __init__(self) -> None:
        self.arguments: List[SsaValue] = []
        self.further: List[Any] = []
        self._lines: List[str] = []

    def argue(self, element_type: str, shape: Shape) -> SsaValue:
        """A further argument of the function."""
        self.arguments.append(SsaValue("%%a%d" % len(self.arguments), element_type, shape))
        return self.arguments[-1]

    def fix(self, element_type: str, array: Any) -> SsaValue:
        """An argument that is always this array."""
        self.further.append(np.asarray(array).astype(array_type(element_type)))
        return self.argue(element_type, self.further[-1].shape)

    def put(
        self,
        operation: str,
        operands: Sequence[SsaValue],
        like: SsaValue,
        attributes: str = "",
        body: str = "",
    ) -> SsaValue:
        """The result of an operation, in the element type and shape of `like`."""
        made = like._replace(name="%%%d" % len(self._lines))
        self._lines.append(
            '%s = "stablehlo.%s"(%s)%s%s : (%s) -> %s'
            % (
                made.name,
                operation,
                ", ".join(each.name for each in operands),
                body and " ({%s})" % body,
                attributes and " {%s}" % attributes,
                ", ".join(each.type for each in operands),
                made.type,
            )
        )
        return made

    def reshape(self, value: SsaValue, shape: Sequence[int]) -> SsaValue:
        """A value in another shape; raises protocol.Unsupported where it has other elements."""
        if prod(shape) != prod(value.shape) or min(shape, default=0) < 0:
            raise protocol.Unsupported("%s has no shape %s" % (value.shape, tuple(shape)))
        return self.put("reshape", [value], value._replace(shape=tuple(shape)))

    def spread(self, value: SsaValue, shape: Shape) -> SsaValue:
        """A value in a shape that its own is broadcast to."""
        if value.shape == shape:
            return value
        axes = range(len(shape) - len(value.shape), len(shape))
        return self.put(
            "broadcast_in_dim",
            [value],
            value._replace(shape=shape),
            "broadcast_dimensions = %s" % listed(axes),
        )

    def spread_all(self, values: Sequence[SsaValue]) -> List[SsaValue]:
        """Values in the shape that they broadcast to; raises protocol.Unsupported where there is none."""
        try:
            shape = np.broadcast_shapes(*[each.shape for each in values])
        except ValueError as error:
            raise protocol.Unsupported("StableHLO has no such call: %s" % error) from error
        return [self.spread(each, shape) for each in values]

    def text(self, result: SsaValue) -> str:
        """The module, whose function returns a value."""
        return "func.func @main(%s) -> %s {\n%s\nreturn %s : %s\n}" % (
            ", ".join("%s: %s" % (each.name, each.type) for each in self.arguments),
            result.type,
            "\n".join(self._lines),
            result.name,
            result.type,
        )


class WrittenCall:
    """A call of ONNX's: its inputs as arguments of a module, and attributes, each of which is looked at."""

    def __init__(self, request: protocol.LoadRequest) -> None:
        self.version = request.since_version
        self.module = Module()
        self._attributes = dict(request.attributes)
        self._constants = request.constants
        self.names: List[str] = []
        self.inputs: List[Optional[SsaValue]] = []
        self._asked: List[str] = ["" if each is None else each[0] for each in request.inputs]
        if len(request.outputs) != 1 or not all(request.outputs):
            raise protocol.Unsupported("%s has one output here" % request.name)
        known: Dict[str, SsaValue] = {}
        for each in request.inputs:
            if each is None:
                self.inputs.append(None)
                continue
            name, element_type, shape = each
            if None in shape:
                raise protocol.Unsupported("the shape of %s is not known when its module is compiled" % name)
            if element_type not in TYPES:
                raise protocol.Unsupported("no module has %s, which is %s" % (name, element_type))
            if name not in known:
                known[name] = self.module.argue(element_type, tuple(int(extent or 0) for extent in shape))
                self.names.append(name)
            self.inputs.append(known[name])

    def operands(self, least: int, most: int = 0, types: Sequence[str] = tuple(TYPES)) -> List[SsaValue]:
        """All inputs, so many of them, of one type out of `types`."""
        found = [each for each in self.inputs if each is not None]
        if len(found) != len(self.inputs) or not least <= len(found) <= max(least, most):
            raise protocol.Unsupported("no such number of inputs: %d" % len(self.inputs))
        if len({each.element_type for each in found}) != 1 or found[0].element_type not in types:
            raise protocol.Unsupported("StableHLO has it in no %s" % found[0].element_type)
        return found

    def first(self) -> SsaValue:
        """The first input; raises protocol.Unsupported where there is none."""
        if not self.inputs or self.inputs[0] is None:
            raise protocol.Unsupported("there is no first input")
        return self.inputs[0]

    def optional(self, place: int) -> Optional[SsaValue]:
        """An input; None where it is left out."""
        return self.inputs[place] if place < len(self.inputs) else None

    def attribute(self, name: str, default: Any) -> Any:
        """An attribute, which is looked at by that."""
        return self._attributes.pop(name, default)

    def fixed(self, place: int) -> Any:
        """The array of an input that is known when the model is loaded; None where it is left out."""
        if place >= len(self.inputs) or self.inputs[place] is None:
            return None
        constant = self._constants.get(self._asked[place])
        if constant is None:
            raise protocol.Unsupported("StableHLO has %s in the module alone" % self._asked[place])
        return wire.to_numpy(constant)

    def integers(self, name: str, place: int) -> Optional[List[int]]:
        """Axes and lengths: an attribute of older versions, an input of newer ones."""
        found = self.attribute(name, None) if name in self._attributes else self.fixed(place)
        return None if found is None else [int(each) for each in np.reshape(found, -1)]

    def lengths(self, name: str, place: int) -> List[int]:
        """What `integers` gives; raises protocol.Unsupported where that is left out."""
        found = self.integers(name, place)
        if found is None:
            raise protocol.Unsupported("there is no %s" % name)
        return found

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the first one; raises protocol.Unsupported where there is none such.

        Before opset 11 no text but Gather's counts them from the back.
        """
        if axis < 0 and self.version < 11:
            raise protocol.Unsupported("StableHLO's axes are counted from the first one: %d" % axis)
        return axis_at(axis, rank)

    def broadcast(self, values: Sequence[SsaValue], since: int = 7) -> List[SsaValue]:
        """Values in the shape that they broadcast to, which they do since a version, and before are alike.

        Raises protocol.Unsupported where they do not.
        """
        if self.version < since and len({each.shape for each in values}) > 1:
            raise protocol.Unsupported("StableHLO's operands have one shape")
        return self.module.spread_all(values)

    def done(self) -> None:
        """Raises protocol.Unsupported where there are attributes that were not looked at."""
        if self._attributes:
            raise protocol.Unsupported("StableHLO has no counterpart of %s" % ", ".join(self._attributes))


def array_type(element_type: str) -> Any:
    """The numpy type of an element type."""
    return wire.to_numpy(protocol.WireTensor(element_type, (0,), b"")).dtype


def listed(values: Any) -> str:
    """Integers as an attribute."""
    text = ", ".join(str(int(each)) for each in values)
    return "array<i64: %s>" % text if text else "array<i64>"


def pairs(low: Sequence[int], high: Sequence[int]) -> str:
    """Paddings of each axis, before and behind, as an attribute."""
    text = ", ".join("[%d, %d]" % each for each in zip(low, high))  # noqa: B905 - Python 3.9
    return "dense<[%s]> : tensor<%dx2xi64>" % (text, len(low))


def axis_at(axis: int, rank: int) -> int:
    """An axis counted from the first one; raises protocol.Unsupported where there is none such."""
    if not -rank <= axis < rank:
        raise protocol.Unsupported("there is no axis %d of %d" % (axis, rank))
    return axis % rank


Writer = Callable[[WrittenCall], SsaValue]
"""Writes a call into its module, and returns the result; raises protocol.Unsupported where it cannot."""


def one(operation: str, types: Sequence[str]) -> Writer:
    """Of an operation with one operand, in these types."""

    def write(call: WrittenCall) -> SsaValue:
        (value,) = call.operands(1, types=types)
        return call.module.put(operation, [value], value)

    return write


def several(operation: str, types: Sequence[str], least: int = 2, most: int = 2, since: int = 7) -> Writer:
    """Of an operation with two operands, and in a row of more; `since` a version shapes are broadcast."""

    def write(call: WrittenCall) -> SsaValue:
        found = call.broadcast(call.operands(least, most, types), since)
        if len(found) == 1:
            return call.module.reshape(found[0], found[0].shape)
        result = found[0]
        for each in found[1:]:
            result = call.module.put(operation, [result, each], result)
        return result

    return write


def reduced(operation: str, start: Callable[[str], Any]) -> Writer:
    """Of a reduction by an operation, which begins with `start` of the element type."""

    def write(call: WrittenCall) -> SsaValue:
        value, axes = call.first(), call.integers("axes", 1)
        keeps, no_axes = call.attribute("keepdims", 1), call.attribute("noop_with_empty_axes", 0)
        rank = len(value.shape)
        if not axes and no_axes:
            return call.module.reshape(value, value.shape)
        found = sorted({call.axis(each, rank) for each in axes}) if axes else list(range(rank))
        first = call.module.fix(value.element_type, start(value.element_type))
        scalar = value._replace(shape=()).type
        body = (
            '^bb0(%%x: %s, %%y: %s): %%z = "stablehlo.%s"(%%x, %%y) : (%s, %s) -> %s '
            '"stablehlo.return"(%%z) : (%s) -> ()' % (scalar, scalar, operation, *[scalar] * 4)
        )
        left = tuple(extent for axis, extent in enumerate(value.shape) if axis not in found)
        kept = tuple(1 if axis in found else extent for axis, extent in enumerate(value.shape))
        words = "dimensions = %s" % listed(found)
        made = call.module.put("reduce", [value, first], value._replace(shape=left), words, body)
        return call.module.reshape(made, kept if keeps else left)

    return write


def end(sign: int) -> Callable[[str], Any]:
    """The least number of an element type, infinities among them; with the sign -1 the greatest."""

    def of(element_type: str) -> Any:
        if element_type in FLOATS:
            return -sign * np.inf
        if element_type == "bool":
            return sign < 0
        info = np.iinfo(array_type(element_type))
        return info.min if sign > 0 else info.max

    return of


def is_exact(given: str, wanted: str) -> bool:
    """Whether each number of a type is one of another, or only looked at whether it is 0."""
    if wanted in (given, "bool") or given == "bool" or wanted in _WIDER.get(given, ()):
        return True
    if given in FLOATS:
        return False
    bits = 8 * np.dtype(given).itemsize - (given in SIGNED)
    if wanted in _DIGITS:
        return bits <= _DIGITS[wanted]
    return bits < 8 * np.dtype(wanted).itemsize and (given in UNSIGNED or wanted in SIGNED)
