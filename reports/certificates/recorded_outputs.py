"""The outputs that a record keeps: restored, and held against how opcert would have written them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

from conformance.judging.output_comparison import compare_output
from conformance.judging.responses import Answered, ReturnedOther
from conformance.recording.outputs import (
    FILE_BYTES,
    TOTAL_BYTES,
    describe_output,
    outputs_folder,
    restore_output,
)
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.suite.canonical import sha256
from conformance.suite.cases import Case, Expectation
from conformance.suite.properties import runs_twice
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from reports.results.told_facts import text

Restored = Tensor | ReturnedOther


class DigestsAlone(Exception):
    """A row of which the record holds the digest of an output and not the output."""


class RecordedOutputs:
    """The outputs of one record."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def restore(self, case: Case, row: Result) -> tuple[Restored, ...]:
        """The outputs of a row of an answered case; none where they decide nothing.

        Raises DigestsAlone where a row may be right and nobody can tell, UserError where an entry is damaged,
        or where the row cannot be what it says it is.
        """
        found = [
            restore_output(entry, position, case, self._record.path)
            for position, entry in enumerate(row.outputs)
        ]
        for entry, restored in zip(row.outputs, found, strict=True):
            if restored is None:
                self._check_size(entry)
        if case.demand != "answer":
            return tuple(each for each in found if each is not None)
        known = tuple(each for each in found if each is not None)
        if len(known) == len(found):
            return known
        self._check_digests(case, row, found)
        raise DigestsAlone

    def describe(self, row: Result, response: Answered, matched: tuple[int | None, ...]) -> tuple[Any, ...]:
        """The entries that opcert writes of these outputs, with the files that the row names."""
        if len(response.outputs) != len(row.outputs):  # there are some that decide nothing
            return row.outputs
        numbers = matched or (None,) * len(response.outputs)
        return tuple(
            _with_file(describe_output(output, number))
            for output, number in zip(response.outputs, numbers, strict=True)
        )

    def _check_digests(self, case: Case, row: Result, found: list[Restored | None]) -> None:
        """Hold digests against what is expected: type, shape, and that what equals it is called golden."""
        if case.properties and not case.expectations:
            return  # what is demanded is no value, and a digest tells nothing of it
        runs = 2 if runs_twice(case.properties) else 1
        expectations = [replace(each, outputs=each.outputs * runs) for each in case.expectations]
        fits = [
            number
            for number, each in enumerate(expectations)
            if len(each.outputs) == len(found) and all(_fits(each, row, found))
        ]
        if not fits and row.verdict not in ("mismatch", "inexact"):
            raise UserError(
                f"stated {row.verdict}, and no expectation has outputs of this number, type and shape"
            )
        compared = ("pass", "mismatch", "inexact", "document")
        if fits and (row.verdict not in compared or row.expectation not in fits):
            raise UserError(f"stated {row.verdict} for an expectation that the outputs do not fit")
        for expectation in expectations:
            for wanted, entry, restored in zip(expectation.outputs, row.outputs, found, strict=False):
                if restored is None and entry["sha256"] == sha256(wanted.expected.to_bytes()):
                    raise UserError("an output that equals the golden one is there as a digest")

    def _check_size(self, entry: Mapping[str, Any]) -> None:
        """Only what is too large to keep may stand there as a digest alone; UserError otherwise."""
        try:
            element_type = ELEMENT_TYPES[entry["element_type"]]
            size = int(entry["bytes"])
            bytes.fromhex(entry["sha256"])
            elements = prod(int(each) for each in entry["shape"])
            least = elements * (4 if element_type.kind == "string" else -(-element_type.bits // 8))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise UserError("an output in the record is damaged", got=str(error)) from error
        if size < least or (element_type.kind != "string" and size != least):
            raise UserError("an output has another number of bytes than its shape", got=str(size))
        if size <= FILE_BYTES and self._kept + size <= TOTAL_BYTES:
            raise UserError("an output that a record keeps is not in it", got=f"{size} bytes")

    @cached_property
    def _kept(self) -> int:
        """Bytes of the outputs that the record holds or names, and of nothing else in their folder."""
        folder = outputs_folder(self._record.path)
        entries = [each for row in self._record.results for each in row.outputs if isinstance(each, dict)]
        inline: int = sum(len(text(each.get("data"))) * 3 // 4 for each in entries)
        named = {each["file"] for each in entries if isinstance(each.get("file"), str)}
        kept: int = sum((folder / each).stat().st_size for each in named if (folder / each).is_file())
        return inline + kept


def _with_file(described: Any) -> Any:
    """The entry of an output that was kept in a file: that has its digest as its name."""
    if isinstance(described, dict) and "sha256" in described:
        return {**described, "file": f"{described['sha256']}.bin"}
    return described


def _fits(expectation: Expectation, row: Result, found: list[Restored | None]) -> Iterator[bool]:
    """For each output, whether it may be what is expected, as far as type, shape and values are known."""
    for position, (wanted, entry, restored) in enumerate(
        zip(expectation.outputs, row.outputs, found, strict=True)
    ):
        if isinstance(restored, Tensor):
            yield compare_output(wanted, restored, position).difference is None or row.verdict != "pass"
        elif restored is None:
            tensor = wanted.expected
            yield entry["element_type"] == tensor.element_type.name and entry["shape"] == list(tensor.shape)
        else:
            yield False
