"""The words of a case: identifiers and names, which end up in scripts, file names and pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, get_args

from conformance.suite.cases import Case, Demand, Expectation, Unordered
from conformance.suite.properties import Masked, SameAgain
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import is_plain
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.slots import check_slots

_IDENTIFIER = re.compile(r"[A-Za-z0-9_]{1,200}")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,199}")
_LONGEST_NAME = 500
_LONGEST_RULE = 20_000


def check_words(case: Case) -> Case:
    """The case itself; raises UserError where one of its words is none.

    Constraints, what may be refused, readings and behaviours have identifiers of letters, digits and `_`;
    attributes may have `.` and `-` as well. Options, levels, documents, inputs and outputs have names of one
    line in which nothing hides. `valid_case` is a case id.
    """
    _check("the demand", [case.demand], get_args(Demand).__contains__, "answer, refuse or survive")
    _check("a constraint", [case.constraint or "_"], _is_identifier, "letters, digits and _")
    _check("what may be refused", [case.may_refuse or "_"], _is_identifier, "letters, digits and _")
    _check("an attribute", case.attributes, _is_attribute, "letters, digits, _, . and -")
    functions = [name for each in case.expectations for name in each.functions]
    _check("a function", functions, _is_identifier, "letters, digits and _")
    readings = [
        name for each in case.expectations for name in (*each.readings, *each.behaviours, *each.contradicted)
    ]
    _check("a reading", readings, _is_identifier, "letters, digits and _")
    _check("a name", _names(case), _is_name, f"a text of one line and at most {_LONGEST_NAME} characters")
    rule = case.rule or ""
    if not isinstance(rule, str) or len(rule) > _LONGEST_RULE:
        raise UserError("the rule of a case is none", expected=f"at most {_LONGEST_RULE} characters")
    if any(type(line) is not int or line < 0 for _, line in case.sources):
        raise UserError("a source of a case has no line", got=ascii(case.sources)[:200])
    if case.valid_case is not None:
        CaseId.parse(case.valid_case)
    _check_forms(case)
    return case


def _check_forms(case: Case) -> None:
    """What cases of more than tensors and values say: slots, outputs, properties, open orders."""
    check_slots(case.inputs, case.slots)
    if type(case.outputs_asked) is not bool or any(type(each.empty) is not bool for each in case.slots):
        raise UserError("a case says neither yes nor no", got=ascii(case.outputs_asked)[:80])
    wanted = case.wanted
    if len(set(wanted)) < len(wanted):
        raise UserError("two outputs of a case have one name", got=ascii(wanted)[:200])
    about = [
        *case.output_types,
        *(each.output for each in case.properties if not isinstance(each, SameAgain)),
        *(each.mask for each in case.properties if isinstance(each, Masked)),
    ]
    strange = [each for each in about if each not in wanted]
    if strange:
        raise UserError("an output that the call does not ask for", got=ascii(strange[0])[:200])
    if case.properties and case.demand != "answer":
        raise UserError("a demand on outputs of a case that demands no answer", got=case.demand)
    if case.may_refuse is not None and case.demand != "answer":
        raise UserError("leave to refuse in a case that demands no answer", got=case.demand)
    if type(case.refusal_contradicted) is not bool or (case.refusal_contradicted and not case.may_refuse):
        raise UserError("a contradiction about refusals that says of none", got=ascii(case.may_refuse)[:80])
    for expectation in case.expectations:
        for each in expectation.unordered:
            _check_unordered(expectation, each)


def _check_unordered(expectation: Expectation, unordered: Unordered) -> None:
    outputs = {each.name: each.expected for each in expectation.outputs}
    axis, shapes = unordered.axis, [outputs[each].shape for each in unordered.outputs if each in outputs]
    if len(shapes) < len(unordered.outputs) or not shapes or type(unordered.lanes) is not bool:
        raise UserError("an open order of outputs that there are not", got=ascii(unordered)[:200])
    if type(axis) is not int or not all(0 <= axis < len(each) for each in shapes):
        raise UserError("an open order along an axis that there is not", got=ascii(unordered)[:200])
    whole = shapes if unordered.lanes else [each[axis] for each in shapes]
    if any(each != whole[0] for each in whole):
        raise UserError("an open order of outputs of different lengths", got=ascii(shapes)[:200])


def _names(case: Case) -> Iterator[Any]:
    yield from (name for name, _ in case.inputs)
    yield from (each.name for each in case.slots)
    yield from case.wanted
    yield from (part for level in _mapping(case.levels).items() for part in level)
    yield from (document for document, _ in case.sources)
    for each in case.expectations:
        yield from (output.name for output in each.outputs)
        yield from _options(each)


def _options(expectation: Expectation) -> Iterator[Any]:
    for options in (*expectation.readings.values(), *expectation.behaviours.values()):
        yield from options


def _mapping(value: object) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise UserError("the levels of a case are no object", got=type(value).__name__)
    return value


def _check(what: str, words: Iterable[Any], holds: Callable[[Any], bool], expected: str) -> None:
    for each in words:
        if not isinstance(each, str) or not holds(each):
            raise UserError(f"{what} of a case is no such word", got=ascii(each)[:200], expected=expected)


def _is_identifier(word: str) -> bool:
    return _IDENTIFIER.fullmatch(word) is not None


def _is_attribute(word: str) -> bool:
    return _ATTRIBUTE.fullmatch(word) is not None


def _is_name(word: str) -> bool:
    return len(word) <= _LONGEST_NAME and _is_plain_name(word)


@lru_cache(maxsize=1 << 12)
def _is_plain_name(word: str) -> bool:
    # The cases of an operator have the same few names.
    return is_plain(word, _LONGEST_NAME)
