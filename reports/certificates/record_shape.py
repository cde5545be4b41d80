"""Whether a record that somebody else wrote is as opcert writes it: parts, lines, days, rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from conformance.processes.frames import BrokenProtocol
from conformance.recording.faults import FaultFinder, count_threads, merge_unload_faults
from conformance.recording.records import Record
from conformance.recording.rows import Result
from conformance.recording.suite_ordered import cases_in_order
from conformance.running.requests import Offer, read_offer
from conformance.runtimes.adapter import Adapter
from conformance.runtimes.runtimes import find_adapter, find_runtime
from conformance.suite.canonical import canonical_json
from conformance.suite.form_sample import forms_by_case
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.strict_json import parse_json
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import parse_moment


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Runtime(_Part):
    name: str
    version: str
    source: str
    options: dict[str, str]
    environment: dict[str, Any]
    offer: dict[str, Any]


class _Options(_Part):
    forms: list[str]
    repeat: int
    sampled: int | None = None
    timeout: float
    start_timeout: float


class _Header(_Part):
    suite: str
    runtime: _Runtime
    platform: dict[str, Any]
    options: _Options
    started: str


class _File(_Part):
    file: str
    bytes: int
    sha256: str


class _Footer(_Part):
    counts: dict[str, int]
    faults: list[dict[str, Any]]
    finished: str
    stopped: dict[str, Any] | None = None
    loaded: list[_File] | None = None


_RESULT: TypeAdapter[Any] = TypeAdapter(Result)
_PARTS = {"header": TypeAdapter(_Header), "result": _RESULT, "footer": TypeAdapter(_Footer)}


def check_shape(record: Record) -> None:
    """Raise UserError, with the line, where a part is missing or of another type."""
    try:
        with record.path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                problem = _find_problem(raw)
                if problem is not None:
                    place = Place(str(record.path), number)
                    raise UserError("the record is damaged", got=problem, where=place)
    except OSError as error:
        raise unreadable("the record", record.path, error) from error


def _find_problem(raw: bytes) -> str | None:
    try:
        line = parse_json(raw)
        _PARTS[line["type"]].validate_json(raw, strict=True)
        if not all(isinstance(each, str | dict) for each in line.get("outputs", ())):
            return "outputs: neither a name nor an object"
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (ValueError, KeyError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return None


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


def stated_adapter(record: Record) -> Adapter | None:
    """The adapter whose table decides what counts as unsupported; None where this opcert has none of it."""
    try:
        return find_adapter(_source(record))
    except UserError:
        return None


def stated_offer(record: Record) -> Offer | None:
    """What the worker said in its handshake, as the header has it; None where that cannot be read."""
    facts = mapping(_runtime(record).get("offer"))
    try:
        return read_offer({"type": "hello", **facts})
    except BrokenProtocol:
        return None


def find_wrong_runtime(record: Record) -> Iterator[str]:
    """What in a header contradicts the rest of it, in sentences."""
    runtime, offer = _runtime(record), stated_offer(record)
    if offer is None:
        yield "the header does not hold what the worker offered, or not as the protocol has it"
        return
    for name, offered in (("name", offer.name), ("version", offer.version)):
        if runtime.get(name) != offered:
            yield f"the header's runtime has the {name} {text(runtime.get(name))}, and offered as {offered}"
    forms = items(mapping(record.header.get("options")).get("forms"))
    for form in forms:
        if form not in offer.forms:
            yield f"the header says that cases were run in the form {text(form)}, which was not offered"
    if stated_adapter(record) is None:
        yield f"the header's runtime {_source(record)} is none that this opcert knows"
    elif _is_built_in(record):
        yield from _wrong_built_in(record, runtime)


def _wrong_built_in(record: Record, runtime: Mapping[str, Any]) -> Iterator[str]:
    asked = find_runtime(_source(record))
    if runtime.get("name") != asked.adapter.name:
        yield f"the header's runtime is {_source(record)}, and calls itself {text(runtime.get('name'))}"
    if mapping(runtime.get("options")) != dict(asked.options):
        yield f"the header's options are not those of {_source(record)}"
    package, _, pinned = asked.requirements[0].partition("==")
    packages = {_alike(name): each for name, each in mapping(_packages(runtime)).items()}
    installed = packages.get(_alike(package))
    if pinned and _release(text(installed)) != _release(pinned):
        yield f"{_source(record)} was requested, and {package} {text(installed) or 'of no version'} installed"


def is_believed(record: Record) -> bool:
    """Whether what the runtime's own worker calls unsupported is believed, for want of a table."""
    adapter = stated_adapter(record)
    return adapter is None or adapter.name == "backend" or adapter.is_of_the_user


def _is_built_in(record: Record) -> bool:
    adapter = stated_adapter(record)
    return adapter is not None and bool(adapter.requirements)


def _runtime(record: Record) -> Mapping[str, Any]:
    return mapping(record.header.get("runtime"))


def _source(record: Record) -> str:
    return text(_runtime(record).get("source"))


def _packages(runtime: Mapping[str, Any]) -> object:
    return mapping(runtime.get("environment")).get("packages")


def _alike(package: str) -> str:
    return package.lower().replace("_", "-")


def _release(version: str) -> str:
    """`1.20` and `1.20.0` are one version."""
    while version.endswith(".0"):
        version = version.removesuffix(".0")
    return version


def find_wrong_order(results: Results) -> Iterator[str]:
    """Rows that are missing, there twice, or not where they belong."""
    options = mapping(results.record.header.get("options"))
    forms, repeat = [text(item) for item in items(options.get("forms"))], options.get("repeat")
    sampled = options.get("sampled")
    if forms and isinstance(repeat, int) and (sampled is None or type(sampled) is int):
        wanted = _wanted_rows(results, forms, repeat, sampled)
        if all(one == other for one, other in zip_longest(_keys(results.record), wanted)):
            return
    keys = list(_keys(results.record))
    for key, number in Counter(keys).items():
        if number > 1:
            yield f"{key[0]}: {number} rows of one form and repetition"
    if not forms or not isinstance(repeat, int):
        yield "the header does not say in which forms and how often the cases were run"
        return
    if sampled is not None and type(sampled) is not int:
        yield "the header does not say of how many cases every form was tested"
        return
    those = list(_wanted_rows(results, forms, repeat, sampled))
    if sorted(set(keys)) != sorted(those):
        odd = sorted(set(keys) ^ set(those))
        yield f"rows are left out or too many, such as {odd[0][0]}"
    elif keys != those:
        yield "the rows are not in the order of the suite"


def _keys(record: Record) -> Iterator[tuple[str, str, int]]:
    return ((result.case, result.form, result.repeat) for result in record.results)


def _wanted_rows(
    results: Results, forms: Sequence[str], repeat: int, sampled: int | None
) -> Iterator[tuple[str, str, int]]:
    own = forms_by_case(results.suite, forms, sampled)
    return ((case, form, number) for case in own for form in own[case] for number in range(repeat))


def find_wrong_faults(record: Record) -> Iterator[str]:
    """What does not hold of the faults that the footer states, of those that rows show."""
    finder = FaultFinder(count_threads(record.header))
    for _, rows in cases_in_order(record.results):
        for row in rows:
            finder.see(row)
        if len(rows) > 1:
            finder.compare([row for row in rows if row.response != "none"])
    stated = [dict(fault) for fault in record.faults if fault.get("kind") != "unload_crash"]
    found = finder.faults()
    for shown in found:
        if shown not in stated:
            yield f"a fault is left out: {shown['message']}"
    for claimed in stated:
        if claimed not in found:
            yield f"a fault is stated that the rows do not show: {text(claimed.get('message'))}"
    if len(stated) > len(found):
        yield "a fault is stated twice"
    lost = [dict(fault) for fault in record.faults if fault.get("kind") == "unload_crash"]
    try:
        if lost != merge_unload_faults([lost]):
            yield "the fault of workers lost between two cases is not as opcert states it"
    except (KeyError, TypeError, ValueError):
        yield "the fault of workers lost between two cases cannot be read"
