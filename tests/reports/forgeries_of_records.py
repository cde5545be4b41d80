"""Forgeries of records: rows, headers and footers, each rewritten so that all digests and counts agree."""

from __future__ import annotations

import base64
import json
import os
from typing import Any, Final

from conformance.recording.outputs import TOTAL_BYTES, outputs_folder
from conformance.suite.suites import open_suite
from tests.reports.certified import Row
from tests.reports.forging import Forged, Forgery, bare, digest_entry, each_failing

DAMAGED: Final = "does not hold"


def too_large_to_keep(forged: Forged) -> None:
    """Wrong answers become right ones that are too large to keep, of an invented shape."""
    forged.forge_rows(
        each_failing(
            lambda row: bare(row, verdict="pass", outputs=[digest_entry([99999, 999])], expectation=0)
        )
    )


def too_large_in_the_right_shape(forged: Forged) -> None:
    """Wrong answers become right ones whose digests alone are there, of the expected shape."""
    forged.forge_rows(each_failing(lambda row: _digest_alone(forged, row)))


def no_room_left(forged: Forged) -> None:
    """The same, with a file of 1 GiB among the outputs, so that there seems to be no room for more."""
    folder = outputs_folder(forged.record)
    folder.mkdir(exist_ok=True)
    with (folder / f"{'0' * 64}.bin").open("wb") as file:
        os.truncate(file.fileno(), TOTAL_BYTES)
    forged.forge_rows(each_failing(lambda row: _digest_alone(forged, row)))


def another_number_of_bytes(forged: Forged) -> None:
    """The same, with a number of bytes that is too large for the shape."""

    def change(row: Row) -> Row:
        found = _digest_alone(forged, row)
        found["outputs"] = [{**each, "bytes": 99_999_999} for each in found["outputs"]]
        return found

    forged.forge_rows(each_failing(change))


def golden_by_its_digest(forged: Forged) -> None:
    """Wrong answers become the digest of the golden one."""
    with open_suite(forged.suite) as suite:
        wanted = {
            case_id: suite.case(case_id).expectations[0].outputs[0].expected
            for case_id in suite.case_ids
            if suite.case(case_id).expectations
        }

    def change(row: Row) -> Row:
        tensor = wanted[row["case"]]
        entry = digest_entry(list(tensor.shape), tensor.element_type.name, tensor.to_bytes())
        return bare(row, verdict="pass", outputs=[entry], expectation=0)

    forged.forge_rows(each_failing(change))


def right_by_word(forged: Forged) -> None:
    """Wrong answers are called right, with their outputs left in the record."""
    forged.forge_rows(
        each_failing(lambda row: bare(row, verdict="pass", outputs=row["outputs"], expectation=0))
    )


def wrong_by_word(forged: Forged) -> None:
    """Right answers are called wrong, to speak against somebody else's runtime."""
    forged.forge_rows(
        lambda rows: [
            bare(row, verdict="mismatch", reason="wrong", outputs=row["outputs"])
            if row["verdict"] == "pass" and row["outputs"]
            else row
            for row in rows
        ]
    )


def golden_counted_from_the_end(forged: Forged) -> None:
    """Right outputs are named as the last expectation from the end, `golden:-1`."""
    forged.forge_rows(lambda rows: _each_golden(rows, "golden:-1"))


def golden_spelt_otherwise(forged: Forged) -> None:
    """Right outputs are named `goldens`, which another reader takes for something else."""
    forged.forge_rows(lambda rows: _each_golden(rows, "goldens"))


def golden_in_bytes(forged: Forged) -> None:
    """A right output stands in one of two rows by its bytes, so that the two seem to differ."""

    def change(rows: list[Row]) -> list[Row]:
        with open_suite(forged.suite) as suite:
            for row in rows:
                if row["outputs"] == ["golden"]:
                    tensor = suite.case(row["case"]).expectations[0].outputs[0].expected
                    data = base64.b64encode(tensor.to_bytes()).decode()
                    entry = {
                        "element_type": tensor.element_type.name,
                        "shape": list(tensor.shape),
                        "data": data,
                    }
                    row["outputs"] = [entry]
                    break
        return rows

    forged.forge_rows(change)


def not_offered(forged: Forged) -> None:
    """Wrong answers become cases that were not sent, because the runtime does not offer them."""
    reason = "echo does not offer tensors of float"
    forged.forge_rows(each_failing(lambda row: bare(row, verdict="unsupported", reason=reason)))


def not_offered_for_another_reason(forged: Forged) -> None:
    """A case that was not sent has a reason that reads better."""

    def change(rows: list[Row]) -> list[Row]:
        for row in _not_sent(rows):
            row["reason"] = "such tensors are an optional feature"
        return rows

    forged.forge_rows(change)


def never_asked(forged: Forged) -> None:
    """The offer in the header is narrowed, while rows of what it lacks stay."""

    def change(header: Row) -> None:
        header["runtime"]["offer"]["element_types"] = ["int32"]

    forged.forge_rows(header=change)


def offer_left_out(forged: Forged) -> None:
    """The header's offer is dropped, so that nothing speaks against rows that were not sent."""
    forged.forge_rows(header=lambda header: header["runtime"].update(offer={}))


def offer_made_up(forged: Forged) -> None:
    """The offer leaves out floats, and every row of floats becomes one that was not sent: what the worker
    offered stands in the record alone."""

    def rows(found: list[Row]) -> list[Row]:
        return [
            bare(each, verdict="unsupported", reason="echo does not offer tensors of float")
            if each["element_type"] == "float"
            else bare(each, verdict="pass", outputs=["golden"], elements=6, wrong=0, expectation=0)
            for each in found
        ]

    def header(found: Row) -> None:
        found["runtime"]["offer"]["element_types"] = ["int32"]

    forged.forge_rows(rows, header=header)


def refused_in_the_words_of_the_table(forged: Forged) -> None:
    """Wrong answers become refusals with an error that counts as unsupported: what a worker reported stands
    in the record alone."""
    forged.forge_rows(
        each_failing(
            lambda row: bare(
                row,
                verdict="unsupported",
                reason="Unsupported: no such kernel",
                stage="load",
                error="Unsupported",
                message="no such kernel",
                unsupported="Unsupported: no strings here",
            )
        )
    )


def refused_by_a_rule_that_is_none(forged: Forged) -> None:
    """Refusals of valid calls become unsupported by a rule that the adapter does not have."""

    def change(rows: list[Row]) -> list[Row]:
        for row in rows:
            if row["verdict"] == "rejected_valid":
                row.update(verdict="unsupported", unsupported="RuntimeError: not for us")
        return rows

    forged.forge_rows(change)


def invalid_call_refused(forged: Forged) -> None:
    """Invalid calls that were answered become refused ones, in a worker's words."""
    said = {"stage": "run", "error": "ValueError", "message": "no"}
    forged.forge_rows(
        lambda rows: [
            bare(row, verdict="pass", reason="refused with ValueError: no", **said)
            if row["verdict"] == "accepted_invalid"
            else row
            for row in rows
        ]
    )


def crashed_instead_of_wrong(forged: Forged) -> None:
    """Wrong answers become crashes, which somebody's waiver might cover."""
    forged.forge_rows(each_failing(lambda row: bare(row, verdict="crash", reason="died", signal="SIGSEGV")))


def crash_with_outputs(forged: Forged) -> None:
    """A crash is given outputs, for a reader who counts answers by them."""

    def change(rows: list[Row]) -> list[Row]:
        for row in rows:
            if row["verdict"] == "crash":
                row["outputs"] = ["golden"]
        return rows

    forged.forge_rows(change)


def timed_out_of_no_limit(forged: Forged) -> None:
    """Crashes become cases that ran out of a time that was never the limit."""
    forged.forge_rows(
        lambda rows: [
            bare(row, verdict="timeout", reason="no answer to run within 900 s", stage="run")
            | {"seconds": 900.0}
            if row["verdict"] == "crash"
            else row
            for row in rows
        ]
    )


def crash_left_out(forged: Forged) -> None:
    """The rows of cases that crashed are dropped."""
    forged.forge_rows(lambda rows: [row for row in rows if row["verdict"] != "crash"], certify=False)
    forged.claim_record()


def row_there_twice(forged: Forged) -> None:
    """A row that passes is there twice."""
    forged.forge_rows(lambda rows: [rows[0], *rows])


def rows_in_another_order(forged: Forged) -> None:
    """Two rows change places."""
    forged.forge_rows(lambda rows: [rows[1], rows[0], *rows[2:]])


def repetitions_left_out(forged: Forged) -> None:
    """Second repetitions are dropped, and the header says that there was one each."""
    forged.forge_rows(
        lambda rows: [row for row in rows if row["repeat"] == 0],
        header=lambda header: header["options"].update(repeat=1),
    )


def repetitions_claimed(forged: Forged) -> None:
    """The header says that each case was run five times."""
    forged.forge_rows(header=lambda header: header["options"].update(repeat=5))


def form_left_out(forged: Forged) -> None:
    """The rows of one form are dropped, and the header does not name it."""
    forged.forge_rows(
        lambda rows: [row for row in rows if row["form"] == "inputs"],
        header=lambda header: header["options"].update(forms=["inputs"]),
    )


def form_renamed(forged: Forged) -> None:
    """One form is called by a name that the runtime never offered."""

    def rename(rows: list[Row]) -> list[Row]:
        for row in rows:
            row["form"] = "optimised" if row["form"] == "inputs" else row["form"]
        return rows

    def header(found: Row) -> None:
        forms = found["options"]["forms"]
        found["options"]["forms"] = ["optimised" if form == "inputs" else form for form in forms]

    forged.forge_rows(rename, header=header)


def outputs_swapped_between_forms(forged: Forged) -> None:
    """The outputs of one form stand in the rows of the other."""

    def swap(rows: list[Row]) -> list[Row]:
        own = [row for row in rows if row["operator"].endswith("Echo-2") and row["repeat"] == 0]
        own[0]["outputs"], own[1]["outputs"] = own[1]["outputs"], own[0]["outputs"]
        return rows

    forged.forge_rows(swap)


def family_relabelled(forged: Forged) -> None:
    """Wrong answers are called observed, as if nothing were demanded of them but survival."""
    forged.forge_rows(
        each_failing(lambda row: bare(row, verdict="observed", reason="answered", family="survival"))
    )


def reading_relabelled(forged: Forged) -> None:
    """A row says that it follows another reading than its answer does."""

    def change(rows: list[Row]) -> list[Row]:
        for row in rows:
            if row["readings"]:
                row["readings"] = {"side": ["right"]}
        return rows

    forged.forge_rows(change)


def fault_left_out(forged: Forged) -> None:
    """The fault of answers that differ between forms is dropped."""
    forged.forge_rows(footer=lambda footer: footer.update(faults=[]))


def fault_stated_twice(forged: Forged) -> None:
    """A fault stands there twice, as if there were two."""
    forged.forge_rows(footer=lambda footer: footer.update(faults=footer["faults"] * 2))


def fault_made_up(forged: Forged) -> None:
    """A fault is stated that no row shows."""
    made = {
        "kind": "forms_differ",
        "operator": "org.example::Echo-1",
        "count": 1,
        "cases": [],
        "message": "bad",
    }
    forged.forge_rows(footer=lambda footer: footer.update(faults=[*footer["faults"], made]))


def fault_in_own_words(forged: Forged) -> None:
    """A fault of workers lost between cases has words of the forger's own."""
    made = {"kind": "unload_crash", "count": 1, "reasons": [], "message": "never use this runtime"}
    forged.forge_rows(footer=lambda footer: footer.update(faults=[*footer["faults"], made]))


def key_there_twice(forged: Forged) -> None:
    """A row has its verdict twice: `mismatch` for readers who take the first, `pass` for the others."""
    _edit_line(forged, b'"verdict":"pass"', b'"verdict":"mismatch","verdict":"pass"')


def number_that_json_lacks(forged: Forged) -> None:
    """A time is the literal NaN."""
    raw = forged.record.read_bytes().splitlines(keepends=True)
    row = json.loads(raw[1])
    _edit_line(forged, b'"seconds":' + json.dumps(row["seconds"]).encode(), b'"seconds":NaN')


def key_of_its_own(forged: Forged) -> None:
    """A row has a key that opcert does not write, for another reader."""
    _edit_line(forged, b'"type":"result"', b'"type":"result","vetted_by":"the vendor"')


def ended_at_no_time(forged: Forged) -> None:
    """The footer says that the run ended `soon`, so that no day can be held against it."""
    forged.forge_rows(footer=lambda footer: footer.update(finished="soon"))


def ended_before_it_began(forged: Forged) -> None:
    """The run is dated back, to a day on which a waiver still held."""
    forged.forge_rows(footer=lambda footer: footer.update(finished="2001-01-01T00:00:00Z"))


def filter_left_out(forged: Forged) -> None:
    """The record of a run with -k is passed off as a whole one."""
    kept = "org.example/Echo-2"
    forged.forge_rows(
        lambda rows: [row for row in rows if kept not in row["case"]],
        header=lambda header: header["options"].update(pattern=None),
        certify=False,
    )
    forged.claim_record()


def name_of_a_better_runtime(forged: Forged) -> None:
    """The header's runtime has another name than the one that it offered as."""
    forged.forge_rows(header=lambda header: header["runtime"].update(name="onnxruntime"))


def version_of_its_own(forged: Forged) -> None:
    """The runtime's version is another one, in header and offer: both stand in the record alone."""

    def change(header: Row) -> None:
        header["runtime"]["version"] = "9.9"
        header["runtime"]["offer"]["runtime"]["version"] = "9.9"

    forged.forge_rows(header=change)


def built_in_source(forged: Forged) -> None:
    """The source is a built-in runtime's, so that the name counts for more."""
    forged.forge_rows(header=lambda header: header["runtime"].update(source="onnxruntime==1.20.1"))


def built_in_source_and_name(forged: Forged) -> None:
    """The same, with the name and the options of that runtime; its refusals are of another table."""

    def change(header: Row) -> None:
        runtime: dict[str, Any] = header["runtime"]
        runtime.update(source="onnxruntime", name="onnxruntime")
        runtime["options"] = {"optimization": "all"}
        runtime["offer"]["runtime"]["name"] = "onnxruntime"

    def rows(found: list[Row]) -> list[Row]:
        for row in _not_sent(found):
            row["reason"] = "onnxruntime does not offer tensors of int32"
        return found

    forged.forge_rows(rows, header=change)


def source_of_no_runtime(forged: Forged) -> None:
    """The source is none that has a table of refusals, so that none is looked at."""
    forged.forge_rows(header=lambda header: header["runtime"].update(source="our-runtime"))


def machine_of_its_own(forged: Forged) -> None:
    """The header names another machine."""
    forged.forge_rows(header=lambda header: header["platform"].update(machine="riscv64"))


def loaded_files_left_out(forged: Forged) -> None:
    """The footer does not say which files the runtime ran code from."""
    forged.forge_rows(footer=lambda footer: footer.pop("loaded"))


def loaded_files_of_a_release(forged: Forged) -> None:
    """The files that the runtime ran code from are said to be those of a release."""
    forged.forge_rows(footer=lambda footer: footer["loaded"][0].update(sha256="0" * 64))


def recorded_here(forged: Forged) -> None:
    """The record of another machine is certified as if the certifier had run it."""
    forged.make(recorded="here")


RECORDS = (
    Forgery(too_large_to_keep, DAMAGED, "no expectation has outputs of this number, type and shape"),
    Forgery(too_large_in_the_right_shape, DAMAGED, "an output that a record keeps is not in it"),
    Forgery(no_room_left, DAMAGED, "an output that a record keeps is not in it"),
    Forgery(another_number_of_bytes, DAMAGED, "another number of bytes than its shape"),
    Forgery(golden_by_its_digest, DAMAGED, "an output that a record keeps is not in it"),
    Forgery(right_by_word, DAMAGED, "stated pass, and judged again mismatch"),
    Forgery(wrong_by_word, DAMAGED, "stated mismatch, and judged again pass"),
    Forgery(golden_counted_from_the_end, DAMAGED, "stated otherwise than judged again: outputs"),
    Forgery(golden_spelt_otherwise, DAMAGED, "stated otherwise than judged again: outputs"),
    Forgery(golden_in_bytes, DAMAGED, "stated otherwise than judged again: outputs"),
    Forgery(
        not_offered,
        DAMAGED,
        "counted as not offered, and what the header says was offered takes it",
    ),
    Forgery(
        not_offered_for_another_reason,
        DAMAGED,
        "not offered for another reason than the header shows",
        real=False,
    ),
    Forgery(never_asked, DAMAGED, "it was tested, and the header says that it cannot have been", real=False),
    Forgery(offer_left_out, DAMAGED, "the header does not hold what the worker offered"),
    Forgery(offer_made_up, "stated", "not sent, because the runtime's worker had said", real=False),
    Forgery(refused_in_the_words_of_the_table, "stated", "its worker says what is unsupported", real=False),
    Forgery(refused_by_a_rule_that_is_none, DAMAGED, "no rule of the runtime's adapter"),
    Forgery(
        invalid_call_refused, "stated", "of calls that must be refused, and were by the error", real=False
    ),
    Forgery(crashed_instead_of_wrong, "stated", "in which the worker was lost"),
    Forgery(crash_with_outputs, DAMAGED, "outputs of a case that was crashed", real=False),
    Forgery(
        timed_out_of_no_limit, DAMAGED, "it timed out after 900 s, which is no limit of the run", real=False
    ),
    Forgery(crash_left_out, DAMAGED, "rows are left out or too many", real=False),
    Forgery(row_there_twice, DAMAGED, "rows of one form and repetition"),
    Forgery(rows_in_another_order, DAMAGED, "not in the order of the suite"),
    Forgery(repetitions_left_out, "stated", "the options of the run that the record names"),
    Forgery(repetitions_claimed, DAMAGED, "rows are left out or too many"),
    Forgery(form_left_out, "stated", "the options of the run that the record names", real=False),
    Forgery(form_renamed, DAMAGED, "in the form optimised, which was not offered"),
    Forgery(outputs_swapped_between_forms, DAMAGED, "stated otherwise than judged again", real=False),
    Forgery(family_relabelled, DAMAGED, "stated observed, and judged again mismatch"),
    Forgery(reading_relabelled, DAMAGED, "stated otherwise than judged again: readings", real=False),
    Forgery(fault_left_out, DAMAGED, "a fault is left out", real=False),
    Forgery(fault_stated_twice, DAMAGED, "a fault is stated twice", real=False),
    Forgery(fault_made_up, DAMAGED, "a fault is stated that the rows do not show: bad"),
    Forgery(fault_in_own_words, DAMAGED, "workers lost between two cases is not as opcert states it"),
    Forgery(key_there_twice, DAMAGED, "the key 'verdict' stands twice in an object"),
    Forgery(number_that_json_lacks, DAMAGED, "NaN is no JSON"),
    Forgery(key_of_its_own, DAMAGED, "of the record is not written as opcert writes it"),
    Forgery(ended_at_no_time, DAMAGED, "does not say when the run ended"),
    Forgery(ended_before_it_began, DAMAGED, "before it began"),
    Forgery(filter_left_out, DAMAGED, "rows are left out or too many", real=False),
    Forgery(name_of_a_better_runtime, DAMAGED, "and offered as echo", real=False),
    Forgery(version_of_its_own, "stated", "the runtime is echo 9.9, requested as exec:", real=False),
    Forgery(built_in_source, DAMAGED, "calls itself echo", real=False),
    Forgery(
        built_in_source_and_name,
        DAMAGED,
        "no rule of the runtime's adapter calls this rejection unsupported",
        real=False,
    ),
    Forgery(source_of_no_runtime, DAMAGED, "is none that this opcert knows"),
    Forgery(machine_of_its_own, "stated", "the machine, the times and the options"),
    Forgery(loaded_files_left_out, "stated", "which files the runtime ran code from was not recorded"),
    Forgery(loaded_files_of_a_release, "stated", "the runtime ran code from the"),
    Forgery(recorded_here, "stated", "the run was recorded by the process that certified it"),
)


def _digest_alone(forged: Forged, row: Row) -> Row:
    with open_suite(forged.suite) as suite:
        expected = [output.expected for output in suite.case(row["case"]).expectations[0].outputs]
    outputs = [digest_entry(list(tensor.shape), tensor.element_type.name, b"made up") for tensor in expected]
    return bare(row, verdict="pass", outputs=outputs, expectation=0)


def _each_golden(rows: list[Row], name: str) -> list[Row]:
    for row in rows:
        row["outputs"] = [name if each == "golden" else each for each in row["outputs"]]
    return rows


def _not_sent(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["verdict"] == "unsupported" and "stage" not in row]


def _edit_line(forged: Forged, before: bytes, after: bytes) -> None:
    """Change bytes of the first row that has them, with a footer that fits."""
    from conformance.suite.canonical import canonical_json, sha256

    first, *rows, last = forged.record.read_bytes().splitlines(keepends=True)
    place = next(number for number, row in enumerate(rows) if before in row)
    rows[place] = rows[place].replace(before, after, 1)
    footer = json.loads(last)
    footer["digest"] = sha256(b"".join(rows))
    forged.record.write_bytes(b"".join([first, *rows, canonical_json(footer) + b"\n"]))
    forged.claim_record()
