"""The first lines of a report: which runtime, what it comes to, and the facts of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.judging.verdicts import HARNESS_ERROR, NOT_JUDGED, NOT_RUN
from conformance.recording.records import Record
from conformance.runtimes.processor import processor_text
from conformance.suite.form_sample import forms_by_case
from opcert.vocabulary.harmless import for_shell, one_line
from opcert.vocabulary.names import DEFAULT_SUITE
from reports.causes.failure_class import FailureClass
from reports.causes.forms import compare_forms, form_sentence
from reports.causes.lenient_passes import lenient_sentences
from reports.overview.decided import decide
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, short_names, text
from reports.text.phrasing import count, duration, listed, moment, parse_moment, plural

_MOST_NAMED = 6


def list_missing(results: Results) -> tuple[str, ...]:
    """What is missing, in sentences; none where every case ran and the record has its footer."""
    return tuple(_missing(results))


def _missing(results: Results) -> Iterator[str]:
    partial, number = results.record.partial, results.counts[NOT_RUN]
    if partial:
        yield "The record has no footer: the run did not come to its end, and this is a part of it."
    if number:
        verb = "was" if number == 1 else "were"
        yield f"{plural(number, 'case')} {verb} not run and count for nothing: {_by_operator(results)}."
    rows = _cases_without_rows(results)
    if rows:
        verb = "lacks" if rows == 1 else "lack"
        yield f"{plural(rows, 'case')} {verb} some of the rows that the run requested; the others count."
    if partial:
        yield "What only a whole run shows is not known: answers that differ, readings not followed."
        yield f"The run goes on with `{resume_command(results)}`, and the options that it had."


def _by_operator(results: Results) -> str:
    """`469 of 617 of Resize-18; all 512 of Resize-13, ...`: whole operator versions together."""
    whole, parts = [], []
    for operator, cases in results.by_operator.items():
        missing = sum(result.verdict == NOT_RUN for result in cases)
        if missing == len(cases):
            whole.append(operator)
        elif missing:
            parts.append(f"{count(missing)} of {count(len(cases))} of {short_names([operator])}")
    if len(parts) > _MOST_NAMED:
        parts = [*parts[:_MOST_NAMED], f"some of {count(len(parts) - _MOST_NAMED)} more operator versions"]
    if whole and len(whole) <= 2 * _MOST_NAMED:
        parts.append(f"all of {short_names(whole)}")
    elif whole:
        some = short_names(whole[:_MOST_NAMED])
        parts.append(f"all of {count(len(whole))} operator versions, among them {some}")
    return "; ".join(parts)


def _cases_without_rows(results: Results) -> int:
    """How many cases ran, but not in every form and repetition that the header states."""
    options = mapping(results.record.header.get("options"))
    forms, repeat = items(options.get("forms")), options.get("repeat")
    # Of cases with forms of their own the record does not say which these are.
    if not forms or not isinstance(repeat, int) or options.get("own_forms"):
        return 0
    sampled = options.get("sampled")
    own = forms_by_case(results.suite, forms, sampled if type(sampled) is int else None)
    return sum(0 < len(result.rows) < len(own[str(result.id)]) * repeat for result in results.cases)


def resume_command(results: Results) -> str:
    """The command that goes on with a run that was cut."""
    source = text(mapping(results.record.header.get("runtime")).get("source"))
    words = ["opcert", "run", source]
    if results.suite_name != DEFAULT_SUITE:
        words += ["-s", results.suite_name]
    return for_shell([*words, "-o", str(results.record.path), "--resume"])


_LONGEST_NAME = 200


@dataclass(frozen=True)
class HeadlineFact:
    """One line of the facts: `code` is a digest or another thing to copy."""

    name: str
    text: str
    code: str = ""


def runtime_name(record: Record) -> str:
    """Name of the runtime without its version, as the record states it."""
    return text(mapping(record.header.get("runtime")).get("name"))


def runtime_label(record: Record) -> str:
    """Name and version of the runtime, as its record states them."""
    runtime = mapping(record.header.get("runtime"))
    name, version = (one_line(text(runtime.get(each)), _LONGEST_NAME) for each in ("name", "version"))
    if version == "unknown":
        return f"{name} (version unknown)"
    return f"{name} {version}".strip()


def list_sentences(results: Results, classes: Sequence[FailureClass]) -> tuple[str, ...]:
    """What the run comes to, in a few sentences."""
    found = decide(results.cases, classes)
    said = [*found.sentences(), *filter(None, [found.beside()])]
    forms = form_sentence(results)
    said += [forms] if forms is not None else []
    said += lenient_sentences(results)
    if results.record.faults:
        said.append(f"The whole run shows {plural(len(results.record.faults), 'fault')}.")
    return tuple(said)


def list_warnings(results: Results) -> tuple[str, ...]:
    """What keeps the numbers from being the whole truth."""
    counts = results.counts
    found = [*list_missing(results)]
    if counts[HARNESS_ERROR]:
        worker = results.record.failed_by_worker
        who, whose = ("The worker", "its own mistake") if worker else ("opcert", "a bug of ours")
        found.append(
            f"{who} itself failed on {plural(counts[HARNESS_ERROR], 'case')}: {whose}; "
            "they count for nothing."
        )
    if len(results.cases) == sum(counts[each] for each in NOT_JUDGED):
        found.append("Nothing ran.")
    return tuple(found)


def list_facts(results: Results) -> tuple[HeadlineFact, ...]:
    """Runtime, machine, time, suite and record."""
    header = results.record.header
    runtime = mapping(header.get("runtime"))
    found = []
    if runtime.get("source"):
        found.append(HeadlineFact("runtime", _flat(runtime["source"])))
    if header.get("platform"):
        found.append(HeadlineFact("ran on", _platform(header["platform"])))
    if header.get("processor"):
        found.append(HeadlineFact("processor", processor_text(mapping(header["processor"]))))
    build = mapping(mapping(runtime.get("environment")).get("build"))
    if build:
        found.append(
            HeadlineFact(
                "build", text(build.get("file")), text(build.get("contents") or build.get("integrity"))
            )
        )
    if header.get("started"):
        found.append(HeadlineFact("when", _when(header, results.record.footer)))
    operators = plural(len(results.by_operator), "operator version")
    cases = plural(len(results.cases), "case")
    found.append(HeadlineFact("suite", f"{operators}, {cases}, digest", results.suite.digest[:16]))
    if not results.suite.arithmetic.is_own:
        found.append(HeadlineFact("arithmetic", f"ONNX with {results.suite.arithmetic.words}"))
    found.append(_record_fact(results))
    if results.excuses.against:
        found.append(HeadlineFact("held against", listed(list(results.excuses.against))))
    if results.record.results:
        found.append(HeadlineFact("asked", _asked(results)))
    found += [HeadlineFact(f"form {form.form}", form.text) for form in compare_forms(results)]
    return tuple(found)


def _asked(results: Results) -> str:
    """How many calls were made, in which forms, under which limits; any other option by its name."""
    options = dict(mapping(results.record.header.get("options")))
    forms = sorted({result.form for result in results.record.results})
    for name in ("forms", "sampled", "own_forms", "most_lost"):
        options.pop(name, None)
    parts = [plural(len(results.record.results), "call"), f"form {_flat(forms)}"]
    jobs, limit, memory = (options.pop(name, None) for name in ("jobs", "timeout", "memory"))
    if isinstance(jobs, int):
        parts.append(plural(jobs, "worker"))
    if isinstance(limit, int | float):
        parts.append(f"{limit:g} s a case")
    if isinstance(memory, int):
        parts.append(f"{memory / 2**30:g} GiB")
    for name in ("repeat", "start_timeout"):
        options.pop(name, None)
    return ", ".join(part for part in (*parts, _flat(options)) if part)


def _platform(value: object) -> str:
    platform = mapping(value)
    if not platform:
        return _flat(value)
    parts = [" ".join(text(platform.get(name)) for name in ("system", "release", "machine")).strip()]
    processors, memory = platform.get("processors"), platform.get("memory")
    if isinstance(processors, int):
        parts.append(plural(processors, "processor"))
    if isinstance(memory, int):
        parts.append(f"{memory / 2**30:.1f} GiB")
    return ", ".join(part for part in parts if part)


def _when(header: Mapping[str, Any], footer: Mapping[str, Any] | None) -> str:
    started = text(header.get("started"))
    begin, end = parse_moment(started), parse_moment(text(footer.get("finished"))) if footer else None
    if begin is None or end is None or (begin.tzinfo is None) != (end.tzinfo is None):
        return moment(started)
    return f"{moment(started)}, for {duration(max((end - begin).total_seconds(), 0))}"


def _record_fact(results: Results) -> HeadlineFact:
    footer = results.record.footer
    if footer is None:
        return HeadlineFact("record", "partial: no footer")
    if results.counts[NOT_RUN]:
        return HeadlineFact(
            "record", "closed, but cases are missing; digest", text(footer.get("digest"))[:16]
        )
    return HeadlineFact("record", "complete; its digest agrees", text(footer.get("digest"))[:16])


def _flat(value: object) -> str:
    """A value of a record as one line; empty and null parts are left out."""
    if isinstance(value, Mapping):
        parts = [(str(name), _flat(each)) for name, each in value.items()]
        return ", ".join(f"{name} {part}" for name, part in parts if part)
    if isinstance(value, list | tuple):
        return ", ".join(_flat(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return text(value)
