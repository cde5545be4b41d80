"""A cluster between whose workers and client somebody changes answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

from conformance.clusters.cluster import Cluster


class Answering(Cluster):
    """Gives what `change` makes of each answer; it is told its number, from 0."""

    def __init__(self, inner: Cluster, change: Callable[[int, Any], Any]) -> None:
        super().__init__(inner.client, inner.address, inner.tell)
        self._change = change
        self.number = 0

    def each(
        self, function: Callable[..., Any], units: Iterator[Any]
    ) -> Generator[tuple[Any, Any], None, None]:
        for unit, answer in super().each(function, units):
            yield unit, self._change(self.number, answer)
            self.number += 1
