"""What a runtime returned, as far as the record kept it."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judging.responses import ReturnedOther
from conformance.recording.outputs import restore_output
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.suite.cases import Case
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.tensors import Tensor
from reports.text.value_text import shape_text, values_text


@dataclass(frozen=True, eq=False)
class Output:
    """An output that a runtime returned, in words; `tensor` where the record kept it and it is one."""

    name: str
    type: str
    values: str
    tensor: Tensor | None = None

    @property
    def line(self) -> str:
        return f"{self.type} {self.values}".strip()


def read_outputs(record: Record, case: Case, row: Result | None) -> tuple[Output, ...]:
    """The outputs of a row; those that the record lacks, or that are damaged, are said to be."""
    if row is None:
        return ()
    found = []
    for position, entry in enumerate(row.outputs):
        name = output_name(case, position)
        try:
            value = restore_output(entry, position, case, record.path)
        except UserError as error:
            found.append(Output(name, "", error.problem))
            continue
        if value is not None:
            found.append(in_words(name, value))
        else:
            digest = entry.get("sha256", "") if isinstance(entry, dict) else ""
            found.append(Output(name, "", f"too large for the record; SHA-256 {digest}"))
    return tuple(found)


def output_name(case: Case, position: int) -> str:
    """What a case calls an output; runtimes may return more than there are."""
    return case.output_names[position] if position < len(case.output_names) else f"output {position}"


def in_words(name: str, value: Tensor | ReturnedOther) -> Output:
    """An output as a page shows it."""
    if isinstance(value, Tensor):
        return Output(name, shape_text(value), values_text(value), value)
    return Output(name, "", f"no tensor but a {value.kind}: {value.text}")
