"""Worked examples as a spec holds them: calls that a document prints, and their tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specs.model.relations import Relation
from specs.model.signature_parts import Source


@dataclass(frozen=True)
class Value:
    """A tensor of a worked example: shape, flattened elements, and element type (our name) where stated.

    `data` is None where the document fixes the shape alone (random data). An output may then have a
    `relation`, which computes it from any input. `decimals` is the greatest number of digits that the
    document printed behind a decimal point (numpy prints 8 at most, and fewer only where they are all that
    there are); None where whole numbers or code were read. `items` makes it a sequence of tensors (or of
    sequences): then shape is (), and there is no data.
    """

    shape: tuple[int, ...]
    data: tuple[Any, ...] | None
    element_type: str | None
    source: Source | None = None
    decimals: int | None = None
    relation: Relation | None = None
    items: tuple[Value | None, ...] | None = None

    @property
    def printed(self) -> bool:
        """Whether the document states the elements."""
        if self.items is not None:
            return all(each is not None and each.printed for each in self.items)
        return self.data is not None or self.relation is not None


@dataclass(frozen=True)
class Example:
    """A worked example: one call and the outputs printed for it.

    Names are the operator's own. `inputs` is in the operator's order; an omitted optional input has the name
    "". A value is None where nothing is known of it, not even its shape (computed by code that is not read).
    `repaired` says that the importer mended a slip of the document, which is then a finding.
    """

    id: str
    attributes: Mapping[str, Any]
    inputs: tuple[tuple[str, Value | None], ...]
    outputs: tuple[tuple[str, Value | None], ...]
    source: Source
    note: str | None = None
    repaired: bool = False

    @property
    def printed(self) -> bool:
        """Whether the document states what comes out."""
        return any(each is not None and each.printed for _, each in self.outputs)
