"""Whether a record that somebody else wrote has the parts that a record has, each of its type."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from conformance.recording.records import Record
from conformance.recording.rows import Result
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.strict_json import parse_json


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Runtime(_Part):
    name: str
    version: str
    source: str
    options: dict[str, str]
    environment: dict[str, Any]
    offer: dict[str, Any]


class _Options(_Part):
    forms: list[str]
    repeat: int
    sampled: int | None = None
    timeout: float
    start_timeout: float


class _Header(_Part):
    suite: str
    runtime: _Runtime
    platform: dict[str, Any]
    options: _Options
    started: str


class _File(_Part):
    file: str
    bytes: int
    sha256: str


class _Footer(_Part):
    counts: dict[str, int]
    faults: list[dict[str, Any]]
    finished: str
    stopped: dict[str, Any] | None = None
    loaded: list[_File] | None = None


_RESULT: TypeAdapter[Any] = TypeAdapter(Result)
_PARTS = {"header": TypeAdapter(_Header), "result": _RESULT, "footer": TypeAdapter(_Footer)}


def check_shape(record: Record) -> None:
    """Raise UserError, with the line, where a part is missing or of another type."""
    try:
        with record.path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                problem = _find_problem(raw)
                if problem is not None:
                    place = Place(str(record.path), number)
                    raise UserError("the record is damaged", got=problem, where=place)
    except OSError as error:
        raise unreadable("the record", record.path, error) from error


def _find_problem(raw: bytes) -> str | None:
    try:
        line = parse_json(raw)
        _PARTS[line["type"]].validate_json(raw, strict=True)
        if not all(isinstance(each, str | dict) for each in line.get("outputs", ())):
            return "outputs: neither a name nor an object"
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (ValueError, KeyError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return None
