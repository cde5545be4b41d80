"""What a TensorFlow text says of an argument: its first words, its type, its shape, bounds and steps."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from opcert.vocabulary.attributes import AttributeKind
from opcert.vocabulary.element_types import find_element_type
from opcert.vocabulary.errors import UserError
from specs.documents.prose.formulas import find_formulas
from specs.documents.text.documents import Passage
from specs.model.spec import AllowedValues, AttributeSpec, Formula, Origin
from specs.model.statements import StatedShape, Statement

_TYPES = {"float8_e5m2": "float8e5m2", "float8_e4m3fn": "float8e4m3fn",
          "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e4m3fnuz": "float8e4m3fnuz"}  # fmt: skip


def our_type(name: str) -> str:
    """Our name of an element type; TensorFlow's own where we have none (quantised types, resources)."""
    name = name.removeprefix("tf.")
    try:
        return find_element_type(_TYPES.get(name, name)).name
    except UserError:
        return name


def is_type(name: str) -> bool:
    """Whether a word names an element type, ours or one that only TensorFlow has."""
    if name in _OF_TENSORFLOW:
        return True
    try:
        find_element_type(_TYPES.get(name, name))
    except UserError:
        return False
    return True


_OF_TENSORFLOW = frozenset(
    [
        "resource",
        "variant",
        "qint8",
        "quint8",
        "qint16",
        "quint16",
        "qint32",
        "int2",
        "uint2",
        "float4_e2m1fn",
    ]
)


_RANK = re.compile(
    r"\s*(?:Must be |An? )?(?P<rank>\d+|N)-D\b"
    r"(?! or\b| and\b| \(or\b| slice|, (?:or )?(?:\d|N)-D)(?![^.]{0,30},? or an? )"
    r"(?:,? (?:\w+ )?`?[Tt]ensor`?)?(?: (?:with|of) shape `?(?P<shape>\[[^\[\]]*\]))?"
)
_AT_LEAST = re.compile(r"all values must be >= (-?\d+)")
_REQUIRED = re.compile(r"[Ii]t is required that `?(?P<text>[^`]+?)`? ?\.(?:\s|$)")
_STEP = re.compile(r"to (?:produce )?(?:the )?`?(?P<name>\w+)`?\s+of shape:?\s+(?=\[)")


@dataclass(frozen=True)
class TensorWords:
    """What the words behind a tensor's type state of its shape and values."""

    rank: str | None
    shape: tuple[str, ...] | None
    at_least: int | None
    formulas: tuple[Formula, ...]


def describe_tensor(passage: Passage, start: int) -> TensorWords:
    """Rank, shape, bound, requirements and steps; `start` is where the words about the type end."""
    rank, least = _RANK.match(passage.text, start), _AT_LEAST.search(passage.text, start)
    return TensorWords(
        rank["rank"] if rank else None,
        _extents(rank["shape"]) if rank and rank["shape"] else None,
        int(least[1]) if least else None,
        tuple(_formulas(passage)),
    )


def _extents(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.strip("[]").split(",") if word.strip())


def _formulas(passage: Passage) -> Iterator[Formula]:
    for match in _REQUIRED.finditer(passage.text):
        origin = Origin("imported", (passage.source(match.start("text")),))
        yield Formula("required", " ".join(match["text"].split()), origin)
    for match in _STEP.finditer(passage.text):
        shape = _bracketed(passage.text, match.end())
        if shape is not None:
            origin = Origin("imported", (passage.source(match.start("name")),))
            yield Formula(f"shape({match['name']})", shape, origin)
    examples = passage.text.find("Some examples")
    for formula in find_formulas(passage):
        before = passage.source(examples) if examples >= 0 else None
        if before is None or formula.origin.sources[0].line < before.line:
            yield formula


def _bracketed(text: str, start: int) -> str | None:
    """The bracketed text that begins at an offset, its white space as single blanks."""
    depth = 0
    for position in range(start, min(len(text), start + 2000)):
        depth += (text[position] == "[") - (text[position] == "]")
        if depth == 0:
            return re.sub(r"\s+", " ", text[start : position + 1])
    return None


_QUOTED = r"`[^`]*`"
_LIST = rf"{_QUOTED}(?: ?, ?{_QUOTED})*"
_TENSOR = re.compile(
    r"\A(?:(?P<one>A (?:mutable )?`Tensor`)"
    r"|(?P<many>A list (?:of (?:`(?P<count>\w+)`|at least (?P<least>\d+)) |of "
    r"|with the same length as `(?P<like>\w+)` of )(?:mutable )?`Tensor` objects))"
    rf"(?P<type>(?: of| with) type (?:mutable )?`(?:mutable )?(?P<single>\w+)`"
    rf"|\. Must be one of the following types: (?P<listed>{_LIST})"
    rf"| with (?:the same type in|types from): (?P<within>{_LIST})"
    r"| with the same type as `(?P<with>\w+)`"
    r"| with the same type"
    r"|\. (?:Must have|Has) the same type as `(?P<same>\w+)`)?"
    r"\.(?=\s|\Z)"
)
_WRITTEN = re.compile(
    r"\AAn? (?:\d-D )?(?:`?(?P<single>[a-z]+\d*)`? `?[Tt]ensor`?\b"
    r"|`?(?:tf\.)?Tensor`? of type `?(?P<of>\w+)`?)"
)
_ATTRIBUTE = re.compile(
    r"\A(?:(?P<optional>An optional )|An? )?(?:(?P<list>list of )?`(?P<type>[\w.]+?)(?P<plural>s?)`"
    r"(?P<or_list> or list of `ints`)?"
    r"|(?P<shapes>list of shapes \(each a `tf\.TensorShape` or list of `ints`\))"
    r"|(?P<function>function decorated with @Defun)"
    r"|(?P<functions>list of functions decorated with @Defun))"
    r"(?: that (?:is `>= (?P<least>-?\d+)`|has length `>= (?P<length>\d+)`))?"
    r"(?: from: `(?P<values>[^`]+)`)?\.(?: Defaults to `(?P<default>[^`]*)`\.)?(?=\s|\Z)"
)
_KINDS: dict[str, tuple[AttributeKind | None, str | None]] = {
    "int": ("int", None),
    "float": ("float", None),
    "string": ("string", None),
    "bool": ("int", "bool"),
    "tf.DType": (None, "type"),
    "tf.TensorShape": (None, "shape"),
    "tf.TensorProto": (None, "tensor"),
}
_LISTS: dict[AttributeKind, AttributeKind] = {"int": "ints", "float": "floats", "string": "strings"}
Relation = Literal["single", "listed", "same", "any", "unread"]


@dataclass(frozen=True)
class TensorPhrase:
    """What the first words say of a tensor argument.

    `relation` tells how its type is fixed: one `type`, one of `listed`, the `type` of another argument, any,
    or in words that are not read. A list of tensors may have a least length. `repeated` are types that
    are listed twice.
    """

    relation: Relation
    type: str | None = None
    listed: tuple[str, ...] = ()
    variadic: bool = False
    least: int | None = None
    homogeneous: bool | None = None
    end: int = 0
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True)
class AttributePhrase:
    """What the first words say of an attribute: kind or another word, default, values, bound."""

    kind: AttributeKind | None
    other_type: str | None
    required: bool
    has_default: bool
    default: Any
    values: tuple[str | int | float, ...] | None
    least: int | None
    least_length: int | None
    end: int = 0

    def stated_values(self, origin: Origin) -> AllowedValues | None:
        """The list of values that the phrase has; None where it has none."""
        if self.values is None:
            return None
        return AllowedValues(self.values, "stated-list", 1.0, False, origin)

    def spec(self, name: str, values: AllowedValues | None, origin: Origin) -> AttributeSpec:
        """The attribute of that name, with what the phrase says and the values that are known."""
        return AttributeSpec(
            name=name,
            kind=self.kind,
            required=self.required,
            default=self.default,
            has_default=self.has_default,
            values=values,
            origin=origin,
            at_least=self.least,
            other_type=self.other_type,
            least_length=self.least_length,
        )


def read_tensor(text: str) -> TensorPhrase | None:
    """The phrase of a tensor; `unread` where a tensor is spoken of in other words, None where none is."""
    match = _TENSOR.match(text)
    if match is None:
        return _written(text)
    variadic = match["many"] is not None
    least = int(match["least"]) if match["least"] else None
    listed = match["listed"] or match["within"]
    # A list has one type unless its types are listed by an attribute.
    homogeneous = bool(re.match(r" with (?:type |the same)", match["type"] or "")) if variadic else None
    same = match["same"] or match["with"]
    if same:
        return TensorPhrase("same", same, (), variadic, least, homogeneous, match.end())
    if listed:
        types = [our_type(each) for each in re.findall(r"\w+", listed)]
        repeated = unique(each for each in types if types.count(each) > 1)
        return TensorPhrase(
            "listed", None, unique(types), variadic, least, homogeneous, match.end(), repeated
        )
    if match["single"]:
        return TensorPhrase("single", match["single"], (), variadic, least, homogeneous, match.end())
    return TensorPhrase("any", None, (), variadic, least, homogeneous, match.end())


def _written(text: str) -> TensorPhrase | None:
    """A tensor in the words of a person instead of the generator."""
    sentence = re.split(r"\.\s", text, maxsplit=1)[0]
    if not re.search(r"\b[Tt]ensors?\b", sentence):
        return None
    match = _WRITTEN.match(text)
    if match and is_type(match["single"] or match["of"]):
        return TensorPhrase("single", match["single"] or match["of"], end=match.end())
    return TensorPhrase("unread")


def read_attribute(text: str) -> AttributePhrase | None:
    """The phrase of an attribute; None where the text does not begin with one."""
    match = _ATTRIBUTE.match(text)
    if match is None:
        return None
    kind, other = _kind(match)
    if kind is None and other is None:
        return None
    values = None
    if match["values"]:
        values = _values(match["values"], kind)
        if values is None:
            return None
    has_default, default = False, None
    if match["default"] is not None:
        try:
            default, has_default = read_default(match["default"], kind, other), True
        except ValueError:
            return None
    least = int(match["least"]) if match["least"] else None
    length = int(match["length"]) if match["length"] else None
    return AttributePhrase(
        kind, other, not match["optional"], has_default, default, values, least, length, match.end()
    )


def _values(text: str, kind: AttributeKind | None) -> tuple[str, ...] | None:
    """The values of a printed list: words in quotation marks, or types; None where they are neither."""
    if kind is None:
        return unique(map(our_type, text.split(", ")))
    try:
        words = ast.literal_eval(f"[{text}]")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    return unique(words) if all(isinstance(word, str) for word in words) else None


def _kind(match: re.Match[str]) -> tuple[AttributeKind | None, str | None]:
    if match["function"]:
        return None, "function"
    if match["functions"]:
        return None, "list of functions"
    if match["shapes"]:
        return None, "list of shapes"
    if bool(match["list"]) != bool(match["plural"]):
        return None, None
    kind, other = _KINDS.get(match["type"], (None, None))
    if not match["list"]:
        return kind, other
    return None if kind is None else _LISTS[kind], None if other is None else f"list of {other}s"


def read_default(text: str, kind: AttributeKind | None, other: str | None) -> Any:
    """A printed default as facts hold it: booleans as 0 and 1, our names of types; else ValueError."""
    if other in ("type", "list of types"):
        types = [our_type(each) for each in re.findall(r"tf\.(\w+)", text)]
        if other == "type" and len(types) != 1:
            raise ValueError(text)
        return types[0] if other == "type" else types
    if other in ("tensor", "function"):
        return text
    try:
        # A decimal that is beyond the type is what Python prints as a call.
        value = ast.literal_eval(re.sub(r"float\('(-?)inf'\)", r"\g<1>1e999", text))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(text) from None
    if not _fits(value, kind, other):
        raise ValueError(text)
    if other == "bool":
        return int(value)
    if other == "list of bools":
        return [int(each) for each in value]
    if kind == "float":
        return float(value)
    return [float(each) for each in value] if kind == "floats" else value


_SINGLE: dict[str | None, tuple[type, ...]] = {"int": (int,), "float": (int, float), "string": (str,)}


def _fits(value: object, kind: AttributeKind | None, other: str | None) -> bool:
    if kind is None:
        return value is None or isinstance(value, list)
    boolean = other in ("bool", "list of bools")
    if kind in _SINGLE:
        return isinstance(value, _SINGLE[kind]) and isinstance(value, bool) == boolean
    return isinstance(value, list) and all(
        isinstance(each, _SINGLE[kind[:-1]]) and isinstance(each, bool) == boolean for each in value
    )


def unique(words: Iterable[Any]) -> tuple[Any, ...]:
    """The words in order, each once."""
    return tuple(dict.fromkeys(words))


_COUNTED = re.compile(
    r"\b1-D\.\s{1,4}`(?P<count>[A-Za-z]\w{0,20})` (?:non-empty values|values|elements|vector)\b"
)
_SHAPE_OF_SPARSE = re.compile(r"\b1-D\.\s{1,4}(?:The )?[Ss]hape of the (?:\w{1,20} )?SparseTensor\b")
_CLOSE = 2000
"""How far into a passage they stand."""


def find_counted(passages: Mapping[str, Passage], stated: Sequence[Statement]) -> Iterator[StatedShape]:
    """Shapes of the parts of a sparse tensor: ``1-D. `N` non-empty values``, and as many extents as it has.

    The extents are those that a matrix of indices before them is said to have: `N x R`.
    """
    known = {each.about for each in stated if isinstance(each, StatedShape)}
    matrix: tuple[str, ...] = ()
    for about, passage in passages.items():
        if not about.startswith("inputs."):
            continue
        own = next((each for each in stated if isinstance(each, StatedShape) and each.about == about), None)
        if own is not None and len(own.extents) == 2:
            matrix = own.extents
        text = passage.text[:_CLOSE]
        counted, whole = _COUNTED.search(text), _SHAPE_OF_SPARSE.search(text)
        match = counted or whole
        if match is None or about in known or (counted is None and not matrix):
            continue
        extent = counted["count"] if counted is not None else matrix[1]
        origin = Origin("imported", (passage.source(match.start()),), None, "counted-elements", 0.9)
        yield StatedShape(about, origin, (extent,))
