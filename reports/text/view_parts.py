"""What views of cases are made of: names with values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ViewedValue:
    """A name and a value: a tensor has `type` (element type and full shape) beside its abbreviated values."""

    name: str
    values: str
    type: str = ""
    marked: bool = False
