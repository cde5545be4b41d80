"""What a record lacks of its run: cases by operator version, rows of cases, what only a whole run shows."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judging.verdicts import NOT_RUN
from conformance.suite.form_sample import forms_by_case
from opcert.vocabulary.harmless import for_shell
from opcert.vocabulary.names import DEFAULT_SUITE
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, short_names, text
from reports.text.phrasing import count, plural

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
        yield f"{plural(rows, 'case')} {verb} some of the rows that the run asked for; the others count."
    if partial:
        yield "What only a whole run shows is not known: answers that differ, readings not followed."
        yield f"The run goes on with `{resume_command(results)}`, and the options that it had."


def _by_operator(results: Results) -> str:
    """`469 of 617 of Resize-18; all 512 of Resize-13, ...`: whole operator versions together."""
    whole, parts = [], []
    for operator, cases in results.by_operator.items():
        missing = sum(each.verdict == NOT_RUN for each in cases)
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
    return sum(0 < len(each.rows) < len(own[str(each.id)]) * repeat for each in results.cases)


def resume_command(results: Results) -> str:
    """The command that goes on with a run that was cut."""
    source = text(mapping(results.record.header.get("runtime")).get("source"))
    words = ["opcert", "run", source]
    if results.suite_name != DEFAULT_SUITE:
        words += ["-s", results.suite_name]
    return for_shell([*words, "-o", str(results.record.path), "--resume"])
