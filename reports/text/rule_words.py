"""A rule that a call breaks in a sentence: never its identifier."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from conformance.suite.cases import Case
from opcert.vocabulary.yaml_files import load_file

FILE = Path(__file__).with_name("rule_sentences.yaml")
_FAMILIES: Mapping[str, str] = {
    r"one_type_of_(\w+)": "whose `{0}` have different element types",
    r"same_type_(\w+)": "whose `{0}` has another element type than the input beside it",
    r"type_of_(\w+)": "with an element type that `{0}` does not have",
    r"(\w+?)_(?:in_)?range": "with a value of `{0}` out of its range",
    r"(\w+)_not_negative": "with a negative value of `{0}`",
    r"(\w+)_not_zero": "whose `{0}` is 0",
    r"(\w+)_positive": "whose `{0}` is not above 0",
    r"(\w+)_(?:distinct|unique)": "that names one of `{0}` twice",
    r"(\w+)_value": "with a value of `{0}` that is not defined",
    r"(\w+)_known": "with a value of `{0}` that is not defined",
    r"(\w+)_shape": "whose `{0}` has another shape than the document says",
    r"(\w+)_length": "whose `{0}` has another length than the document says",
    r"(\w+)_rank": "whose `{0}` has another rank than the document says",
    r"(\w+)_finite": "whose `{0}` is not finite",
    r"(\w+)_type": "whose `{0}` has an element type that is not allowed",
    r"(\w+)_takes": "whose `{0}` takes another number of inputs",
    r"(\w+)_gives": "whose `{0}` gives another number of outputs",
    r"least_(\w+)": "with fewer axes than `{0}` needs",
}
"""Names of rules that kinds and declarations give by what a rule is about."""


def broken_rule(rule: str, absent: Collection[str] = ()) -> str:
    """What a call is that breaks a rule: `a call without its required input `data``.

    `absent` are the inputs that it leaves out, which tells them from attributes.
    """
    typed = _typed().get(rule)
    if typed is not None:
        return f"a call {typed}"
    given = re.fullmatch(r"(\w+)_given", rule)
    if given is not None:
        return f"a call without its required {'input ' if given[1] in absent else ''}`{given[1]}`"
    for pattern, words in _FAMILIES.items():
        found = re.fullmatch(pattern, rule)
        if found is not None:
            return f"a call {words.format(found[1])}"
    return f"a call against the rule “{rule.replace('_', ' ')}”"


def absent_inputs(case: Case) -> frozenset[str]:
    """The inputs that a case leaves out."""
    return frozenset(name for name, tensor in case.inputs if tensor is None)


@cache
def _typed() -> Mapping[str, str]:
    (document,) = load_file(FILE)
    return {str(name): str(words) for name, words in document.value.items()}
