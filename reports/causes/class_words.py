"""A failure class in words: its head, how many cases fit, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from conformance.judging.kept_diagnosis import DiagnosedCause, Outcome
from conformance.judging.known_causes import EQUALS, WORDS
from reports.causes.conditions import Condition
from reports.causes.failure_class import FailureClass
from reports.causes.optimisation import chain_of
from reports.results.case_facts import ABSENT, CONSTRAINT
from reports.results.case_results import CaseResult
from reports.results.others import Beside, nobody_passes
from reports.text.phrasing import count, listed, plural
from reports.text.rule_words import broken_rule

MOST_SHOWN = 3
"""So many of the experiments and formulas that show a cause are told."""


def headline(found: FailureClass, resembles: str = "") -> str:
    """A class in words: what an entry or the runtime says, or `wrong when mode=cubic and ratio=up2`.

    What the answers of all its cases equal says more than that: `resembles` has it in a sentence.
    """
    equals = equals_text(found, resembles)
    if equals:
        return f"{found.verb}: {equals}"
    return headline_without(found)


def headline_without(found: FailureClass) -> str:
    """What is said of a class of whose answers nobody knows what they equal."""
    if found.known is not None:
        return found.known.title
    if found.told == "either":
        return f"{found.verb}: either {' or '.join(suspect.id for suspect in found.suspects)}, which do alike"
    if found.told == "together":
        return f"{found.verb}: {' and '.join(suspect.id for suspect in found.suspects)} together"
    if found.told == "suspected":
        named = " or ".join(suspect.id for suspect in found.suspects)
        return f"{found.verb}, suspected and not shown: {named}"
    if found.told in ("message", "judge"):
        return f"{found.verb}: {found.said}" if found.said else found.verb
    if found.told == "experiment" and found.shown is not None:
        return f"{found.verb}: {found.shown.sentence}"
    if found.told == "optimisation":
        return f"{found.verb} only with optimisation: {chain_of(found.smallest)}"
    if found.told == "allowed":
        return f"{found.verb} by what the case expects, not by the documents"
    if found.told == "rule" and found.smallest.constraint is not None:
        return f"accepts {broken_rule(found.smallest.constraint, _absent(found))}"
    if found.conditions is None:
        return f"{found.verb}, cause not found"
    if not found.conditions:
        return f"{found.verb} whatever the attributes and inputs"
    return f"{found.verb} when {conditions_text(found)}"


def _absent(found: FailureClass) -> frozenset[str]:
    """The inputs that the smallest call leaves out."""
    return frozenset(name for name, level in found.smallest.features.items() if level == ABSENT)


def conditions_text(found: FailureClass) -> str:
    """The conditions of a class in words; empty where there are none."""
    return " and ".join(map(_condition, found.conditions or ()))


def _condition(each: Condition) -> str:
    return f"it is {' or '.join(map(broken_rule, each.values))}" if each.feature == CONSTRAINT else str(each)


def fit_text(found: FailureClass) -> str:
    """How many cases fit a note: `all 29 such cases`, `9 of 11 such cases, the other 2 fall under 9`."""
    own = len(found.cases)
    if found.told == "nothing":
        return f"{plural(own, 'case')}; no set of up to three conditions separates them"
    if found.conditions is None or found.told == "message":
        return plural(own, "case")
    elsewhere = found.elsewhere or {}
    others = sum(elsewhere.values())
    if own == found.fulfilling:
        return "the only such case" if own == 1 else f"all {count(own)} such cases"
    said = f"{count(own)} of {plural(found.fulfilling, 'such case')}"
    if others:
        rest = own + others == found.fulfilling
        verb = "falls" if others == 1 else "fall"
        numbers = listed([str(each) for each in elsewhere])
        said += (
            f", {'the other ' if rest else ''}{count(others)} {'' if rest else 'more '}{verb} under {numbers}"
        )
    return said


def equals_text(found: FailureClass, resembles: str = "") -> str:
    """What the answers of all cases of a class equal, as its entry or `resembles` says; empty without it."""
    known = found.known
    if known is not None and known.shown and known.shown[0][1] == len(found.cases):
        said = known.shown[0][0]
        if said.startswith(EQUALS):
            return said
    return f"{resembles[:1].lower()}{resembles[1:].removesuffix('.')}"


def remarks(found: FailureClass, resembles: str = "") -> list[str]:
    """What is known of a cause beside its head: of whom it speaks, the conditions that go with it."""
    told = []
    if equals_text(found, resembles) and found.told != "nothing":
        told.append(headline_without(found))
    if found.known is not None:
        known = found.known
        told.append(known.title)
        places = f"; {listed(list(known.passage))}" if known.passage else ""
        told.append(f"known as {known.id}: {WORDS[known.kind]}{places}")
        if known.thread:
            told.append(f"reported at {known.thread}")
        told += [f"shown in {plural(number, 'case')}: {said}" for said, number in known.shown[:MOST_SHOWN]]
        if found.said:
            told.append(f"it says: {found.said}")
    elif found.suspects:
        told += [f"suspected as {suspect.id}: {suspect.title}" for suspect in found.suspects]
    elif found.told == "message" and found.conditions:
        told.append(f"goes with {conditions_text(found)}")
    elif found.told == "association":
        told.append("an association with passing cases; no experiment was made")
    elif found.told == "allowed":
        told.append("computed again, the answer is one that the documents allow; the case has another alone")
    if found.shown is not None and found.told == "experiment":
        told.append(cost_text(found.shown))
    elif found.shown is not None and found.shown.count("unknown") < len(found.shown.cases):
        # What cured one case alone may be a condition of that case beside the cause that an entry has.
        told += [f"shown by experiment: {found.shown.sentence}", cost_text(found.shown)]
    if found.unoptimised:
        told.append(f"only with optimisation: {found.unoptimised} passes {_all_of(len(found.cases))}")
    told += filter(None, [unstable_class_text(found.cases), beside_text(found.beside)])
    return list(dict.fromkeys(told))


def _all_of(number: int) -> str:
    return "this case" if number == 1 else f"all {count(number)} cases"


def beside_text(beside: Sequence[Beside]) -> str:
    """Who else fails where a cause makes cases fail, and who passes; empty where nobody was asked."""
    parts = []
    for each in beside:
        if each.judged:
            said = [f"passes {count(each.passing)}"] if each.passing else []
            said += [f"fails {count(each.failing)}"] if each.failing else []
            parts.append(f"{each.label} {' and '.join(said)}")
    if not parts:
        return ""
    alone = "no runtime that was tried passes one of these cases: " if nobody_passes(beside) else ""
    return f"{alone}{'; '.join(parts)}"


def cost_text(shown: DiagnosedCause) -> str:
    """What a cause costs: what its cases come to without it, as far as that was asked."""
    words: dict[Outcome, tuple[str, str]] = {
        "pass": ("passes", "pass"),
        "unsupported": ("is unsupported", "are unsupported"),
        "fails": ("fails otherwise", "fail otherwise"),
        "unknown": ("was not tested", "were not tested"),
    }
    parts = []
    for outcome, (one, many) in words.items():
        number = shown.count(outcome)
        if number:
            parts.append(f"{count(number)} {one if number == 1 else many}")
    return f"{plural(len(shown.cases), 'case')}; without it {listed(parts)}"


_LOST = ("crashed", "timed out")
_RESPONSE_WORDS = {"none": "not run", "not offered": "not run"}


def calls_of(case: CaseResult) -> tuple[str, ...]:
    """What the calls of a case in the form of its worst one came to; empty where it is not unstable."""
    row = case.row
    if row is None:
        return ()
    alike = [result for result in case.rows if result.form == row.form]
    found = tuple(response for result in alike for response in (result.response, *result.again))
    lost = sum(each in _LOST for each in found)
    return found if 0 < lost < len(found) else ()


def unstable_text(case: CaseResult) -> str:
    """`Unstable: 4 calls of it crashed (3) and answered (1).`; empty where it is not."""
    found = Counter(_RESPONSE_WORDS.get(call, call) for call in calls_of(case))
    if not found:
        return ""
    told = listed([f"{each} ({count(number)})" for each, number in found.most_common()])
    return f"Unstable: {plural(found.total(), 'call')} of it {told}."


def unstable_class_text(cases: Sequence[CaseResult]) -> str:
    """How many cases of a cause are unstable; empty where none is."""
    found = sum(bool(calls_of(result)) for result in cases)
    if not found:
        return ""
    whole = "unstable" if found == len(cases) == 1 else f"unstable in {plural(found, 'case')}"
    return f"{whole}: the worker was lost in one call and not in the next"
