"""What attributes and inputs are, out of the ranges that sentences state."""

from __future__ import annotations

import re

from specs.derived.entries import Collected, DerivedEntry
from specs.derived.stated_extents import StatedExtents
from specs.language.shape_expressions import parse_shape
from specs.model.spec import Spec
from specs.model.statements import Range, is_proposed

_LOWEST = re.compile(r"-rank\((\w+)\)")
_LAST = re.compile(r"rank\((\w+)\) - 1")


class KindReader:
    """Reads the kinds of one operator version's attributes and inputs."""

    def __init__(self, spec: Spec, extents: StatedExtents, found: Collected) -> None:
        self._spec = spec
        self._extents = extents
        self._found = found

    def read(self) -> None:
        """Add the entries of `kinds`."""
        seen: set[str] = set()
        for each in self._spec.statements:
            if not isinstance(each, Range) or is_proposed(each) or each.when or each.about in seen:
                continue
            call = self._axis(each)
            if call is not None:
                seen.add(each.about)
                demanded = " or error" if self._is_demanded(each) else ""
                self._found.add("kinds", each.about.partition(".")[2], f"{call}{demanded}", each.origin)
        bound = {name for each in self._found.entries if each.path[0] == "shapes" for name in _names(each)}
        for name, extent in self._extents.given.items():
            if extent in bound:
                note = f"what shapes call {name}"
                self._found.add("kinds", name, f"integer(given=[{extent}], equals={extent})", note=note)

    def _axis(self, stated: Range) -> str | None:
        """`axis(X)` of the range [-r, r-1], `axes(X)` where it is one of elements."""
        ends = axis_ends(stated)
        if ends is None:
            return None
        of, low = ends
        group, _, name = stated.about.partition(".")
        attribute = self._spec.attributes.get(name) if group == "attributes" else None
        several = stated.of == "elements" and (attribute is not None or not self._is_scalar(stated.about))
        negative = "" if low else ", negative=False"
        return f"{'axes' if several else 'axis'}({of}{negative})"

    def _is_scalar(self, about: str) -> bool:
        parameter = next((one for one in self._spec.inputs if f"inputs.{one.name}" == about), None)
        return parameter is not None and parameter.rank == "0"

    def _is_demanded(self, stated: Range) -> bool:
        """Whether the passage with the range has a word that demands it."""
        return any(
            each.about == stated.about and each.normative and each.source in stated.origin.sources
            for each in self._spec.prose
        )


def _names(entry: DerivedEntry) -> frozenset[str]:
    return parse_shape(str(entry.value)).names


def axis_ends(stated: Range) -> tuple[str, bool] | None:
    """The input of whose axes a range speaks, and whether they are counted from the end, too."""
    low = _LOWEST.fullmatch(stated.at_least or "")
    most = _LAST.fullmatch(stated.at_most or "")
    below = re.fullmatch(r"rank\((\w+)\)", stated.less_than or "")
    end = most or below
    if end is None:
        return None
    if low is not None and low[1] == end[1]:
        return end[1], True
    return (end[1], False) if stated.at_least == "0" else None
