"""What workers of a cluster answer: with the machine that answers, whatever it is, as plain bytes.

A machine says its name, its kind, and which opcert it has.

The reader of bytes says what type it wants, and takes nothing else: no bytes name a class or a function, and
nothing in them is executed. Types are None, bool, int, float, str, bytes, literals, tuples, sequences,
mappings by text, unions, dataclasses of these, and `Any` for plain JSON. The bytes are a line of JSON with
the value and the lengths of the pieces of bytes that stand behind it.
"""

from __future__ import annotations

import json
import os
import platform
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial, wraps
from importlib.metadata import version
from types import NoneType, UnionType
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from conformance.runtimes.processor import FLAGS, processor_here
from opcert.vocabulary.errors import (
    InternalError,
    NothingRan,
    OpcertError,
    Place,
    RuntimeUnavailable,
    UserError,
)
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.strict_json import parse_json

NAME = "OPCERT_MACHINE"
"""The variable that names a machine where its host name says nothing, as in a pod of Kubernetes."""
_LONGEST_NAME = 200


@cache
def machine_here() -> dict[str, Any]:
    """What a machine is: its `name`, what its `kind` is made of, its size, and the opcert that it has.

    `sources` is the SHA-256 of the code and facts of that opcert, so that two of one version are told apart.
    """
    memory = None
    with suppress(ValueError, OSError, AttributeError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "name": (os.environ.get(NAME) or platform.node() or "unnamed")[:_LONGEST_NAME],
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "features": processor_here()["flags"],
        "processors": os.cpu_count(),
        "memory": memory,
        "python": platform.python_version(),
        "opcert": version("opcert"),
        "sources": project_digest(),
    }


def check_machine(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a machine says of itself; ValueError where it lacks a name or what its kind is made of."""
    texts = [said.get(key) for key in ("name", "system", "machine")]
    features = said.get("features")
    if not isinstance(features, list | tuple) or len(features) > len(FLAGS):
        raise ValueError("a machine without the extensions of its processor")
    if not all(type(text) is str and len(text) <= _LONGEST_NAME for text in (*texts, *features)):
        raise ValueError("a machine without a name, or of no kind")
    return said


def kind_of(machine: Mapping[str, Any]) -> str:
    """What decides which code a runtime takes on a machine: system, architecture, extensions."""
    return " ".join([str(machine["system"]), str(machine["machine"]), *machine["features"]])


def common_flags(kinds: Iterable[str]) -> list[str]:
    """The instruction sets that machines of all these kinds have."""
    words = [frozenset(kind.split()) for kind in kinds]
    return [flag for flag in FLAGS if all(flag in own for own in words)]


LARGEST = 1 << 30
"""Bytes of a value, all pieces together."""
_LONGEST_HEAD = 1 << 28
_PLAIN = (bool, int, float, str, NoneType)


def write_value(value: Any, kind: Any, about: str = "") -> bytes:
    """A value of a type as bytes, with a text that whoever reads it expects.

    Raises ValueError where it is not of the type, or too large; TypeError where it holds what JSON lacks.
    """
    pieces: list[bytes] = []
    said = _converted(value, kind, pieces, reading=False)
    head = {"about": about, "value": said, "pieces": [len(piece) for piece in pieces]}
    line = json.dumps(head, separators=(",", ":"), allow_nan=False).encode("ascii")
    if len(line) > _LONGEST_HEAD or len(line) + sum(map(len, pieces)) >= LARGEST:
        raise ValueError(f"more than {LARGEST} bytes")
    return b"".join((line, b"\n", *pieces))


def read_value(raw: Any, kind: Any, about: str = "") -> Any:
    """The inverse. Raises ValueError, saying what is wrong, on anything that `write_value` does not write."""
    if type(raw) is not bytes:
        raise ValueError(f"no bytes, but {type(raw).__name__}")
    if len(raw) > LARGEST:
        raise ValueError(f"{len(raw)} bytes, which are more than {LARGEST}")
    end = raw.find(b"\n", 0, _LONGEST_HEAD + 1)
    if end < 0:
        raise ValueError("no line at the beginning")
    head = parse_json(raw[:end])
    if not isinstance(head, dict) or head.keys() != {"about", "value", "pieces"}:
        raise ValueError("the first line is of another form")
    if head["about"] != about:
        raise ValueError("it is about something else than the request")
    lengths = head["pieces"]
    if not isinstance(lengths, list) or any(type(length) is not int or length < 0 for length in lengths):
        raise ValueError("the lengths of its pieces are none")
    if sum(lengths) != len(raw) - end - 1:
        raise ValueError(f"{len(raw) - end - 1} bytes of pieces, and the first line says {sum(lengths)}")
    pieces, begin = [], end + 1
    for length in lengths:
        pieces.append(raw[begin : begin + length])
        begin += length
    return _converted(head["value"], kind, pieces, reading=True)


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    """The fields that a dataclass is made of, with their types."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.init}


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _item_of(kind: Any) -> Any:
    """What each item of a sequence of any length is; None where the type is no such sequence."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else None
    return arguments[0] if isinstance(origin, type) and issubclass(origin, Sequence) else None


def _converted(value: Any, kind: Any, pieces: list[bytes], *, reading: bool) -> Any:
    """A value of a type as JSON with pieces of bytes beside it; `reading` the value that these say."""
    if kind is Any:
        return value if reading else _plain(value)
    if kind in (None, NoneType):
        return _checked(value, value is None, kind)
    if kind in _PLAIN:
        return _checked(value, type(value) is kind, kind)
    if kind is bytes and reading:
        return pieces[_checked(value, type(value) is int and 0 <= value < len(pieces), kind)]
    if kind is bytes:
        pieces.append(_checked(value, type(value) is bytes, kind))
        return len(pieces) - 1
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _checked(
            value, any(type(value) is type(argument) and value == argument for argument in arguments), kind
        )
    convert = partial(_converted, pieces=pieces, reading=reading)
    if origin in (Union, UnionType):
        if reading:
            _checked(value, isinstance(value, list) and len(value) == 2 and type(value[0]) is int, kind)
            _checked(value, 0 <= value[0] < len(arguments), kind)
            return convert(value[1], arguments[value[0]])
        numbers = [number for number, argument in enumerate(arguments) if _fits(value, argument)]
        _checked(value, bool(numbers), kind)
        return [numbers[0], convert(value, arguments[numbers[0]])]
    if is_dataclass(kind):
        assert isinstance(kind, type)
        hints = _hints(kind)
        _checked(value, type(value) is (list if reading else kind), kind)
        parts = value if reading else [getattr(value, name) for name in hints]
        _checked(value, len(parts) == len(hints), kind)
        made = [convert(part, hint) for part, hint in zip(parts, hints.values(), strict=True)]
        return kind(*made) if reading else made
    if _is_mapping(kind):
        _checked(value, isinstance(value, Mapping) and all(type(each) is str for each in value), kind)
        return {name: convert(each, arguments[1]) for name, each in value.items()}
    _checked(value, isinstance(value, Sequence) and not isinstance(value, str | bytes), kind)
    item = _item_of(kind)
    kinds = arguments if item is None else (item,) * len(value)
    _checked(value, len(kinds) == len(value), kind)
    found = tuple(convert(part, own) for part, own in zip(value, kinds, strict=True))
    return found if reading else list(found)


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of one type of a union, as far as it tells it from the others."""
    if kind in (None, NoneType):
        return value is None
    known = get_origin(kind) or kind
    if known is Literal:
        return value in get_args(kind)
    return known is Any or (type(value) is known if known in (*_PLAIN, bytes) else isinstance(value, known))


def _plain(value: Any) -> Any:
    """A value as JSON holds it; TypeError where it does not."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping) and all(type(each) is str for each in value):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} is no JSON")


def _checked(value: Any, holds: bool, kind: Any) -> Any:
    if not holds:
        raise ValueError(f"{ascii(value)[:80]} where {getattr(kind, '__name__', kind)} should be")
    return value


P = ParamSpec("P")
Answer = TypeVar("Answer")
_LONGEST = 2000
_FIELDS = ("got", "expected", "remedy")
_KINDS: dict[str, type[OpcertError]] = {
    each.__name__: each for each in (UserError, RuntimeUnavailable, NothingRan, InternalError)
}


@dataclass(frozen=True)
class WorkerFailure:
    """What a worker found wrong: its machine, the class of the error by its name, and the error's fields."""

    machine: Mapping[str, Any]
    kind: str
    problem: str
    fields: Mapping[str, str | None]

    def error(self, address: str) -> OpcertError:
        """The error as it is told where the command runs: with the machine that has it."""
        place, told = self.fields.get("where"), {field: self.fields.get(field) for field in _FIELDS}
        name = one_line(str(self.machine.get("name")), 200)
        where = Place(f"machine {name} of {address}" + ("" if place is None else f", {place}"))
        return _KINDS.get(self.kind, UserError)(self.problem, where=where, **told)


@dataclass(frozen=True)
class Lost:
    """A unit that nobody does any more: every worker that had it was lost, and how that was told."""

    reason: str


def on_worker(
    function: Callable[P, Answer],
) -> Callable[Concatenate[str, P], Answer | WorkerFailure]:
    """Let a worker's function answer with a `WorkerFailure` where it would raise an error of a person's.

    It is called with the digest of the asking opcert's sources first: who came later may have others.
    """

    @wraps(function)
    def guarded(sources: str, /, *arguments: P.args, **named: P.kwargs) -> Answer | WorkerFailure:
        try:
            if sources != project_digest():
                raise UserError(
                    "this worker has another opcert than the command that asks it",
                    got=f"sources {project_digest()[:12]}",
                    expected=f"sources {sources[:12]}",
                    remedy="Install the same opcert there and start the worker again.",
                )
            return function(*arguments, **named)
        except OpcertError as error:
            fields = {name: getattr(error, name) for name in _FIELDS}
            where = None if error.where is None else str(error.where)
            kind = next(name for name, each in _KINDS.items() if isinstance(error, each))
            return WorkerFailure(machine_here(), kind, error.problem, {**fields, "where": where})
        except OSError as error:
            fields = {
                "got": f"{error.filename or 'a file'}: {error.strerror or error}",
                "remedy": "Make room on this machine, or take its workers away, and go on with --resume.",
            }
            return WorkerFailure(machine_here(), "UserError", "a worker's machine cannot do the work", fields)
        except Exception as error:  # noqa: BLE001 - what else is raised on the way here is not of ours
            return _mistake(error)

    return guarded


def answer_in_bytes(function: Callable[..., Any], unit: str, *arguments: Any) -> bytes:
    """On a worker: what a function says to its arguments, as bytes about a unit.

    They hold what the function's annotation says that it returns, a `WorkerFailure` or a `Lost`, and nothing
    else.
    """
    kind = _answer_of(function)
    try:
        return write_value(function(*arguments), kind, unit)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told where somebody waits
        return write_value(_mistake(error), kind, unit)


def read_answer(raw: Any, function: Callable[..., Any], unit: str) -> Any:
    """The answer in the bytes of `answer_in_bytes`; ValueError where they hold none about this unit."""
    return read_value(raw, _answer_of(function), unit)


@cache
def _answer_of(function: Callable[..., Any]) -> Any:
    return get_type_hints(function)["return"] | WorkerFailure | Lost


def _mistake(error: Exception) -> WorkerFailure:
    told = "".join(traceback.format_exception(error)[-3:])
    return WorkerFailure(
        machine_here(), "InternalError", "a unit of work fails on a worker", {"got": told[-_LONGEST:]}
    )
