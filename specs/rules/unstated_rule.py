"""The text needs a rule that it never states."""

from __future__ import annotations

from collections.abc import Iterator

from specs.model import Finding, Severity, Source
from specs.needs import NEEDS, find_averaged_words, find_fractions, find_zero_divisors, is_unsettled_option
from specs.pages import Version

CODE = "unstated-rule"
SEVERITY: Severity = "warning"
MOST_WORDS = 6


def check(version: Version) -> Iterator[Finding]:
    """One finding for each rule that a version lacks."""
    spec = version.spec
    whole = "\n".join(passage.text for passage in version.passages.values())
    for need in NEEDS:
        for about, passage in version.passages.items():
            match = need.speaks.search(passage.text) if need.about.search(about) else None
            if match and not need.settles.search(passage.text if need.here else whole):
                yield _finding(passage.source(match.start()), need.what, f"{about}: {_quote(match[0])}")
                break
    for each in spec.inputs:
        option = version.passages.get(f"inputs.{each.name}")
        if option is not None and is_unsettled_option(each, option):
            what = f"what holds where {each.name} is left out and would take effect"
            yield _finding(option.source(), what, f"{each.name} is optional and has no default")
    averaged = find_averaged_words(spec, whole)
    if averaged is not None:
        name, word = averaged
        place = spec.type_constraints[name].origin.sources[0]
        yield _finding(place, f"what the {word} of strings is", f"{name} lets string in")
    for position, quotient in find_fractions(spec, whole):
        source = spec.formulas[position].origin.sources[0]
        yield _finding(source, f"that {quotient} must be whole", quotient)
    for position, divisor in find_zero_divisors(spec):
        formula = spec.formulas[position]
        what = f"what {formula.name} is where {divisor} is 1"
        evidence = f"{formula.text} divides by zero then; {formula.when or 'always'}"
        yield _finding(formula.origin.sources[0], what, evidence)


def _quote(words: str) -> str:
    """The words that ask for the rule; of many the first and the last."""
    each = words.split()
    return words if len(each) <= MOST_WORDS else " ".join([*each[:3], "...", *each[-3:]])


def _finding(source: Source, what: str, evidence: str) -> Finding:
    return Finding(CODE, SEVERITY, source, f"the text does not say {what}", evidence, "noted")
