"""What calls of documents alone give where no sentence says anything: the plainest value that there is."""

from __future__ import annotations

import re

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.derived.entries import Collected
from specs.derived.kinds import COVERED, LEFT_OUT, WINDOW
from specs.derived.related_shapes import ANY_SHAPE, ONE_FOR_ALL, PLAIN_SCALE, says_quantisation
from specs.language.shape_expressions import parse_shape
from specs.model.signature_parts import AttributeSpec, ParameterSpec
from specs.model.spec import Spec
from specs.model.statements import Range, Rank
from specs.model.structures import forms_of

_AXIS = re.compile(r"(?:axis|axes|dim|dims|dimension)")
_SEVERAL = "'several', "
_SEVERAL_AXES = ("axes", "dims")
_AXES = re.compile(r"axis\('several', (\w+(?:, negative=False)?)\)( or error)?")
_EXTENTS = re.compile(r"(?:.*_)?(?:sizes?|shapes?|dims|multiples|\w*size)")
"""How integers are called that are extents: from 1 on, and few."""
_COUNT = re.compile(r"(?:.*_)?(?:k|n|num|count|lengths?|depth|limit|num_\w+|strides?|steps?)")
"""How integers are called that say how many there are of something: one is the plainest."""
_MORE_COUNTS = re.compile(r"(?:.*_)?(?:groups?|dims?|ndim|targets)|(?:max|n)_\w+")
"""How attributes are called, beside those, that say how many."""
_INDICES = re.compile(r"(?:.*_)?(?:ids|indices)")
"""How a first input is called whose integers are places in another one."""
_BOUNDARIES = re.compile(r"cumulative_\w+|cu_seqlens\w*")
"""How inputs are called that say where each of several sequences ends that lie in one axis, in a row."""
_WINDOW = re.compile(r"(?:k_?size|kernel(?:_shape)?|strides?|rates?|dilations?|pads_(?:begin|end))")
"""How lists of integers are called that have one for each axis that a window slides over."""
_SPATIAL = {"org.openvino": 2}
"""Of how many axes in front such lists have none; in other documents they have one of every axis."""
_WEIGHTS = re.compile(r"w|weights?|filters?", re.IGNORECASE)
_TRANSPOSES = re.compile(r"trans[A-Z]\w*")
"""How flags are called that say that a matrix is to be transposed."""
_SWITCH = re.compile(r"(?:do|use)_\w+")
"""How flags are called that switch something on."""
_BITS = re.compile(r"(?:.*_)?n?bits")
"""How integers are called that say of how many bits quantised numbers are: of four, where defaults say it."""
_GIVEN = re.compile(r"integer\(given=\[(\w+)\], equals=\w+\)")
_SHIFTS = re.compile(r"B|bias|beta|gamma")
"""How vectors are called that have a number for each place of the last axis, if not for each channel."""
_OF_CHANNELS = {"mean", "variance"}
"""The inputs beside which they have one for each channel."""
_PLAIN_KERNEL = "whole_numbers('alike', length=len(S), least=1)"
_ONE_IN_A_LIST = "constant('listed', length=1, first=1)"
_MOST = 5
_SINGLE = ("()", "maybe(1)")
"""The shapes of inputs that are one number."""
_SINGLE_NUMBER = "integer(1, 8)"
_ANY_NUMBER = "integer(1, 4)"
"""The kind of an integer of which no sentence says anything."""


class SilentReader:
    """Adds kinds where there are none yet, for documents alone: nothing that people declared is filled so."""

    def __init__(self, spec: Spec, found: Collected) -> None:
        self._spec = spec
        self._found = found
        self._shapes = {e.path[1]: str(e.value) for e in found.entries if e.path[0] == "shapes"}
        self._notes = {e.path[1]: e.note for e in found.entries if e.path[0] == "shapes"}
        self._kinds = {e.path[1]: str(e.value) for e in found.entries if e.path[0] == "kinds"}
        shapes = (parse_shape(str(e.value)) for e in found.entries if e.path[0] in ("shapes", "results"))
        self._used = frozenset[str]().union(*(shape.names for shape in shapes))

    def read(self) -> None:
        """Add the entries."""
        self._slides()
        for attribute in self._spec.attributes.values():
            if WINDOW in self._kinds and attribute.name in COVERED:
                continue
            self._transposes(attribute)
            if attribute.name not in self._kinds and (call := self._list(attribute)) is not None:
                self._add(attribute.name, call, "no sentence says which values it has")
                about = f"kinds.{attribute.name}"
                self._found.missing[:] = [each for each in self._found.missing if each.about != about]
            if _AXIS.fullmatch(attribute.name) and self._kinds.get(attribute.name) == _ANY_NUMBER:
                self._axis(attribute.name)
            self._choice(attribute)
            self._default_alone(attribute)
            self._switch(attribute)
            self._bits(attribute)
        for name, shape in self._shapes.items():
            if "auto_broadcast" in self._spec.attributes and shape.startswith("*broadcast("):
                alike = shape.removeprefix("*broadcast(").removesuffix(")")
                self._found.add(
                    "shapes", name, alike, note="what auto_broadcast allows in any case", alone=True
                )
        self._features()
        for parameter in self._spec.inputs:
            self._along_last(parameter)
            self._same_rank(parameter)
            self._length(parameter)
            self._one_for_all(parameter)
            self._input(parameter)
            self._holds_something(parameter)
        self._forget_packs()

    def _forget_packs(self) -> None:
        """No bounds of a pack that is in no shape any more."""
        entries = self._found.entries
        shapes = {entry.path[1]: str(entry.value) for entry in entries if entry.path[0] == "shapes"}
        known = {name for shape in shapes.values() for name in parse_shape(shape).names}
        entries[:] = [
            entry
            for entry in entries
            if not entry.alone or entry.path[0] != "extents" or entry.path[1] in known
        ]

    def _add(self, name: str, call: str, note: str) -> None:
        self._found.add("kinds", name, call, note=note, alone=True)

    def _slides(self) -> None:
        """The shapes of an image and its weights, where attributes are a window's and no sentence says one.

        The channels are behind the other axes where the operator is called so.
        """
        attributes = self._spec.attributes
        image = next(iter(self._shapes), None)
        if image is None or not {"kernel_shape", "strides"} <= attributes.keys():
            return
        weights = next((name for name in list(self._shapes)[1:] if _WEIGHTS.fullmatch(name)), None)
        if self._notes[image] != ANY_SHAPE or (weights is None and not attributes["kernel_shape"].required):
            return
        channels = "C, M" if "output_padding" in attributes else "M, C"
        behind = self._spec.operator.name.startswith("Nhwc")
        shapes = {image: "N, *S, C" if behind else "N, C, *S"}
        if weights is not None:
            shapes[weights] = "M, *upto(*S), C" if behind else f"{channels}, *upto(*S)"
        note = "the shape that a window slides over"
        for name, shape in shapes.items():
            self._reshape(name, shape, note)
        self._found.add("extents", "S", "2..2", note=note, alone=True)
        window = ("kinds", WINDOW)
        self._found.entries[:] = [entry for entry in self._found.entries if entry.path != window]
        for name in (name for name in COVERED if name in attributes):
            kind = LEFT_OUT if weights is not None or name != "kernel_shape" else _PLAIN_KERNEL
            self._kinds[name] = kind
            self._add(name, kind, "no sentence says which values it has")

    def _transposes(self, attribute: AttributeSpec) -> None:
        """The default alone of a flag that transposes something, where no shape that is read hangs on it."""
        name = attribute.name
        if attribute.kind != "int" or not _TRANSPOSES.fullmatch(name) or attribute.required:
            return
        if not any(re.search(rf"\b{name}\b", shape) for shape in self._shapes.values()):
            self._kinds[name] = LEFT_OUT
            self._add(name, LEFT_OUT, "no shape that is read hangs on it")

    def _default_alone(self, attribute: AttributeSpec) -> None:
        """The default of an integer that is called a number of something: one of 0 or 1 makes it no flag."""
        name = attribute.name
        bounded = self._kinds.get(name) == "integer(1)" and name not in self._used
        silent = attribute.kind == "int" and attribute.values is None
        silent = silent and (name not in self._kinds or bounded)
        counts = any(form.fullmatch(name) for form in (_COUNT, _EXTENTS, _MORE_COUNTS))
        if silent and counts and attribute.default in ((1,) if bounded else (0, 1)):
            self._kinds[name] = f"enumeration({attribute.default})"
            self._add(name, self._kinds[name], "no sentence says other values")

    def _switch(self, attribute: AttributeSpec) -> None:
        """The default alone of a flag that switches on what may need more than sentences say."""
        name, default = attribute.name, attribute.default
        flag = self._kinds.get(name, "integer(0, 1)") == "integer(0, 1)"
        if attribute.kind != "int" or not flag or attribute.required or not _SWITCH.fullmatch(name):
            return
        self._kinds[name] = LEFT_OUT if default is None else f"enumeration({default})"
        self._add(name, self._kinds[name], "no sentence says what it needs")

    def _bits(self, attribute: AttributeSpec) -> None:
        """Four for a number of bits of which no sentence says anything, or for the extent that gives it."""
        name, note = attribute.name, "half a byte each"
        kind = self._kinds.get(name, "")
        if attribute.kind != "int" or not _BITS.fullmatch(name) or attribute.default is not None:
            return
        if (given := _GIVEN.fullmatch(kind)) is not None:
            self._found.add("extents", given[1], "4..4", note=note, alone=True)
        elif kind in (LEFT_OUT, _ANY_NUMBER):
            self._kinds[name] = "enumeration(4)"
            self._add(name, self._kinds[name], note)

    def _choice(self, attribute: AttributeSpec) -> None:
        """One of several values alone, where shapes are those of it, or where another one needs a list."""
        values = attribute.values.values if attribute.values is not None else ()
        if attribute.name == "data_format" and attribute.default in values:
            note = "the format that the shapes are written in"
            self._add(attribute.name, f"enumeration({attribute.default!r})", note)
        if attribute.name == "padding" and "EXPLICIT" in values:
            others = ", ".join(repr(value) for value in values if value != "EXPLICIT")
            self._add(attribute.name, f"enumeration({others})", "no sentence says explicit paddings")

    def _list(self, attribute: AttributeSpec) -> str | None:
        """The kind of a list: as many of the least number as it has to have, or none."""
        if attribute.kind not in ("ints", "floats", "strings"):
            return None
        if not attribute.required:
            return LEFT_OUT
        if attribute.kind != "ints":
            return _ONE_IN_A_LIST
        name, image = (
            attribute.name,
            next((name for name in self._shapes if not _EXTENTS.fullmatch(name)), None),
        )
        if _AXIS.fullmatch(name) and attribute.least_length is None and self._shapes:
            of = self._has_axes()
            self._with_axes(of, name)
            return f"axis({_SEVERAL}{of})"
        length = "2" if _EXTENTS.fullmatch(name) else "1"
        if attribute.least_length is not None:
            length = str(attribute.least_length)
        elif _WINDOW.fullmatch(name) and image is not None:
            front = _SPATIAL.get(self._spec.operator.domain, 0)
            length = f"rank({image})" + (f" - {front}" if front else "")
        least = 0 if name.startswith("pad") else max(1, int(attribute.at_least or 0))
        return f"whole_numbers('alike', length={length}, least={least})"

    def _features(self) -> None:
        """The last extent of the first input of a product: an attribute says how many features go in."""
        sizes = [self._spec.attributes.get(name) for name in ("K", "N")]
        first = next(iter(self._shapes), None)
        if first is None or self._notes[first] != ANY_SHAPE:
            return
        if all(size is not None and size.kind == "int" and size.required for size in sizes):
            self._reshape(first, f"{self._shapes[first]}, K", "K features go in, and N come out")

    def _along_last(self, parameter: ParameterSpec) -> None:
        """The last extent of the first input for a bias of which sentences say that it is a vector."""
        name, first = parameter.name, self._spec.inputs[0]
        extent = f"{name}_0"
        if not _SHIFTS.fullmatch(name) or self._shapes[name] != extent or parameter.type != first.type:
            return
        if _OF_CHANNELS & self._shapes.keys():
            return
        *_, last = self._shapes[first.name].split(", ")
        note = "a bias has a number for each place of the last axis"
        if self._notes[first.name] == ANY_SHAPE:
            self._reshape(first.name, f"{self._shapes[first.name]}, {extent}", note)
        elif last.isidentifier():
            self._reshape(name, last, note)
            self._found.entries[:] = [
                entry for entry in self._found.entries if entry.path != ("kinds", name) or not entry.alone
            ]

    def _same_rank(self, parameter: ParameterSpec) -> None:
        """The shape of another input, where of this one its rank alone is said to be that of the other."""
        name = parameter.name
        for each in self._spec.statements:
            if not isinstance(each, Rank) or each.about != f"inputs.{name}" or each.least != each.most:
                continue
            of = re.fullmatch(r"rank\((\w+)\)", each.least or "")
            if of is not None and of[1] in self._shapes and self._notes[name].startswith("no sentence says"):
                self._found.add("shapes", name, f"shape({of[1]})", each.origin, alone=True)

    def _length(self, parameter: ParameterSpec) -> None:
        """The extent of an input without another one, where sentences say how long it is."""
        name = parameter.name
        for each in self._spec.statements:
            if not isinstance(each, Range) or each.about != f"inputs.{name}" or each.of != "length":
                continue
            one = each.at_least
            if one is None or (each.at_most is not None and one != each.at_most):
                continue
            forms = {f"{name}_0": one, f"maybe({name}_0)": f"maybe({one})", "()": f"maybe({one})"}
            if self._notes[name] == ANY_SHAPE:
                forms[self._shapes[name]] = one if each.at_most is None else f"maybe({one})"
            if self._shapes[name] in forms and (one.isdecimal() or one in self._spec.attributes):
                self._shapes[name] = forms[self._shapes[name]]
                self._found.add("shapes", name, self._shapes[name], each.origin, alone=True)

    def _one_for_all(self, parameter: ParameterSpec) -> None:
        """A scale that may be a list is one number, where no sentence says how long the list is."""
        name = parameter.name
        if says_quantisation(name) and self._shapes[name] in (f"maybe({name}_0)", f"{name}_0"):
            self._shapes[name] = "()"
            self._found.add("shapes", name, "()", note=ONE_FOR_ALL, alone=True)

    def _input(self, parameter: ParameterSpec) -> None:
        """The kind of integers that are no data: an axis, a count, or indices, all of what is first."""
        name, first = parameter.name, self._spec.inputs[0]
        known = self._kinds.get(name)
        shape = self._shapes[name]
        silent = self._notes[name].startswith("no sentence says")
        if known is not None:
            axes = _AXES.fullmatch(known)
            if axes is not None and (silent or self._is_one(name)):
                self._scalar(name, f"axis({axes[1]}){axes[2] or ''}")
            return
        types = self._spec.types_of(parameter)
        if self._is_single(parameter):
            scale = says_quantisation(name)
            if not scale or all(ELEMENT_TYPES[each].is_float for each in types):
                kind = PLAIN_SCALE if scale else _SINGLE_NUMBER
                self._add(name, kind, "a single number of which no sentence says anything")
            return
        is_data = parameter is not first and parameter.type == first.type
        is_data = is_data and parameter.type in self._spec.type_constraints
        if not types or not all(ELEMENT_TYPES[each].is_integer for each in types):
            return
        is_count = _EXTENTS.fullmatch(name) or _COUNT.fullmatch(name)
        is_data = is_data or (parameter is first and not _INDICES.fullmatch(name))
        if parameter.option == "variadic" or (not is_count and is_data):
            return
        if _AXIS.fullmatch(name) and (silent or self._is_one(name)):
            self._scalar(name)
        elif _BOUNDARIES.fullmatch(name) and (of := self._packed_axis(name)) is not None:
            self._add(name, f"data('boundaries', high={of})", "the ends of sequences, by its name")
            rule = {
                "id": f"{name}_packed",
                "require": f"shape({name})[0] > 1 and {of} >= shape({name})[0] - 1",
                "else": "undefined",
                "why": "every sequence has something in it",
            }
            self._found.add("constraints", str(rule["id"]), rule, note=str(rule["why"]), alone=True)
        elif _AXIS.fullmatch(name) and name != "dims" and (shape == "()" or len(self._parts(name)) == 1):
            self._axis(name, "" if shape == "()" else _SEVERAL)
        else:
            ends, note = "0, 1", "no sentence says which integers: the first index"
            if is_count:
                extents = _EXTENTS.fullmatch(name) and not name.startswith("block_")
                ends = f"1, {_MOST}" if extents else "1, 2"
                note = "a number of something, by its name"
            given = f", when=present({name})" if parameter.option == "optional" else ""
            self._add(name, f"data('range', {ends}{given})", note)

    def _is_single(self, parameter: ParameterSpec) -> bool:
        """Whether an input is one number of a type that may be a float, and no data of other inputs."""
        name, types = parameter.name, [ELEMENT_TYPES[each] for each in self._spec.types_of(parameter)]
        single = self._shapes[name] in _SINGLE and parameter.option == "single"
        numeric = all(each.is_float or each.is_integer for each in types)
        return single and numeric and any(each.is_float for each in types)

    def _holds_something(self, parameter: ParameterSpec) -> None:
        """A sequence or map has something in it."""
        forms = forms_of(self._spec, parameter)
        holds = bool(forms) and all(form.startswith(("seq(", "map(")) for form in forms)
        if parameter.option != "single" or not holds:
            return
        name = parameter.name
        is_map = any(form.startswith("map(") for form in forms)
        rule = {
            "id": f"{name}_holds_something",
            "require": f"shape({name}[0])[0] > 0" if is_map else f"len({name}) > 0",
            "else": "undefined",
            "why": "no sentence says that it may be empty",
        }
        self._found.add("constraints", str(rule["id"]), rule, note=rule["why"], alone=True)

    def _is_one(self, name: str) -> bool:
        """Whether an input has one element at most, or may be a scalar; not what is called a list of axes."""
        shape = self._shapes[name]
        several = name in _SEVERAL_AXES
        return shape == "maybe(1)" or (not several and (shape == "1" or shape.startswith("maybe(")))

    def _packed_axis(self, name: str) -> str | None:
        """The extent of the first input's first axis, where another has an element more than sequences."""
        first = self._shapes[self._spec.inputs[0].name].partition(",")[0].lstrip("(")
        counts = re.fullmatch(r"\w+ \+ 1", self._shapes[name])
        return first if first.isidentifier() and counts is not None else None

    def _parts(self, name: str) -> tuple[object, ...]:
        return tuple(parse_shape(self._shapes[name]).parts())

    def _reshape(self, name: str, shape: str, note: str) -> None:
        self._shapes[name], self._notes[name] = shape, note
        self._found.add("shapes", name, shape, note=note, alone=True)

    def _scalar(self, name: str, kind: str = "") -> None:
        self._found.add("shapes", name, "()", note="one axis", alone=True)
        self._axis(name, kind=kind)

    def _axis(self, name: str, several: str = "", kind: str = "") -> None:
        """One axis, or several, of the first input that has some."""
        of = self._has_axes()
        self._add(name, kind or f"axis({several}{of})", "an axis by its name")
        self._with_axes(of, name)

    def _has_axes(self) -> str:
        """The first input that has axes: one number may stand before it."""
        first = self._spec.inputs[0].name
        return next((name for name, shape in self._shapes.items() if shape != "()"), first)

    def _with_axes(self, of: str, name: str) -> None:
        """The input has an axis then."""
        pack = self._shapes[of].removeprefix("*")
        if pack.isidentifier() and not any(e.path == ("extents", pack) for e in self._found.entries):
            self._found.add("extents", pack, "1..4", note=f"{name} is one of its axes", alone=True)
