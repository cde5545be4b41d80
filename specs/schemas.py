"""Checking YAML files against pydantic models: every error at once, each with file, line and key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from opcert.errors import SeveralErrors, UserError
from specs.model import Source
from specs.yaml_files import Path_, YamlDocument

Model = TypeVar("Model", bound=BaseModel)


class Entry(BaseModel):
    """A mapping of a spec file; keys that the schema does not know are errors."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, populate_by_name=True
    )


def read_sources(value: Any) -> tuple[Source, ...]:
    """The places of a `src`: `[document, line]`, `[document, line, column]`, or a list of those."""
    if isinstance(value, tuple) and all(isinstance(each, Source) for each in value):
        return value
    if isinstance(value, list) and value and isinstance(value[0], str):
        return (_read_source(value),)
    if isinstance(value, list) and value:
        return tuple(_read_source(each) for each in value)
    raise ValueError(_SOURCE_SHAPE)


_SOURCE_SHAPE = "expected [document, line], [document, line, column] or a list of those"


def _read_source(value: Any) -> Source:
    if not isinstance(value, list) or len(value) not in (2, 3) or not isinstance(value[0], str):
        raise ValueError(_SOURCE_SHAPE)
    numbers = value[1:]
    if any(not isinstance(each, int) or isinstance(each, bool) or each < 1 for each in numbers):
        raise ValueError("line and column are whole numbers from 1")
    return Source(value[0], numbers[0], numbers[1] if len(numbers) == 2 else None)


Sources = Annotated[tuple[Source, ...], BeforeValidator(read_sources)]


def validate(model: type[Model], document: YamlDocument) -> Model:
    """The document as a model; raises SeveralErrors with one UserError for each thing wrong in it."""
    value = {} if document.value is None else document.value
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise SeveralErrors([_translate(each, document) for each in error.errors()]) from None


def _translate(error: Mapping[str, Any], document: YamlDocument) -> UserError:
    path = _path_in(document, tuple(error["loc"]))
    where = document.place(path)
    kind = error["type"]
    if kind == "extra_forbidden":
        return UserError("unknown key", got=repr(error["loc"][-1]), where=where, remedy=_REMEDY)
    if kind == "missing":
        return UserError("a key is missing", expected=repr(error["loc"][-1]), where=where)
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("expected ")
    message = message.removeprefix("Input should be ").replace("String should match pattern", "text like")
    return UserError("wrong value", got=repr(error.get("input"))[:80], expected=message, where=where)


_REMEDY = "Check its spelling against the keys of the schema"


def _path_in(document: YamlDocument, location: tuple[str | int, ...]) -> Path_:
    """The part of pydantic's location that the file has: it also names the members of unions."""
    value: Any = document.value
    path: list[str | int] = []
    for each in location:
        in_mapping = isinstance(value, Mapping) and each in value
        in_list = isinstance(value, list) and isinstance(each, int) and each < len(value)
        if in_mapping or in_list:
            value = value[each]
        elif each is not location[-1] or not isinstance(value, Mapping):
            continue
        path.append(each)
    return tuple(path)
