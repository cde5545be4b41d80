"""What attributes and inputs are: axes, indices, numbers within bounds, and what may be left out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.derived.entries import Collected, Contradiction, sources_of
from specs.derived.related_shapes import ANY_SHAPE, PLAIN_SCALE, says_quantisation
from specs.derived.stated_extents import StatedExtents
from specs.language.shape_expressions import parse_shape
from specs.model.signature_parts import AttributeSpec, Origin, ParameterSpec
from specs.model.spec import Spec
from specs.model.statements import Range, describe, is_proposed

_LOWEST = re.compile(r"-rank\((\w+)\)( - 1)?")
_LAST = re.compile(r"rank\((\w+)\)( - 1)?")
_AN_AXIS = re.compile(r"axis\((\w+)(?!, extra)[,)]")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?")
_TYPE_CODES = ("dtype", "to", "output_dtype", "out_dtype", "output_datatype")
_QUERY_HEADS = ("num_heads", "q_num_heads")
_NEEDED = re.compile(r"integer\(given=|element_type\(")
"""Kinds of what is given in each call of a document alone: shapes or types of outputs hang on it."""
_WHY = "shapes or types of the node hang on it, and no sentence says its default"
_SILENT = ("float", "int32")
"""The element types that are asked for where no sentence lists any."""
_POWER_OF_TWO = "power-of-two"
"""The rule that reads of a number that it is a power of two, and which is the least."""
_PLAIN_LIMIT = 4
"""The greatest of whole numbers of which a document says nothing: each may be a number of parts."""
WINDOW = "window"
COVERED = ("kernel_shape", "strides", "pads", "dilations", "auto_pad", "ceil_mode")
"""The attributes that one kind, called a window, makes together."""
LEFT_OUT = "constant('left_out')"
"""The kind of what no sentence says, and no call needs."""

_Call = tuple[str, tuple[Origin, ...], str]  # the call, what states it, and how silence was read


class KindReader:
    """Reads the kinds of one operator version's attributes and inputs, once its shapes are found."""

    def __init__(self, spec: Spec, extents: StatedExtents, found: Collected) -> None:
        self._spec = spec
        self._extents = extents
        self._found = found
        self._ranges: dict[str, list[Range]] = {}
        for statement in spec.statements:
            if isinstance(statement, Range) and not is_proposed(statement):
                self._ranges.setdefault(statement.about, []).append(statement)
        self._shapes = {
            entry.path[1]: str(entry.value) for entry in found.entries if entry.path[0] == "shapes"
        }
        self._notes = {entry.path[1]: entry.note for entry in found.entries if entry.path[0] == "shapes"}
        results = [str(entry.value) for entry in found.entries if entry.path[0] == "results"]
        self._bound = {name for text in self._shapes.values() for name in parse_shape(text).names}
        parts = (part for text in (*self._shapes.values(), *results) for part in parse_shape(text).parts())
        self._used = frozenset[str]().union(*(part.names for part in parts))

    def read(self) -> None:
        """Add the entries of `kinds`."""
        window = self._window()
        if window is not None:
            self._add(WINDOW, window)
        for attribute in self._spec.attributes.values():
            if window is not None and attribute.name in COVERED:
                continue
            found = self._attribute(attribute)
            if found is not None:
                self._add(attribute.name, found)
            elif attribute.kind == "float":
                self._add_alone(attribute)
        for parameter in self._spec.inputs:
            found = self._input(parameter)
            if found is not None:
                self._add(parameter.name, found)
            elif self._is_scale(parameter):
                note = "a scale is greater than 0, and no sentence says how great"
                self._found.add("kinds", parameter.name, PLAIN_SCALE, note=note, alone=True)
            elif parameter.option == "optional" and self._is_unsure(parameter.name):
                note = "no sentence says its shape, an extent of it, or what its elements are"
                self._found.add("kinds", parameter.name, LEFT_OUT, note=note, alone=True)

    def _add_alone(self, attribute: AttributeSpec) -> None:
        """What a float is in calls of a document alone: one without bounds and default is left out."""
        if attribute.name == "epsilon":
            note = "what keeps a divisor from zero"
            self._found.add("kinds", attribute.name, "real(more_than=0)", note=note, alone=True)
        elif attribute.default is None and not attribute.required:
            note = "no sentence says which values it has"
            self._found.add("kinds", attribute.name, LEFT_OUT, note=note, alone=True)

    def _add(self, name: str, found: _Call) -> None:
        call, origins, note = found
        self._found.add("kinds", name, call, *origins, note=note)
        attribute = self._spec.attributes.get(name)
        free = attribute is not None and attribute.default is None and not attribute.required
        if free and (_NEEDED.match(call) or self._decides(name)):
            rule = {"id": f"{name}_given", "require": f"present({name})", "else": "undefined", "why": _WHY}
            self._found.add("constraints", rule["id"], rule, *origins, note=note, alone=True)
        of = _AN_AXIS.match(call)
        pack = self._shapes.get(of[1], "").removeprefix("*") if of is not None else ""
        if pack.isidentifier() and not any(
            entry.path == ("extents", pack) and not entry.alone for entry in self._found.entries
        ):
            self._found.add("extents", pack, "1..4", *origins, note=f"{name} is one of its axes")
        self._bound_by_default(name, of[1] if of is not None else None)

    def _decides(self, name: str) -> bool:
        """Whether a shape compares an attribute: what the shape is without it, no sentence says."""
        return any(re.search(rf"\b{re.escape(name)} [=!<>]", text) for text in self._shapes.values())

    def _bound_by_default(self, name: str, of: str | None) -> None:
        """The rank from which on the default of an axis is one; of a plain `axis` it is the first input's."""
        attribute = self._spec.attributes.get(name)
        default = attribute.default if attribute is not None and name == "axis" else None
        pack = self._shapes.get(of or next(iter(self._shapes), ""), "").removeprefix("*")
        if isinstance(default, int) and pack.isidentifier() and (least := max(-default, default + 1)) > 1:
            note = f"{default} is the default of {name}"
            self._found.add("extents", pack, f"{least}..{max(4, least)}", note=note, alone=True)

    def _window(self) -> _Call | None:
        """The window of kernel_shape, strides and pads over the last extents of the first input."""
        kernel = self._spec.attributes.get("kernel_shape")
        if kernel is None or "strides" not in self._spec.attributes or not self._shapes:
            return None
        texts = list(self._shapes.values())
        packs = [sorted(parse_shape(text).starred) for text in texts]
        if len(packs[0]) != 1 or not texts[0].endswith(f"*{packs[0][0]}"):
            return None
        others = [pack[0] for pack in packs[1:] if len(pack) == 1 and pack != packs[0]]
        if not kernel.required and not others:
            return None
        own = "kernel" if kernel.required else others[0]
        if "output_shape" in self._spec.attributes or "output_padding" in self._spec.attributes:
            return (f"transposed_window({packs[0][0]}, {own})", (kernel.origin,), "")
        return (f"window({packs[0][0]}, {own})", (kernel.origin,), "")

    def _attribute(self, attribute: AttributeSpec) -> _Call | None:
        """The kind of an attribute; None where its facts say one already, or where it lacks one."""
        about = f"attributes.{attribute.name}"
        stated = self._stated(about, attribute.kind == "ints")
        if stated is not None:
            return stated
        if attribute.name in self._extents.given and self._extents.given[attribute.name] in self._bound:
            extent = self._extents.given[attribute.name]
            note = f"what shapes call {attribute.name}"
            return (f"integer(given=[{extent}], equals={extent})", (), note)
        if attribute.kind is None and attribute.other_type == "type":
            return self._listed_types(attribute)
        if attribute.values is not None and not attribute.values.proposed:
            return None
        if attribute.kind == "int":
            return self._whole_number(attribute)
        if attribute.kind == "float":
            return self._bounded(attribute)
        if attribute.kind == "string" and isinstance(attribute.default, str):
            return (f"enumeration({attribute.default!r})", (), "no sentence says other values")
        if not attribute.required:
            return (LEFT_OUT, (), "no sentence says which values it has")
        word = attribute.kind or attribute.other_type or "unknown"
        self._found.lack(
            f"kinds.{attribute.name}", f"no sentence says which values it has ({word})", attribute.origin
        )
        return None

    def _listed_types(self, attribute: AttributeSpec) -> _Call | None:
        """The kind of an attribute whose value is an element type: one of those that are listed."""
        values = attribute.values
        listed = values.values if values is not None and not values.proposed else ()
        known = [str(value) for value in listed if str(value) in ELEMENT_TYPES]
        if not known and not attribute.required:
            return (LEFT_OUT, (), "no sentence says which values it has")
        if not known and listed:
            return None
        types = ", ".join(repr(f"tensor({name})") for name in known or _SILENT)
        return (f"enumeration({types})", *_facts_of(attribute))

    def _bounded(self, attribute: AttributeSpec) -> _Call | None:
        """The kind of a floating-point number that the facts bound."""
        ends = {"at_least": attribute.at_least, "more_than": attribute.more_than, "high": attribute.at_most}
        words = [f"{word}={end}" for word, end in ends.items() if end is not None]
        return (f"real({', '.join(words)})", *_facts_of(attribute)) if words else None

    def _whole_number(self, attribute: AttributeSpec) -> _Call | None:
        name = attribute.name
        low, high = attribute.at_least, attribute.at_most
        if low is None and attribute.more_than is not None:
            low = int(attribute.more_than) + 1
        if low is not None or high is not None:
            ends = f"{'None' if low is None else int(low)}" + ("" if high is None else f", {int(high)}")
            return (f"integer({ends})", (attribute.origin,), "")
        divided = list(self._divided_by(name))
        if divided:
            return (f"integer(divides=[{', '.join(divided)}])", (), f"shapes divide by {name}")
        queries = [heads for heads in _QUERY_HEADS if heads in self._spec.attributes]
        if name == "kv_num_heads" and queries:
            return (f"integer(divides=[{queries[0]}])", (), f"heads of keys are shared among {queries[0]}")
        if name in self._used:
            return (f"integer(1, {_PLAIN_LIMIT})", (), "a number of shapes")
        if name in _TYPE_CODES and (variable := self._own_type()) is not None:
            return (f"element_type({variable})", (), f"the type of an output is {variable}")
        if attribute.default in (0, 1):
            return None
        if attribute.default is not None:
            return (f"enumeration({attribute.default})", (), "no sentence says other values")
        if not attribute.required:
            return (LEFT_OUT, (), "no sentence says which values it has")
        return (f"integer(1, {_PLAIN_LIMIT})", (), "no sentence says which values it has")

    def _divided_by(self, name: str) -> Iterator[str]:
        """The extents that shapes of inputs divide by an attribute; of `group` also what is beside."""
        beside = r"(?:^(\w+))?" if name == "group" else "()"
        pattern = re.compile(rf"{beside}(?:^|, )(\w+) / {re.escape(name)}(?:,|$)")
        matches = [match for text in self._shapes.values() for match in pattern.finditer(text)]
        found = (match[at] for at in (2, 1) for match in matches if match[at])
        yield from dict.fromkeys(each for each in found if not each.isdecimal())

    def _own_type(self) -> str | None:
        """The type variable of an output that no input has."""
        of_inputs = {parameter.type for parameter in self._spec.inputs}
        known = self._spec.type_constraints
        return next(
            (
                output.type
                for output in self._spec.outputs
                if output.type in known and output.type not in of_inputs
            ),
            None,
        )

    def _input(self, parameter: ParameterSpec) -> _Call | None:
        """The kind of an input, where sentences say what its elements are."""
        about = f"inputs.{parameter.name}"
        scalar = self._shapes.get(parameter.name) == "()"
        stated = self._stated(about, not scalar)
        if stated is not None:
            return stated
        if any(f"values({parameter.name})" in str(entry.value) for entry in self._found.entries):
            return (f"integer(1, {2 * _PLAIN_LIMIT})", (), f"a result has {parameter.name} as an extent")
        return None

    def _is_scale(self, parameter: ParameterSpec) -> bool:
        """Whether an input without axes is the scale of a quantised one."""
        if "zero_point" in parameter.name or not says_quantisation(parameter.name):
            return False
        return self._shapes.get(parameter.name) == "()" and all(
            ELEMENT_TYPES[name].is_float for name in self._spec.types_of(parameter)
        )

    def _is_unsure(self, name: str) -> bool:
        """Whether no sentence says what an input is, as far as it takes to give one.

        Its shape is any, or has an extent that no other input has; or its elements are whole numbers of which
        nothing is said. Of several shapes without a condition it has the first.
        """
        if self._notes.get(name, "") == ANY_SHAPE:
            return True
        if self._is_whole(name) and ("maybe(" in self._shapes[name] or not says_quantisation(name)):
            return True
        told = {*self._spec.attributes, *(parameter.name for parameter in self._spec.inputs)}
        for parameter in self._spec.inputs:
            if parameter.option != "optional":
                told |= parse_shape(self._shapes[parameter.name]).names
        return bool(parse_shape(self._shapes[name]).names - told)

    def _stated(self, about: str, several: bool) -> _Call | None:
        """The kind that ranges of a value, or of elements, come to; those under a condition say none."""
        ranges = [each for each in self._ranges.get(about, ()) if each.of != "length" and each.when is None]
        self._check(about, ranges)
        for each in ranges:
            if call := self._axis(each, several) or self._index(each) or self._numbers(about, each):
                demanded = self._is_demanded(each) and not call.startswith("whole_numbers")
                return (f"{call}{' or error' if demanded else ''}", (each.origin,), "")
        return None

    def _check(self, about: str, ranges: Sequence[Range]) -> None:
        """Note where plain numbers of two ranges, or of one, leave nothing between them."""
        ends = []
        for each in ranges:
            low = _end(each.at_least or each.more_than, -math.inf)
            ends.append((low, _end(each.at_most or each.less_than, math.inf), each))
        for at, (low, high, one) in enumerate(ends):
            for other_low, other_high, other in ends[at:]:
                if max(low, other_low) > min(high, other_high):
                    sources = sources_of((one.origin, other.origin))
                    self._found.contradictions.append(
                        Contradiction(about, (describe(one), describe(other)), sources)
                    )

    def _axis(self, stated: Range, several: bool) -> str | None:
        """`axis(X)` of the range [-r, r-1], of a list `axis('several', X)`; `extra=1` where it goes to r."""
        ends = axis_ends(stated)
        if ends is None:
            return None
        of, negative, extra = ends
        if of not in self._shapes or (several and extra):
            return None
        if several:
            return f"axis('several', {of}{'' if negative else ', negative=False'})"
        return f"axis({of}{', extra=1' if extra else ''}{'' if negative else ', negative=False'})"

    def _index(self, stated: Range) -> str | None:
        """Indices into an axis: from -s to s-1 where an attribute is the axis, or below an extent."""
        name = stated.about.removeprefix("inputs.")
        if name == stated.about or stated.of != "elements":
            return None
        if (stated.at_least, stated.at_most) == ("-s", "s - 1"):
            for axis in self._spec.attributes:
                for each in self._ranges.get(f"attributes.{axis}", ()):
                    ends = axis_ends(each)
                    if ends is not None and each.when is None and ends[0] in self._shapes:
                        return f"index({ends[0]}, {axis})"
        end, last = stated.less_than, (stated.at_most or "").removesuffix(" - 1")
        if stated.at_least != "0" or (end or last) not in self._bound:
            return None
        some = None if self._is_whole(name) else f"whole_numbers('lengths', most={stated.at_most})"
        return some if end is None else f"index(count={end}, negative=False)"

    def _numbers(self, about: str, stated: Range) -> str | None:
        """Numbers between plain bounds: of attributes and tensors without axes, of elements only some."""
        group, _, name = about.partition(".")
        low, high = stated.at_least or stated.more_than, stated.at_most or stated.less_than
        attribute = self._spec.attributes.get(name) if group == "attributes" else None
        if attribute is not None and attribute.default in (0, 1) and (low, high) == ("0", "1"):
            return None  # its default says that it is a flag
        if _of_rank(low) and _of_rank(high) and stated.at_least and stated.at_most and stated.of == "value":
            return f"integer({low}, {high})"
        unlike = attribute is not None and attribute.kind not in ("int", "float")
        if unlike or any(end is not None and not _NUMBER.fullmatch(end) for end in (low, high)):
            return None
        if stated.origin.rule == _POWER_OF_TWO and low is not None:
            return None if name in self._extents.given else f"enumeration({low}, {2 * int(low)})"
        if attribute is None and self._shapes.get(name) != "()":
            return self._elements(name, stated)
        if (attribute is not None and attribute.kind == "int") or self._is_whole(name):
            least = None if low is None else int(float(low)) + (stated.at_least is None)
            most = None if high is None else int(float(high)) - (stated.at_most is None)
            return f"integer({least}" + (")" if most is None else f", {most})")
        ends = {
            "at_least": stated.at_least,
            "more_than": stated.more_than,
            "high": stated.at_most,
            "below": stated.less_than,
        }
        words = [f"{word}={end}" for word, end in ends.items() if end is not None]
        return f"real({', '.join(words)})"

    def _elements(self, name: str, stated: Range) -> str | None:
        if self._is_whole(name):
            if stated.at_least is not None and stated.less_than is not None:
                return f"data('range', {stated.at_least}, {stated.less_than})"
            if stated.at_least is not None and stated.at_most is not None:
                return f"data('range', {stated.at_least}, {int(stated.at_most) + 1})"
            return None
        if (stated.at_least, stated.at_most) == ("0", "1"):
            return "data('probabilities')"
        is_positive = (stated.at_least, stated.at_most, stated.less_than) == ("0", None, None)
        return "data('not_negative')" if is_positive else None

    def _is_whole(self, name: str) -> bool:
        """Whether an input has whole numbers alone."""
        parameter = next((each for each in self._spec.inputs if each.name == name), None)
        types = self._spec.types_of(parameter) if parameter is not None else ()
        return bool(types) and all(ELEMENT_TYPES[each].is_integer for each in types)

    def _is_demanded(self, stated: Range) -> bool:
        """Whether the passage with the range has a word that demands it."""
        return any(
            prose.about == stated.about and prose.normative and prose.source in stated.origin.sources
            for prose in self._spec.prose
        )


def _facts_of(attribute: AttributeSpec) -> tuple[tuple[Origin, ...], str]:
    return (attribute.origin,), "" if attribute.origin.sources else "the facts of the attribute"


def _end(text: str | None, open_end: float) -> float:
    return float(text) if text is not None and _NUMBER.fullmatch(text) else open_end


def _of_rank(end: str | None) -> bool:
    return end is not None and (end.isdecimal() or _LAST.fullmatch(end.removeprefix("-")) is not None)


def axis_ends(stated: Range) -> tuple[str, bool, bool] | None:
    """Of a range of axes the input, whether they are counted from the end, too, and whether r is one."""
    most = _LAST.fullmatch(stated.at_most or "")
    below = _LAST.fullmatch(stated.less_than or "")
    end = most or below
    if end is None or (below is not None and below[2]):
        return None
    extra = most is not None and not most[2]
    low = _LOWEST.fullmatch(stated.at_least or "")
    if low is not None and low[1] == end[1] and bool(low[2]) == extra:
        return end[1], True, extra
    return (end[1], False, extra) if stated.at_least == "0" else None
