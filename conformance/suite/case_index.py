"""What a manifest says of every case, in little room: of many cases some eight bytes each in memory."""

from __future__ import annotations

import os
import struct
import tempfile
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, overload

from conformance.suite.canonical import canonical_json

MOST_IN_MEMORY = 4 << 20
"""Bytes that are kept in memory before all of them go to the file."""
_SPILLED_TOGETHER = 1 << 20


class SpilledBytes:
    """Pieces of bytes, each read back by where it begins; reading may go on in several threads.

    The file lies where temporary files go, and is gone with this object or the process, however it ends.
    Where none can be made, or there is no room for it, the bytes stay in memory.
    """

    def __init__(self, most_in_memory: int = MOST_IN_MEMORY) -> None:
        self._most: float = most_in_memory
        self._file: IO[bytes] | None = None
        self._in_file = 0
        self._pending = bytearray()

    def __len__(self) -> int:
        return self._in_file + len(self._pending)

    def append(self, piece: bytes) -> int:
        """Put a piece behind the others; where it begins."""
        begin = len(self)
        self._pending += piece
        if len(self._pending) > (self._most if self._file is None else max(_SPILLED_TOGETHER, self._most)):
            self._spill()
        return begin

    def read(self, begin: int, length: int) -> bytes:
        """Some bytes of one piece, or of several that were put one behind the other."""
        if begin >= self._in_file:
            at = begin - self._in_file
            return bytes(self._pending[at : at + length])
        assert self._file is not None
        found = os.pread(self._file.fileno(), min(length, self._in_file - begin), begin)
        return found if len(found) == length else found + bytes(self._pending[: length - len(found)])

    def _spill(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="opcert-")  # noqa: SIM115 - it goes with this object
            os.pwrite(self._file.fileno(), self._pending, self._in_file)
        except OSError:
            self._most = float("inf")
            return
        self._in_file += len(self._pending)
        self._pending = bytearray()


_ENTRY = struct.Struct("<QIIIQH32s")
"""Of a case: offset, length, number of what it says beside, number of its id's begin, where the rest of its
id lies and how long that is, and the digest of its expectation."""
_DIGEST_BYTES = 32
_TOGETHER = 1024
_FIRST_SLOTS = 1 << 4
_FREE = 0


class CaseIndex(Sequence[str]):
    """The ids of a manifest's cases in their order, and the entry of each.

    Of an entry's keys `id`, `offset`, `length` and `expectation` are its own; whatever else it says is kept
    once for all that say the same, and so is what ids have before their last slash. Entries and ids of many
    cases lie in files without names; what stays is a table by which a case is found.
    """

    def __init__(self, most_in_memory: int = MOST_IN_MEMORY) -> None:
        self._entries = SpilledBytes(most_in_memory)
        self._names = SpilledBytes(most_in_memory)
        self._slots = array("I", bytes(4 * _FIRST_SLOTS))
        self._count = 0
        self._rest: list[Mapping[str, Any]] = []
        self._numbers: dict[bytes, int] = {}
        self._begins: list[str] = []
        self._begin_numbers: dict[str, int] = {}

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add an entry behind the others.

        Raises KeyError, TypeError, ValueError, OverflowError or AttributeError where it does not say what it
        must, or is of a case that is there already.
        """
        case_id = entry["id"]
        slot, found = self._find(case_id)
        if found is not None:
            raise ValueError("a case that is there already")
        rest = {key: value for key, value in entry.items() if key not in _OWN}
        digest = bytes.fromhex(entry["expectation"])
        if len(digest) != _DIGEST_BYTES:
            raise ValueError("an expectation of another length")
        begin, slash, last = case_id.rpartition("/")
        name = last.encode()
        said, before = canonical_json(rest), begin + slash
        kind = self._numbers.get(said, len(self._rest))
        begin_number = self._begin_numbers.get(before, len(self._begins))
        try:
            packed = _ENTRY.pack(
                entry["offset"], entry["length"], kind, begin_number, len(self._names), len(name), digest
            )
        except struct.error as error:
            raise ValueError(str(error)) from error
        self._entries.append(packed)
        self._names.append(name)
        if kind == len(self._rest):
            self._numbers[said] = kind
            self._rest.append(rest)
        if begin_number == len(self._begins):
            self._begin_numbers[before] = begin_number
            self._begins.append(before)
        self._count += 1
        self._slots[slot] = self._count
        if 3 * self._count > 2 * len(self._slots):
            self._widen()

    @property
    def kinds(self) -> int:
        """How many different things the entries say beside what is their own."""
        return len(self._rest)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, case_id: object) -> bool:
        return isinstance(case_id, str) and self._find(case_id)[1] is not None

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, self._count, _TOGETHER):
            yield from self._ids(begin, min(begin + _TOGETHER, self._count))

    @overload
    def __getitem__(self, position: int) -> str: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[str, ...]: ...

    def __getitem__(self, position: int | slice) -> str | tuple[str, ...]:
        if isinstance(position, slice):
            return tuple(self[each] for each in range(*position.indices(self._count)))
        if not -self._count <= position < self._count:
            raise IndexError(position)
        return self._id(self._entry(position % self._count))

    def position(self, case_id: str) -> int:
        """The place of a case among all; KeyError where there is none."""
        found = self._find(case_id)[1]
        if found is None:
            raise KeyError(case_id)
        return found

    def get(self, case_id: str) -> dict[str, Any] | None:
        """The entry of a case, None where there is none."""
        position = self._find(case_id)[1]
        if position is None:
            return None
        offset, length, kind, _, _, _, digest = self._entry(position)
        return {
            **self._rest[kind],
            "id": case_id,
            "offset": offset,
            "length": length,
            "expectation": digest.hex(),
        }

    def _find(self, case_id: str) -> tuple[int, int | None]:
        """The slot of a case in the table, or the free one for it, and its position where it is there."""
        slots, last = self._slots, len(self._slots) - 1
        slot = hash(case_id) & last
        while (taken := slots[slot]) != _FREE:
            if self._id(self._entry(taken - 1)) == case_id:
                return slot, taken - 1
            slot = (slot + 1) & last
        return slot, None

    def _widen(self) -> None:
        slots, last = array("I", bytes(4 * 2 * len(self._slots))), 2 * len(self._slots) - 1
        for number, case_id in enumerate(self, start=1):
            slot = hash(case_id) & last
            while slots[slot] != _FREE:
                slot = (slot + 1) & last
            slots[slot] = number
        self._slots = slots

    def _entry(self, position: int) -> tuple[Any, ...]:
        return _ENTRY.unpack(self._entries.read(position * _ENTRY.size, _ENTRY.size))

    def _id(self, entry: tuple[Any, ...]) -> str:
        return str(self._begins[entry[3]]) + self._names.read(entry[4], entry[5]).decode()

    def _ids(self, begin: int, end: int) -> list[str]:
        """The ids of neighbouring cases, read together."""
        raw = self._entries.read(begin * _ENTRY.size, (end - begin) * _ENTRY.size)
        entries = list(_ENTRY.iter_unpack(raw))
        first = entries[0][4]
        names = self._names.read(first, entries[-1][4] + entries[-1][5] - first)
        return [
            self._begins[entry[3]] + names[entry[4] - first : entry[4] - first + entry[5]].decode()
            for entry in entries
        ]


_OWN = frozenset(("id", "offset", "length", "expectation"))
