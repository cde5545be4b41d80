"""Definitions of operators that hypothesis makes up, within what TensorFlow's definitions can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.specs.emitters.tensorflow import Definition

_TYPES = ["half", "bfloat16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool", "string",
          "complex64", "qint8", "quint8", "resource", "variant", "float8_e5m2", "int4"]  # fmt: skip
_NAMES = ["x", "y", "input", "size", "crops", "begin", "values", "grad_output", "Axis", "mode", "N1", "dims"]
_TEXTS = [
    "",
    "4-D with shape `[batch, height, width, channels]`.",
    "2-D with shape `[M, 2]`, all values must be >= 0.\nMore words about it.",
    "Either 3-D or 4-D. Defaults to false.",
    "Its type. Must be one of the following types: `float16`, `mystery`.",
    "If set, from: `\"A\", \"B\"`. Must have the same type as `nothing`.",
    "1-D. An optional `bool`. Defaults to `True`.",
    "For example:\n\n```\nArgs = [1, 2]\n```",
    "A list of `Tensor` objects could stand here; note: it does not.",
]  # fmt: skip
_WORDS = ["SAME", "VALID", "NHWC", "a_b", "replace", "x y", "local://", "", "it's", 'say "hi"', "back\\slash"]
_types = st.lists(st.sampled_from(_TYPES), min_size=1, max_size=6, unique=True)


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    """A whole definition, with words of people behind some arguments."""
    names = iter(draw(st.permutations(_NAMES)))
    attributes: dict[str, dict[str, Any]] = {}
    inputs = [_tensor(draw, next(names), attributes, True) for _ in range(draw(st.integers(0, 4)))]
    own = [_attribute(draw, next(names)) for _ in range(draw(st.integers(0, 4)))]
    count = draw(st.integers(0, 3))
    outputs = [_tensor(draw, f"out{each}", attributes, False) for each in range(count)]
    texts = {each["name"]: draw(st.sampled_from(_TEXTS)) for each in (*inputs, *own, *outputs)}
    texts[""] = draw(st.sampled_from(["Does something.", "Does it.\n\nIn two paragraphs: `a = b + c`."]))
    return Definition(
        draw(st.sampled_from(["Op", "BatchToSpaceND", "Conv2D", "MergeV2"])),
        inputs, outputs, [*attributes.values(), *own], texts,
    )  # fmt: skip


def _tensor(
    draw: st.DrawFn, name: str, attributes: dict[str, dict[str, Any]], is_input: bool
) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name}
    form = draw(st.sampled_from(["fixed", "type", "types", "number", "number of type"]))
    if form.startswith("number"):
        row["number_attr"] = draw(st.sampled_from(["N", "K"]))
        least = draw(st.integers(0, 3))
        attributes.setdefault(
            row["number_attr"], {"name": row["number_attr"], "type": "int", "minimum": least}
        )
    if form in ("fixed", "number"):
        row["type"] = draw(st.sampled_from(_TYPES))
    elif form == "types":
        row["type_list_attr"] = draw(st.sampled_from(["Tlist", "Tmany"]))
        _type_attribute(draw, row["type_list_attr"], "list(type)", attributes, is_input)
    else:
        row["type_attr"] = draw(st.sampled_from(["T", "Tidx", "dtype"]))
        _type_attribute(draw, row["type_attr"], "type", attributes, is_input)
    return row


def _type_attribute(
    draw: st.DrawFn, name: str, kind: str, attributes: dict[str, dict[str, Any]], is_input: bool
) -> None:
    if name in attributes:
        return
    attributes[name] = {"name": name, "type": kind}
    if draw(st.booleans()):
        attributes[name]["allowed"] = draw(_types)
    if not is_input and draw(st.booleans()):
        allowed = attributes[name].get("allowed", _TYPES)
        attributes[name]["default"] = allowed[0] if kind == "type" else [allowed[0]]


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**31), 2**31),
    "float": st.floats(width=32, allow_nan=False),
    "string": st.sampled_from(_WORDS),
    "bool": st.booleans(),
    "type": st.sampled_from(_TYPES),
    "shape": st.none() | st.lists(st.integers(-1, 9), max_size=3),
    "func": st.nothing(),
}


def _attribute(draw: st.DrawFn, name: str) -> dict[str, Any]:
    item = draw(st.sampled_from(sorted(_VALUES)))
    is_list = draw(st.booleans())
    row: dict[str, Any] = {"name": name, "type": f"list({item})" if is_list else item}
    values = _VALUES[item]
    if item in ("string", "type") and draw(st.booleans()):
        row["allowed"] = draw(st.lists(values.filter(lambda each: '"' not in each and ", " not in each),
                                       min_size=1, max_size=4, unique=True))  # fmt: skip
        values = st.sampled_from(row["allowed"])
    if is_list or item == "int":
        least = draw(st.none() | st.integers(1, 3))
        if least is not None:
            row["minimum"] = least
    if item != "func" and draw(st.booleans()):
        row["default"] = draw(
            st.lists(values, min_size=row.get("minimum", 0), max_size=4) if is_list else values
        )
    return row
