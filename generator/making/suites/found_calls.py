"""Suites of calls that files hold: what fuzzing found, and what people keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.suite.cases import Case
from conformance.suite.suite_parts import suite_order
from conformance.suite.suites import write_suite
from generator.asking.calls import Call
from generator.asking.calls_files import KeptCall, read_calls
from generator.making.operators.workshop import Options, Workshop, open_workshop, word_of
from generator.making.suites.manifest_facts import operator_facts
from opcert.vocabulary.errors import InternalError, Place, UserError
from opcert.vocabulary.names import OperatorName
from reference.answers import UnstableLength
from specs.files.spec_folders import regressions_folder
from specs.model.spec import Spec

WORD = "found"
"""The word of a case's id where its file gives none."""


def write_suite_of_calls(folder: Path, path: Path, specs: Sequence[Path] = ()) -> str:
    """Work out what must come out of every call of a folder, and write the suite; returns its digest.

    Raises UserError, with the file, for a call of an operator without spec and reference, or of which no
    document says what must happen.
    """
    kept = read_calls(folder)
    cases: list[Case] = []
    facts: dict[str, Any] = {}
    for operator in sorted({kept_call.operator for kept_call in kept}):
        workshop = open_workshop(operator, Options("calls", 1), specs)
        add_calls(workshop, (kept_call for kept_call in kept if kept_call.operator == operator))
        cases += workshop.cases.values()
        facts[str(operator)] = operator_facts(workshop)
    cases.sort(key=lambda each: suite_order(each.id))
    return write_suite(path, cases, {"operators": facts}, {"size": "calls", "operators": sorted(facts)})


def read_kept_calls(operator: OperatorName, folders: Sequence[Path] = ()) -> list[KeptCall]:
    """The calls of an operator version in its room; UserError where one there is of another operator."""
    kept = read_calls(regressions_folder(operator, folders))
    for kept_call in kept:
        if (kept_call.operator.domain, kept_call.operator.name) != (operator.domain, operator.name):
            raise UserError(
                "a call of another operator is kept here",
                got=str(kept_call.operator),
                expected=f"a version of {operator.unversioned}",
                where=None if kept_call.path is None else Place(str(kept_call.path), key="operator"),
            )
    return [kept_call for kept_call in kept if kept_call.operator == operator]


def add_calls(workshop: Workshop, kept: Iterable[KeptCall]) -> None:
    """Make a case of each call: of the boundary family, or of the one of the rule that it breaks.

    A call that is there already, from another family, is not there twice. Raises UserError as
    `write_suite_of_calls` does.
    """
    # The valid ones first: a call that another was made from keeps its own word.
    for kept_call in sorted(kept, key=lambda each: each.made_from is not None):
        try:
            _add(workshop, kept_call)
        except (UnstableLength, InternalError, UserError) as error:
            raise UserError(
                "no document says what must come out of this call",
                got=str(error),
                where=None if kept_call.path is None else Place(str(kept_call.path)),
            ) from error


def _add(workshop: Workshop, kept: KeptCall) -> None:
    call, word = in_order(workshop.spec, kept.call), word_of(kept.word or WORD)
    broken = workshop.violations(call)
    if not broken:
        workshop.add_valid("boundary", word, call)
        return
    if kept.made_from is None:
        raise UserError(
            f"a call that breaks {broken[0].id}", expected="beside it the valid call that it was made from"
        )
    constraint = broken[0].constraint
    family = "invalid" if constraint.otherwise == "error" else "survival"
    workshop.add_broken(family, constraint, in_order(workshop.spec, kept.made_from), call)


def in_order(spec: Spec, call: Call) -> Call:
    """The call with its inputs in the operator's order; raises UserError for names that it does not have.

    Inputs that several tensors make, and those that are told part by part, stay as they are.
    """
    given = dict(call.inputs)
    known = [parameter.name for parameter in spec.inputs]
    unknown = sorted({*given, *call.attributes} - {*known, *spec.attributes})
    if unknown:
        raise UserError(
            f"{spec.operator} has no such input or attribute",
            got=", ".join(unknown),
            expected=f"some of {', '.join((*known, *spec.attributes))}",
        )
    if call.slots or len(given) < len(call.inputs):
        return call.trimmed()
    return replace(call, inputs=tuple((name, given.get(name)) for name in known)).trimmed()
