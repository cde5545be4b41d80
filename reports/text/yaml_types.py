"""Types of values in YAML files that people write, for models that take nothing else for them."""

from __future__ import annotations

from datetime import date
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Strict(BaseModel):
    """A mapping of which every key is known and every value has its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _read_date(value: object) -> object:
    return date.fromisoformat(value) if isinstance(value, str) else value


def read_list(value: object) -> object:
    """A list as a tuple; anything else as it is, for the type to refuse."""
    return tuple(value) if isinstance(value, list) else value


Item = TypeVar("Item")
Date = Annotated[date, BeforeValidator(_read_date)]
"""A day, `2027-12-31`."""
Listed = Annotated[tuple[Item, ...], BeforeValidator(read_list)]
"""A list of values of one type."""
