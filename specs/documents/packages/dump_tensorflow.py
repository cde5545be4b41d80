"""Write the operators of an installed TensorFlow as JSON Lines; run in that package's environment.

An operator's docstring is taken from the source of its generated function, its definition from the registry;
what its shape function takes is found by asking it.

Usage: python dump_tensorflow.py tensorflow FILE
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Axis = tuple[str, int]
"""An input and an axis of it."""
_HIGHEST = 6
"""The greatest rank that shape functions are asked about."""
_MOST_AXES = 20
_MOST_INPUTS = 8
_HANDLES = ("resource", "variant")
"""The types of what is no tensor of elements."""
_ONE, _OTHER = 7, 5
"""Extents that no shape function has a reason to prefer."""


def rows() -> Iterator[Row]:
    """The lines of the whole package."""
    tensorflow: Any = import_module("tensorflow")
    version = tensorflow.__version__
    yield {"format": "opcert-package/1", "package": "tensorflow", "version": version}
    known = definitions()
    described = docstrings(Path(tensorflow.__file__).parent)
    taken = taken_shapes(tensorflow, [known[name] for name in sorted(described) if name in known])
    for name, (source, function, text) in sorted(described.items()):
        yield {"is": "operator", "name": name, "source": source, "parameters": parameters(function)}
        for line in text.split("\n"):
            yield {"is": "text", "text": line}
        if name in known:
            yield from definition_rows(known[name])
            yield from taken.get(name, ())


def docstrings(folder: Path) -> dict[str, tuple[str, ast.FunctionDef, str]]:
    """Of each raw operator the place, the function and its docstring, from the generated modules."""
    found = {}
    for path in sorted(folder.rglob("gen_*.py")):
        body = ast.parse(path.read_text("utf-8")).body
        functions = {
            function_def.name: function_def
            for function_def in body
            if isinstance(function_def, ast.FunctionDef)
        }
        for node in body:
            names = raw_operator(node)
            function = functions.get(names[1]) if names else None
            text = ast.get_docstring(function, clean=False) if function is not None else None
            if names and function is not None and text is not None:
                place = f"{path.relative_to(folder.parent).as_posix()} line {function.lineno}"
                found[names[0]] = (place, function, inspect.cleandoc(text))
    return found


def raw_operator(node: ast.stmt) -> tuple[str, str] | None:
    """Operator and function of `Name = tf_export("raw_ops.Name")(_ops.to_raw_op(function))`."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return None
    target, inner = node.targets[0], node.value.args[0]
    if not isinstance(target, ast.Name) or not isinstance(inner, ast.Call) or len(inner.args) != 1:
        return None
    is_raw = isinstance(inner.func, ast.Attribute) and inner.func.attr == "to_raw_op"
    argument = inner.args[0]
    return (target.id, argument.id) if is_raw and isinstance(argument, ast.Name) else None


def parameters(function: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters."""
    return [argument.arg for argument in function.args.args]


def definitions() -> dict[str, Any]:
    """Every registered operator's definition, by name."""
    messages = import_module("tensorflow.core.framework.op_def_pb2")
    session = import_module("tensorflow.python.client.pywrap_tf_session")
    found = messages.OpList()
    found.ParseFromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    return {each.name: each for each in found.op}


def definition_rows(definition: Any) -> Iterator[Row]:
    """The parts of a definition: inputs, outputs, attributes."""
    for kind, arguments in (("input", definition.input_arg), ("output", definition.output_arg)):
        for argument in arguments:
            row = {"is": kind, "name": argument.name}
            if argument.type:
                row["type"] = type_name(argument.type)
            for field in ("type_attr", "number_attr", "type_list_attr"):
                if getattr(argument, field):
                    row[field] = getattr(argument, field)
            yield row
    for each in definition.attr:
        row = {"is": "attribute", "name": each.name, "type": each.type}
        if each.HasField("default_value"):
            row["default"] = value(each.default_value)
        if each.HasField("allowed_values"):
            row["allowed"] = value(each.allowed_values)
        if each.has_minimum:
            row["minimum"] = each.minimum
        yield row


def value(message: Any) -> Any:
    """An AttrValue as JSON has it: shapes as lists (null where the rank is unknown), types by name."""
    kind = message.WhichOneof("value")
    if kind == "list":
        filled = [each for each in ("s", "i", "f", "b", "type", "shape") if len(getattr(message.list, each))]
        return [plain(filled[0], each) for each in getattr(message.list, filled[0])] if filled else []
    if kind in ("s", "i", "f", "b", "type", "shape"):
        return plain(kind, getattr(message, kind))
    text_format = import_module("google.protobuf.text_format")
    return text_format.MessageToString(getattr(message, kind), as_one_line=True) if kind else None


def plain(kind: str, item: Any) -> Any:
    """One value of a kind of AttrValue."""
    if kind == "s":
        return item.decode("utf-8", "replace")
    if kind == "type":
        return type_name(item)
    if kind == "shape":
        return None if item.unknown_rank else [each.size for each in item.dim]
    if kind == "f":
        numpy = import_module("numpy")
        return float(str(numpy.float32(item)))
    return item


def type_name(number: int) -> str:
    """The name of a type: `float32`; those of references end in `_ref`."""
    name: str = import_module("tensorflow.python.framework.dtypes").as_dtype(number).name
    return name


def taken_shapes(tensorflow: Any, asked: Sequence[Any]) -> dict[str, list[Row]]:
    """Of each definition what its shape function takes, asked in processes that may die of a question."""
    found: dict[str, list[Row]] = {}
    left = list(asked)
    while left:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                with os.fdopen(writing, "w") as file:
                    for definition in left:
                        file.write(json.dumps(list(shape_rows(tensorflow, definition))) + "\n")
                        file.flush()
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as file:
            answers = [json.loads(line) for line in file if line.endswith("\n")]
        os.waitpid(child, 0)
        found.update(zip((definition.name for definition in left), answers, strict=False))
        left = left[len(answers) + 1 :]
    return found


def shape_rows(tensorflow: Any, definition: Any) -> Iterator[Row]:
    """What the shape function of an operator takes: ranks, extents that are equal or fixed, broadcasting."""
    try:
        asked = ShapeFunction(tensorflow, definition)
    except ValueError:
        return
    inputs = definition.input_arg
    plain = not any(each.is_ref or type_name(each.type) in _HANDLES for each in inputs if each.type)
    if plain and len(inputs) <= _MOST_INPUTS and asked.takes({}):
        yield from asked.rows()


class ShapeFunction:
    """The shape function of one operator, asked with attributes at their plainest.

    Raises ValueError where an attribute has no plain value.
    """

    def __init__(self, tensorflow: Any, definition: Any) -> None:
        self._tensorflow = tensorflow
        self._definition = definition
        self._names = [each.name for each in definition.input_arg]
        self._attributes = {each.name: plainest(each) for each in definition.attr}
        self._graph = tensorflow.Graph()
        self._tensors: dict[Any, Any] = {}
        self._several: dict[str, int] = {}
        types = {each.name: self._attributes[each.name] for each in definition.attr}
        self._types: dict[str, list[int]] = {}
        for each in definition.input_arg:
            if each.type_list_attr:
                self._types[each.name] = list(types[each.type_list_attr].list.type)
            else:
                count = max(types[each.number_attr].i, 1) if each.number_attr else 1
                self._types[each.name] = [each.type or types[each.type_attr].type] * count

    def takes(self, shapes: Mapping[str, Any]) -> bool:
        """Whether it takes inputs of these shapes; those that are not named have an unknown rank."""
        try:
            with self._graph.as_default():
                given = []
                for name in self._names:
                    given += [self._tensor(number, shapes.get(name)) for number in self._types[name]]
                self._graph.create_op(self._definition.name, given, attrs=self._attributes)
        except (ValueError, TypeError, AssertionError, self._tensorflow.errors.OpError):
            return False
        return True

    def _tensor(self, number: int, shape: Any) -> Any:
        key = (number, shape)
        if key not in self._tensors:
            kind = self._tensorflow.as_dtype(number).base_dtype
            self._tensors[key] = self._tensorflow.raw_ops.Placeholder(
                dtype=kind, shape=None if shape is None else list(shape)
            )
        return self._tensors[key]

    def rows(self) -> Iterator[Row]:
        """What it takes, as lines; nothing of an input of which it takes no rank."""
        ranks = {name: self._ranks(name) for name in self._names}
        if not all(ranks.values()):
            return
        for name, found in ranks.items():
            is_range = found == [*range(found[0], found[-1] + 1)]
            if is_range and len(found) <= _HIGHEST:
                most = None if found[-1] == _HIGHEST else found[-1]
                yield {"is": "rank", "name": name, "least": found[0], "most": most}
        alike = list(self._alike([name for name in self._names if len(ranks[name]) > _HIGHEST]))
        yield from alike
        yield from self._extents(ranks, {frozenset((row["name"], row["as"])) for row in alike})

    def _ranks(self, name: str) -> list[int]:
        return [rank for rank in range(_HIGHEST + 1) if self.takes({name: (None,) * rank})]

    def _alike(self, names: Sequence[str]) -> Iterator[Row]:
        """The inputs of any rank that have the same shape, or are broadcast to each other."""
        for one, other in combinations(names, 2):
            if self.takes({one: (_ONE, 3), other: (_ONE, 3)}) and not self.takes(
                {one: (_ONE, 3), other: (_ONE, _OTHER)}
            ):
                wide = self.takes({one: (_ONE, 3), other: (3,)}) and self.takes(
                    {one: (_ONE, 1), other: (1, _OTHER)}
                )
                longer = not self.takes({one: (_ONE, 3), other: (_ONE, 3, 2)})
                if wide or longer:
                    yield {"is": "broadcast" if wide else "same", "name": other, "as": one}

    def _extents(self, ranks: Mapping[str, Sequence[int]], alike: set[frozenset[str]]) -> Iterator[Row]:
        """The extents that are equal in any calls, or one number; each input with one has a line."""
        probed = {}
        for name, found in ranks.items():
            if found[-1] == _HIGHEST:
                probed[name] = min(found[0] + 2, _HIGHEST - 1)
            elif len(found) == 1:
                probed[name] = found[0]
        axes = [(name, axis) for name, rank in probed.items() for axis in range(rank)]
        if len(axes) > _MOST_AXES:
            return
        fixed = {axis: extent for axis in axes if (extent := self._fixed(probed, axis)) is not None}
        equal = [
            (one, other)
            for one, other in combinations([axis for axis in axes if axis not in fixed], 2)
            if frozenset((one[0], other[0])) not in alike and self._are_equal(probed, one, other)
        ]
        groups: list[set[Axis]] = []
        for pair in equal:
            met = [group for group in groups if group & {*pair}]
            groups = [group for group in groups if group not in met] + [set(pair).union(*met)]
        for name, found in ranks.items():
            own = {
                axis: extent
                for (owner, axis), extent in (
                    *fixed.items(),
                    *((axis, f"n{at}") for at, group in enumerate(groups) for axis in sorted(group)),
                )
                if owner == name
            }
            if not own:
                continue
            if len(found) == 1:
                extents = [str(own.get(axis, "?")) for axis in range(found[0])]
            else:
                extents = self._open(name, ranks, probed, own, equal)
            if extents:
                yield {"is": "shape", "name": name, "extents": extents}

    def _open(
        self,
        name: str,
        ranks: Mapping[str, Sequence[int]],
        probed: Mapping[str, int],
        own: Mapping[int, Any],
        equal: Sequence[tuple[Axis, Axis]],
    ) -> list[str]:
        """Extents of an input of any rank from some rank on: those at its begin, `...`, those at its end.

        Those beyond the least rank are among the axes that `...` stands for, in every input alike.
        """
        least, rank = ranks[name][0], probed[name]
        is_open = {each for each, found in ranks.items() if found[-1] == _HIGHEST}
        more = {each: rank + (each in is_open) for each, rank in probed.items()}
        begin = ["?"] * least
        end = ["?"] * least

        def behind(axis: Axis) -> Axis:
            return (axis[0], axis[1] + 1) if axis[0] in is_open else axis

        for axis, extent in own.items():
            pairs = [pair for pair in equal if (name, axis) in pair]
            batch = all(owner in is_open and at == axis for pair in pairs for owner, at in pair)
            if (
                axis < least
                and not (pairs and batch)
                and (
                    any(self._are_equal(more, *pair) for pair in pairs)
                    or (not pairs and self._fixed(more, (name, axis)) == extent)
                )
            ):
                begin[axis] = str(extent)
            elif rank - axis <= least and (
                any(self._are_equal(more, *map(behind, pair)) for pair in pairs)
                or (not pairs and self._fixed(more, (name, axis + 1)) == extent)
            ):
                end[axis - rank] = str(extent)
        known = [each for each in (begin, end) if {*each} != {"?"}]
        if len(known) == 1:
            return [*begin, "..."] if known[0] is begin else ["...", *end]
        return [*begin[: least // 2], "...", *end[least // 2 :]] if known else []

    def _with(self, ranks: Mapping[str, int], extents: Mapping[Axis, int]) -> bool:
        """Whether it takes inputs of these ranks with these extents; first all of them, else those alone."""
        shapes = {
            name: tuple(extents.get((name, axis)) for axis in range(rank)) for name, rank in ranks.items()
        }
        named = {name for name, _ in extents}
        if self.takes({name: (None,) * rank for name, rank in ranks.items()}):
            return self.takes(shapes)
        return self.takes({name: shape for name, shape in shapes.items() if name in named})

    def _fixed(self, ranks: Mapping[str, int], axis: Axis) -> int | None:
        if self._with(ranks, {axis: _ONE}):
            return None
        taken = [extent for extent in range(1, 10) if self._with(ranks, {axis: extent})]
        return taken[0] if len(taken) == 1 else None

    def _are_equal(self, ranks: Mapping[str, int], one: Axis, other: Axis) -> bool:
        return not self._with(ranks, {one: _ONE, other: _OTHER}) and all(
            self._with(ranks, {one: extent, other: extent}) for extent in (_ONE, _OTHER)
        )


def plainest(attribute: Any) -> Any:
    """The default of an attribute, or the plainest value that it may have, as an AttrValue."""
    if attribute.HasField("default_value"):
        return attribute.default_value
    message: Any = import_module("tensorflow.core.framework.attr_value_pb2").AttrValue()
    types: Any = import_module("tensorflow.core.framework.types_pb2")
    allowed = attribute.allowed_values.list
    least = max(attribute.minimum, 1) if attribute.has_minimum else 1
    number = types.DT_FLOAT if types.DT_FLOAT in allowed.type or not allowed.type else allowed.type[0]
    word = allowed.s[0] if allowed.s else b""
    match attribute.type:
        case "type":
            message.type = number
        case "list(type)":
            message.list.type.extend([number] * least)
        case "int":
            message.i = least
        case "list(int)":
            message.list.i.extend([1] * max(least, 4 if not attribute.has_minimum else 1))
        case "float":
            message.f = 1.0
        case "list(float)":
            message.list.f.extend([1.0] * least)
        case "bool":
            message.b = False
        case "string":
            message.s = word
        case "list(string)":
            message.list.s.extend([word] * least)
        case "shape":
            message.shape.unknown_rank = True
        case _:
            raise ValueError(attribute.type)
    return message


def main() -> None:
    """Write every line, and last how many there are."""
    with Path(sys.argv[2]).open("w", encoding="ascii") as file:
        count = 1
        for row in rows():
            file.write(json.dumps(row) + "\n")
            count += 1
        file.write(json.dumps({"is": "end", "lines": count}) + "\n")


if __name__ == "__main__":
    main()
