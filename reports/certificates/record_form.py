"""Whether a record's file is written as opcert writes it, and its days are in order."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.suite.canonical import canonical_json
from opcert.vocabulary.errors import unreadable
from opcert.vocabulary.strict_json import parse_json
from reports.results.told_facts import text
from reports.text.phrasing import parse_moment

_MOST = 3


def find_odd_lines(record: Record) -> Iterator[str]:
    """The first lines that hold more, less or something else to another reader than to this one.

    That is a key that stands there twice, one that opcert does not write, a number that JSON lacks. Raises
    UserError where the file cannot be read.
    """
    found = 0
    try:
        with record.path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if raw != _written(raw):
                    yield f"line {number} of the record is not written as opcert writes it"
                    found += 1
                    if found == _MOST:
                        return
    except OSError as error:
        raise unreadable("the record", record.path, error) from error


def _written(raw: bytes) -> bytes:
    try:
        line = parse_json(raw)
        if line.get("type") == "result":
            return Result.from_json(line).to_line()
        return canonical_json(line) + b"\n"
    except (ValueError, TypeError, AttributeError):
        return b""


def find_wrong_days(record: Record) -> Iterator[str]:
    """What does not hold of when the run began and ended."""
    begin, end = (
        parse_moment(text(each))
        for each in (record.header.get("started"), (record.footer or {}).get("finished"))
    )
    for what, found in (("began", begin), ("ended", end)):
        if found is None or found.tzinfo is None:
            yield f"the record does not say when the run {what}"
            return
    assert begin is not None
    assert end is not None
    if end < begin:
        yield f"the run ended on {end.isoformat()}, before it began on {begin.isoformat()}"
