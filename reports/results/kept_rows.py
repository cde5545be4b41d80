"""Rows as a report keeps them: whole where something fails, else what is asked of a case that does not."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from sys import intern
from typing import Any

from conformance.judging.verdicts import FAILING
from conformance.recording.rows import Result

_MOST_SHARED = 1 << 16


class KeptRows:
    """Makes rows small: one object of what many rows say alike.

    A row that does not fail is without its outputs and levels, and has of its greatest error the ratio alone:
    the record holds the rest.
    """

    def __init__(self) -> None:
        self._shared: dict[Hashable, Any] = {}

    def keep(self, row: Result, case: str) -> Result:
        """The row as it is kept; `case` is its case's name."""
        own = replace(
            row,
            case=case,
            readings=self._options(row.readings),
            behaviours=self._options(row.behaviours),
            reason=_one(row.reason),
            message=_one(row.message),
        )
        if row.verdict in FAILING:
            return own
        ratio = (row.worst or {}).get("ratio")
        worst = None if ratio is None else self._share(("ratio", repr(ratio)), {"ratio": ratio})
        return replace(own, outputs=(), levels=_NOTHING, worst=worst)

    def _options(self, options: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
        return self._share(tuple(options.items()), options) if options else _NOTHING

    def _share(self, key: Hashable, value: Any) -> Any:
        try:
            found = self._shared.get(key)
        except TypeError:  # a record may come from anywhere
            return value
        if found is None:
            if len(self._shared) >= _MOST_SHARED:
                self._shared.clear()
            found = self._shared[key] = value
        return found


_NOTHING: Mapping[str, Any] = {}


def _one(said: str | None) -> str | None:
    return intern(said) if type(said) is str else said
