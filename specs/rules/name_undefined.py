"""The text uses a name that is none of the operator's and that it explains nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from specs.model import Finding, Severity, Source
from specs.pages import Version

CODE = "name-undefined"
SEVERITY: Severity = "warning"

MOST_NAMES = 20
"""A text with more of them is none that anybody wrote."""

_RANK = re.compile(r"\brank\((\w+)\)")
_NAME = re.compile(r"(?<![\w.\"'])[a-z]\w*(?![\w(\"'])")
_SUBSCRIPT = re.compile(r"(?<![\w.])([a-z]\w*)\[")
_LETTER = re.compile(r"^[a-z]$")


def check(version: Version) -> Iterator[Finding]:
    """One finding for each name whose rank is taken, each group of names in formulas, missing arguments."""
    spec = version.spec
    known = {*spec.attributes, *(each.name for each in (*spec.inputs, *spec.outputs))}
    defined = {re.sub(r"^shape\((\w+)\)$|\[.*$", r"\1", each.name) for each in spec.formulas}
    if version.page.dialect.startswith("onnx"):
        yield from _ranks(version, known | defined)
    if version.page.dialect.startswith("tensorflow"):
        yield from _subscripts(version, known | defined)
    else:
        yield from _parts(version, known, defined)


def _ranks(version: Version, known: Iterable[str]) -> Iterator[Finding]:
    names = {each.lower() for each in known} | {"input", "inputs", "tensor"}
    places: dict[str, list[Source]] = {}
    for passage in version.passages.values():
        for match in _RANK.finditer(passage.text):
            if match[1].lower() not in names:
                places.setdefault(match[1], []).append(passage.source(match.start()))
    for name, found in places.items():
        inputs = ", ".join(each.name for each in version.spec.inputs)
        message = f"the text takes the rank of {name}, and no input has that name"
        yield _finding(found, message, f"rank({name}); the inputs are {inputs}")


def _parts(version: Version, known: set[str], defined: set[str]) -> Iterator[Finding]:
    """Names that only formulas use, made of the name of an input or attribute and another word."""
    prose = " ".join(passage.text for passage in version.passages.values())
    groups: dict[str, dict[str, Source]] = {}
    for formula in version.spec.formulas[:MOST_NAMES]:
        for name in list(dict.fromkeys(_NAME.findall(formula.text)))[:MOST_NAMES]:
            whole = next((each for each in sorted(known) if len(each) > 2 and (
                name.startswith(f"{each}_") or name.endswith(f"_{each}"))), None)  # fmt: skip
            if whole is None or name in known | defined:
                continue
            word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            if len(word.findall(prose)) <= len(word.findall(formula.text)):
                groups.setdefault(whole, {})[name] = formula.origin.sources[0]
    for whole, found in groups.items():
        names = " and ".join(sorted(found))
        message = f"a formula uses {names}, which nothing in the text defines"
        yield _finding(list(found.values()), message, f"the operator has {whole}, and no part of that name")


def _subscripts(version: Version, known: set[str]) -> Iterator[Finding]:
    """Arrays whose elements formulas use, and that are none of the arguments that the text describes."""
    places: dict[str, Source] = {}
    for formula in version.spec.formulas:
        for name in _SUBSCRIPT.findall(formula.text):
            whole = name.removesuffix("_shape")
            if not _LETTER.match(name) and not {name, whole} & known:
                places.setdefault(name, formula.origin.sources[0])
    defined = " ".join(passage.text for passage in version.passages.values())
    found = {
        name: place for name, place in list(places.items())[:MOST_NAMES]
        if not re.search(rf"\[\s*(?:\w+,\s*)*{name}\b[^\[\]]*\]|{name}\s*(?:is|has|=(?! *\[+\d))\s", defined)
    }  # fmt: skip
    if found:
        described = ", ".join(each.name for each in version.spec.inputs)
        message = f"the text uses elements of {', '.join(sorted(found))} and does not say what these are"
        yield _finding(list(found.values()), message, f"described are {described}")


def _finding(places: list[Source], message: str, evidence: str) -> Finding:
    first = min(places, key=lambda each: (each.line, each.column or 0))
    return Finding(CODE, SEVERITY, first, message, evidence, "noted")
