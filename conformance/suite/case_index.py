"""What a manifest says of every case, in little room: some 200 bytes a case, most of them its id."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.suite.canonical import canonical_json

_DIGEST_BYTES = 32


class CaseIndex:
    """The entries of a manifest's cases by id, in their order.

    Of an entry's keys `id`, `offset`, `length` and `expectation` are its own; whatever else it says is kept
    once for all that say the same.
    """

    def __init__(self) -> None:
        self._positions: dict[str, int] = {}
        self._offsets = array("Q")
        self._lengths = array("Q")
        self._digests = bytearray()
        self._kinds = array("L")
        self._rest: list[Mapping[str, Any]] = []
        self._numbers: dict[bytes, int] = {}

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add an entry behind the others.

        Raises KeyError, TypeError, ValueError, OverflowError or AttributeError where it does not say what it
        must, or is of a case that is there already.
        """
        if entry["id"] in self._positions:
            raise ValueError("a case that is there already")
        rest = {key: value for key, value in entry.items() if key not in _OWN}
        digest = bytes.fromhex(entry["expectation"])
        if len(digest) != _DIGEST_BYTES:
            raise ValueError("an expectation of another length")
        self._offsets.append(entry["offset"])
        self._lengths.append(entry["length"])
        self._positions[entry["id"]] = len(self._positions)
        self._digests += digest
        number = self._numbers.setdefault(canonical_json(rest), len(self._rest))
        if number == len(self._rest):
            self._rest.append(rest)
        self._kinds.append(number)

    @property
    def kinds(self) -> int:
        """How many different things the entries say beside what is their own."""
        return len(self._rest)

    def __len__(self) -> int:
        return len(self._offsets)

    def __contains__(self, case_id: object) -> bool:
        return case_id in self._positions

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def position(self, case_id: str) -> int:
        """The place of a case among all; KeyError where there is none."""
        return self._positions[case_id]

    def get(self, case_id: str) -> dict[str, Any] | None:
        """The entry of a case, None where there is none."""
        position = self._positions.get(case_id)
        if position is None:
            return None
        begin = position * _DIGEST_BYTES
        return {
            **self._rest[self._kinds[position]],
            "id": case_id,
            "offset": self._offsets[position],
            "length": self._lengths[position],
            "expectation": self._digests[begin : begin + _DIGEST_BYTES].hex(),
        }


_OWN = frozenset(("id", "offset", "length", "expectation"))
