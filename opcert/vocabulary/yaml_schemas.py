"""Checking YAML files against pydantic models: every error at once, each with file, line and key."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isclass
from typing import Any, TypeVar, get_args

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

from opcert.vocabulary.errors import SeveralErrors, UserError
from opcert.vocabulary.near_names import near_names
from opcert.vocabulary.yaml_files import Path_, YamlDocument

Model = TypeVar("Model", bound=BaseModel)


def validate(model: type[Model], document: YamlDocument) -> Model:
    """The document as a model; raises SeveralErrors with one UserError for each thing wrong in it."""
    value = {} if document.value is None else document.value
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise SeveralErrors([_translate(detail, model, document) for detail in error.errors()]) from None


def _translate(error: Mapping[str, Any], model: type[BaseModel], document: YamlDocument) -> UserError:
    location = tuple(error["loc"])
    path = _path_in(document, location)
    where = document.place(path)
    kind = error["type"]
    if kind == "extra_forbidden":
        known = _model_at(model, location[:-1]).model_fields.items()
        keys = [field_info.alias or name for name, field_info in known]
        got = str(location[-1])
        also = next((name for name, field_info in known if got in _other_names(field_info)), None)
        if also is not None:
            return UserError("this key stands here twice", got=f"{also} and {got}", where=where)
        near = near_names(got, keys, most=1)
        remedy = f"Perhaps {near[0]} is meant." if near else None
        expected = f"one of {', '.join(keys)}"
        return UserError("unknown key", got=repr(got), expected=expected, where=where, remedy=remedy)
    if kind == "missing":
        return UserError("a key is missing", expected=repr(location[-1]), where=where)
    got, message = repr(error.get("input"))[:80], str(error["msg"]).removeprefix("Value error, ")
    if kind == "value_error" and not message.startswith("expected "):
        return UserError(message, got=got, where=where)
    message = message.removeprefix("expected ").removeprefix("Input should be ")
    message = message.replace("String should match pattern", "text like")
    return UserError("wrong value", got=got, expected=message, where=where)


def _other_names(field: FieldInfo) -> list[str]:
    """The names that a key has beside its own."""
    choices = field.validation_alias
    return [str(choice) for choice in choices.choices] if isinstance(choices, AliasChoices) else []


def _model_at(model: type[BaseModel], location: tuple[str | int, ...]) -> type[BaseModel]:
    """The model that describes what stands at a location."""
    for each in location:
        found = next(
            (field for name, field in model.model_fields.items() if each in (name, field.alias)), None
        )
        # The entries of a mapping that is the whole of a file have names of their own.
        found = found or model.model_fields.get("root")
        if found is not None:
            model = _model_in(found.annotation) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model that an annotation names: of `dict[str, Entry]` it is `Entry`."""
    if isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (found for argument in get_args(annotation) if (found := _model_in(argument)) is not None), None
    )


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
