"""What the models of spec files share: strict mappings, and the places of facts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from specs.model.spec import Source


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
    if any(not isinstance(number, int) or isinstance(number, bool) or number < 1 for number in numbers):
        raise ValueError("line and column are whole numbers from 1")
    return Source(value[0], numbers[0], numbers[1] if len(numbers) == 2 else None)


Sources = Annotated[tuple[Source, ...], BeforeValidator(read_sources)]
