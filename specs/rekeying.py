"""Giving a document of a layer another key, in every place that names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from specs.model import Document, Source, Spec


def with_key(layer: Spec, key: str) -> Spec:
    """The layer of one document under another key: importers give all of them the same one."""
    changed = _changed(layer, key)
    assert isinstance(changed, Spec)
    return changed


def _changed(value: Any, key: str) -> Any:
    """A value with every document and place under the key."""
    if isinstance(value, Source):
        return replace(value, document=key)
    if isinstance(value, Document):
        return replace(value, key=key)
    if isinstance(value, tuple):
        return tuple(_changed(each, key) for each in value) if _may_name_places(value) else value
    if isinstance(value, Mapping):
        return {name: _changed(each, key) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        named = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{name: _changed(each, key) for name, each in named.items()})
    return value


def _may_name_places(items: tuple[Any, ...]) -> bool:
    """Whether a tuple holds more than plain values; those of worked examples are long."""
    return any(isinstance(each, tuple | Mapping) or is_dataclass(each) for each in items)
