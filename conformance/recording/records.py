"""Records: what a run saw, as JSON Lines - a header, one line a result, a footer.

While a run goes on, lines are appended as results come and flushed one by one, so that whatever ends the run
loses none; when it is through, the record is written anew in suite order, with its footer, and takes the old
one's place by rename. A record without a footer is a partial run. The clock may be set while a run goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import accumulate, count
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np

from conformance.judging.verdicts import HARNESS_ERROR, VERDICTS, Verdict
from conformance.recording.outputs import OutputStore
from conformance.recording.rows import Result, case_verdicts, count_verdicts
from conformance.recording.suite_ordered import OrderedCounts, RecordRows
from conformance.runtimes.adapter import named_by_form
from conformance.suite.canonical import canonical_json
from opcert.vocabulary.errors import InternalError, Place, UserError, unreadable, unwritable
from opcert.vocabulary.regular_files import open_regular
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.whole_files import check_replaceable, end_of, open_anew, open_new, put_in_place

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def timestamp(ago: float = 0.0) -> str:
    """Now, or so many seconds ago, in UTC, as ISO 8601 to the second."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def without_later_moments(header: Mapping[str, Any], passed: float) -> dict[str, Any]:
    """What changes in a header some seconds after it was written, where it speaks of what is yet to come.

    The clock was set back then, and what it says now counts: nothing that it said before was later than these
    seconds ago. Of a clock that was set forward nothing can be told.
    """
    moments = [header.get("started"), *header.get("resumed", ())]
    if not all(isinstance(moment, str) and _MOMENT.fullmatch(moment) for moment in moments):
        return {}
    if max(moments) <= timestamp():
        return {}
    latest = timestamp(passed)
    for place in reversed(range(len(moments))):
        latest = moments[place] = min(moments[place], latest)
    first, *others = moments
    return {"started": first, "resumed": others} if others else {"started": first}


def day_to_come(moment: str) -> str:
    """The day of a moment, where by this machine's clock it has not begun; empty where it has."""
    day = moment[:10]
    return day if _MOMENT.fullmatch(moment) and day > timestamp()[:10] else ""


Order = tuple[int, int, int]
"""The place of a row in a record: its case, its form and its repetition by their positions."""

_FORM_BITS, _REPEAT_BITS = 8, 24
_TOGETHER = 4096


class RowPlaces:
    """Rows one behind the other in a file; the first begins at `begin`."""

    def __init__(self, begin: int) -> None:
        self._begin = begin
        self._keys = array("Q")
        self._lengths = array("I")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, order: Order, length: int) -> None:
        """A row of so many bytes follows."""
        case, form, repeat = order
        if form >> _FORM_BITS or repeat >> _REPEAT_BITS:
            raise InternalError("a row has no place in a record", got=str(order))
        self._keys.append((case << _FORM_BITS | form) << _REPEAT_BITS | repeat)
        self._lengths.append(length)

    def sorted_spans(self) -> Iterator[tuple[int, int]]:
        """Where each row begins and how long it is, in the order in which they are to stand."""
        lengths = np.frombuffer(self._lengths, np.uint32)
        begins = np.frombuffer(array("Q", accumulate(self._lengths, initial=self._begin)), np.uint64)
        chosen = np.argsort(np.frombuffer(self._keys, np.uint64), kind="stable")
        for begin in range(0, len(chosen), _TOGETHER):
            part = chosen[begin : begin + _TOGETHER]
            yield from zip(begins[part].tolist(), lengths[part].tolist(), strict=True)

    def orders(self) -> set[Order]:
        """The place of every row."""
        return set(self.listed())

    def listed(self) -> list[Order]:
        """The place of each row, as they lie one behind the other."""
        return [
            (
                key >> (_FORM_BITS + _REPEAT_BITS),
                key >> _REPEAT_BITS & ((1 << _FORM_BITS) - 1),
                key & ((1 << _REPEAT_BITS) - 1),
            )
            for key in self._keys
        ]


FORMAT = "opcert-run/1"
_LONGEST_LINE = 16 << 20
_MOST_KEPT_BYTES = 64 << 20
_MOST_KEPT = 50_000
"""Rows of a record that are kept in memory, three times their bytes in the file; those of a longer one are
read when they are looked at."""


@dataclass(frozen=True)
class Record:
    """A record that was read. `footer` is None where the run did not come to its end.

    `results` of a long record are read from its file whenever they are looked at, also when that was moved or
    removed. `counted` are its cases by verdict where they were counted when it was read.
    """

    path: Path
    header: Mapping[str, Any]
    results: Sequence[Result]
    footer: Mapping[str, Any] | None
    counted: Mapping[Verdict, int] | None = field(default=None, compare=False)

    @property
    def partial(self) -> bool:
        return self.footer is None

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """Each case's verdict, the worst of its rows; of a long record they are read when first asked for."""
        return case_verdicts(self.results)

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """How many cases there are of each verdict."""
        return count_verdicts(self.verdicts.values()) if self.counted is None else dict(self.counted)

    @cached_property
    def failed_by_worker(self) -> bool:
        """Whether harness errors are by no fault of opcert: its worker is the user's own, and failed."""
        own = named_by_form(str((self.header.get("runtime") or {}).get("source") or ""))
        errors = [result for result in self.results if result.verdict == HARNESS_ERROR] if own else []
        return bool(errors) and all(error.worker_failed for error in errors)

    @property
    def faults(self) -> tuple[Mapping[str, Any], ...]:
        return () if self.footer is None else tuple(self.footer["faults"])

    def faults_among(self, operators: Container[str]) -> list[Mapping[str, Any]]:
        """The faults of these operators, and those that are of none."""
        return [each for each in self.faults if not each.get("operator") or each["operator"] in operators]


class RecordWriter:
    """Writes one record. Raises UserError where its place cannot be written, at the start or later.

    `places` says where its rows lie. `kept` are rows of an earlier record at the same place, with which this
    one begins: it takes the other's place by rename, so that no row is lost in between. Of more rows than
    `most_in_memory` none stays there.
    """

    def __init__(
        self,
        path: Path,
        header: Mapping[str, Any],
        kept: Iterable[tuple[Result, Order]] | None = None,
        most_in_memory: int | None = None,
    ) -> None:
        self.path = path
        self.outputs = OutputStore(path)
        self._header = canonical_json({"type": "header", "format": FORMAT, **header}) + b"\n"
        self._begun = time.monotonic()
        self.places = RowPlaces(len(self._header))
        self._rows: list[tuple[Order, Result]] | None = []
        self._kept_bytes = 0
        self._most_kept = _MOST_KEPT if most_in_memory is None else most_in_memory
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            check_replaceable(path)
            self._place = end_of(path)
            self._file: IO[bytes]
            if kept is None:
                self.outputs.clear()
                self._file = open_anew(self._place)
            else:
                begun = self._place.with_name(f".{path.name}.resumed")
                self._file = open_new(begun)
            self._file.write(self._header)
            for result, order in kept or ():
                self._file.write(self._line_of(result, order, result.to_line()))
            self._file.flush()
            if kept is not None:
                put_in_place(begun, self._place)
        except OSError as error:
            raise _unwritable(path, error) from error

    def append(self, result: Result, order: Order) -> None:
        """Append a result; `order` is its place in the end."""
        self._write(self._line_of(result, order, result.to_line()))

    def append_lines(self, rows: Iterable[tuple[Result, Order, bytes]]) -> None:
        """Append several at once, each with its line."""
        self._write(b"".join([self._line_of(*row) for row in rows]))

    def _write(self, lines: bytes) -> None:
        try:
            self._file.write(lines)
            self._file.flush()
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _line_of(self, result: Result, order: Order, line: bytes) -> bytes:
        self.places.add(order, len(line))
        if self._rows is not None:
            self._rows.append((order, result))
            self._kept_bytes += len(line)
            if len(self._rows) > self._most_kept or self._kept_bytes > _MOST_KEPT_BYTES:
                self._rows = None
        return line

    def amend(self, changes: Mapping[str, Any]) -> None:
        """Change what the header says, as of the record that `finish` writes."""
        self._header = canonical_json({**json.loads(self._header), **changes}) + b"\n"

    def finish(
        self, counts: Mapping[Verdict, int], faults: Iterable[Mapping[str, Any]], **more: Any
    ) -> Record:
        """Put the record into suite order and give it its footer; returns it as `read_record` does."""
        later = without_later_moments(json.loads(self._header), time.monotonic() - self._begun)
        if later:
            self.amend(later)
        try:
            made = self._place.with_name(f".{self.path.name}.ordered")
            digest = hashlib.sha256()
            with open_new(made) as file:
                file.write(self._header)
                for begin, length in self.places.sorted_spans():
                    line = os.pread(self._file.fileno(), length, begin)
                    digest.update(line)
                    file.write(line)
                footer = {
                    "type": "footer",
                    "counts": counts,
                    "faults": list(faults),
                    "finished": timestamp(),
                    "rows": len(self.places),
                    "digest": digest.hexdigest(),
                    **more,
                }
                last = canonical_json(footer) + b"\n"
                file.write(last)
            put_in_place(made, self._place)
        except OSError as error:
            raise _unwritable(self.path, error) from error
        finally:
            self.close()
        if self._rows is None:
            return read_record(self.path, self._most_kept)
        self._rows.sort(key=itemgetter(0))
        return Record(
            self.path, json.loads(self._header), tuple(row for _, row in self._rows), json.loads(last)
        )

    def close(self) -> None:
        """Leave the record as it is; without `finish` it is a partial run."""
        # Whoever wrote what did not fit was told so, of this file by its name.
        with suppress(OSError):
            self._file.close()


def read_record(path: Path, most_in_memory: int | None = None) -> Record:
    """Read a record; raises UserError where there is none, or where it does not fit its own footer.

    A last line that was cut off while it was written is left out of a partial record. Of more rows than
    `most_in_memory` none stays there.
    """
    most = _MOST_KEPT if most_in_memory is None else most_in_memory
    try:
        with open_regular(path) as file:
            return _read(path, file, most)
    except OSError as error:
        raise unreadable("the record", path, error, "Make one with `opcert run`.") from error


def may_be_record(path: Path) -> bool:
    """Whether a file is a record, damaged or not, or there is none, or nothing in it; raises OSError."""
    if not path.exists():
        return True
    with open_regular(path) as file:
        beginning = file.read(_LONGEST_LINE).partition(b"\n")[0]
    return not beginning or b'"opcert-run/' in beginning


def _read(path: Path, file: IO[bytes], most: int) -> Record:
    lines = _parse_lines(path, file)
    raw, header = next(lines, (b"", {}))
    if header.get("type") != "header" or header.get("format") != FORMAT:
        told = "another format" if "format" in header else None
        place, remedy = Place(str(path), 1), "Make one with `opcert run`."
        raise UserError(
            "not a record of a run", got=told, expected=f"a header of {FORMAT}", where=place, remedy=remedy
        )
    offsets = array("Q", [len(raw)])
    digest = hashlib.sha256()
    seen = OrderedCounts()
    kept: list[Result] = []
    footer: Mapping[str, Any] | None = None
    for number, (raw, line) in enumerate(lines, start=2):
        if footer is not None or line.get("type") not in ("result", "footer"):
            found = line if footer is None else footer
            raise _damaged(path, number - (footer is not None), f"a line of type {found.get('type')!r}")
        if line["type"] == "footer":
            footer = line
            continue
        try:
            result = Result.from_json(line)
            hash((result.case, result.form, result.repeat, result.verdict))
        except (TypeError, ValueError, AttributeError) as error:
            raise _damaged(path, number, str(error)) from error
        if result.verdict not in VERDICTS:
            raise _damaged(path, number, f"a result of the unknown verdict {result.verdict!r}")
        digest.update(raw)
        offsets.append(offsets[-1] + len(raw))
        seen.see(result)
        if len(kept) == len(offsets) - 2 and len(kept) < most and offsets[-1] <= _MOST_KEPT_BYTES:
            kept.append(result)
        else:
            kept.clear()
    results: Sequence[Result] = tuple(kept)
    if len(kept) < len(offsets) - 1:
        results = RecordRows(os.dup(file.fileno()), offsets, in_order=seen.in_order)
    record = Record(path, header, results, footer, seen.counts() if seen.in_order else None)
    if footer is not None:
        _check_footer(record, footer, digest.hexdigest())
    return record


def _parse_lines(path: Path, file: IO[bytes]) -> Iterator[tuple[bytes, Mapping[str, Any]]]:
    for number in count(1):
        raw = file.readline(_LONGEST_LINE + 1)
        if len(raw) > _LONGEST_LINE:
            raise _damaged(path, number, f"a line of more than {_LONGEST_LINE} bytes")
        if not raw.endswith(b"\n"):
            return  # the writer was stopped inside this line
        try:
            line = parse_json(raw)
        except ValueError as error:
            raise _damaged(path, number, f"no JSON: {error}") from error
        if not isinstance(line, dict):
            raise _damaged(path, number, "a line that is no object")
        yield raw, line


def _check_footer(record: Record, footer: Mapping[str, Any], digest: str) -> None:
    problem = None
    if footer.get("digest") != digest:
        problem = "the results do not have the digest that the footer states"
    elif footer.get("rows") != len(record.results):
        problem = f"{len(record.results)} results, and the footer counts {footer.get('rows')}"
    elif not _same_counts(footer.get("counts"), record.counts):
        problem = "the footer's counts are not those of the results"
    elif not isinstance(footer.get("faults"), list):
        problem = "the footer has no list of faults"
    if problem is not None:
        raise UserError("the record is damaged", got=problem, where=Place(str(record.path)))


def _same_counts(stated: Any, counts: Mapping[Verdict, int]) -> bool:
    """Whether a footer states these; one of before does not name the verdicts that have come since."""
    return isinstance(stated, dict) and {**dict.fromkeys(counts, 0), **stated} == counts


def _damaged(path: Path, number: int, problem: str) -> UserError:
    return UserError(
        "the record is damaged",
        got=problem,
        where=Place(str(path), number),
        remedy="Fetch it whole, or make it anew with `opcert run`.",
    )


def _unwritable(path: Path, error: OSError) -> UserError:
    return unwritable("the record", path, error, "Make room, or name another file with -o.")
