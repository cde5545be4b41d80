"""Rules on the names of inputs and outputs: their order, what the text and examples call them, versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, pairwise

from specs.documents.pages.pages import Version
from specs.documents.text.documents import Passage
from specs.model.spec import ParameterSpec, Source
from specs.rules import Told, check
from specs.rules.attribute_rules import tells_absence, told_above

MOST_NODES = 200
_FIRST_WORDS = 60
_NODE = re.compile(r"\bmake_node\(")
_LIST = re.compile(r"\b(?P<which>inputs|outputs)=\[(?P<names>[^\[\]]{0,400})\]")
_STRING = re.compile(r"[\"']([^\"']{0,60})[\"']")
_ASSIGNED = re.compile(r"(?<![\w=<>!(\[,.] )(?<![\w.])(?P<name>[A-Za-z_]\w*) ?= (?=[\w(\[-])")
_CUSTOMARY = frozenset(["y", "z", "o", "out", "output", "outputs", "res", "result", "ret"])
_INDICES = re.compile(
    r"(?:\w*_)?(?:indices|index|ax[ei]s|shape|order|sizes?|lengths?|pads|repeats|begin|end|start|stop|step)",
    re.IGNORECASE,
)
_DATA = re.compile(r"x|data|arg|input|values?|updates?", re.IGNORECASE)
_INTEGER = re.compile(r"(?:tensor\()?u?int\d+\)?")
_OPPOSITES = (("begin", "end"), ("start", "stop"), ("rows", "columns"), ("row", "col"), ("min", "max"),
              ("low", "high"), ("first", "second"), ("left", "right"))  # fmt: skip
_SENTENCE_LETTERS = 200
_NAMED_OUTPUT = re.compile(
    r"\boutput(?: data)?(?: tensor)? (?P<mark>[`'\"]?)(?P<name>[A-Z])(?P=mark)(?![\w'`\"<*/(\[-]|\.\w| x )"
)
_OTHERS = re.compile(r"^Other versions of this operator: .*$")
_VERSION = re.compile(r">(\d{1,4})</a>")
_ANCHOR = re.compile(r"\{#openvino_docs_ops_\w+?_(?P<name>[A-Za-z]+)_(?P<version>\d{1,3})\}"
                     r"|^\.\. _openvino_docs_ops_\w+?_(?P<label>[A-Za-z]+)_(?P<number>\d{1,3}):")  # fmt: skip


@check("warning")
def optional_before_required(version: Version) -> Iterator[Told]:
    """An input may be left out, one behind it may not, and nothing says what the absence means.

    One finding for all inputs of a version whose text speaks of no absence and no default. A bias that is
    absent is not added; keys and values are absent where the query's text has them packed into it.
    """
    inputs = version.spec.inputs
    silent: list[tuple[ParameterSpec, ParameterSpec]] = []
    packed = any(map(_PACKED.search, (passage.text for passage in version.passages.values())))
    for position, parameter in enumerate(inputs):
        behind = [other for other in inputs[position + 1 :] if other.option == "single"]
        passage = version.passages.get(f"inputs.{parameter.name}")
        if parameter.option != "optional" or not behind or passage is None:
            continue
        if _BIAS.search(f"{parameter.name}: {passage.text}") or (packed and parameter.name in _PACKED_NAMES):
            continue
        if not tells_absence(_WORD_OPTIONAL.sub("", passage.text)) and not told_above(
            version, parameter.name
        ):
            silent.append((parameter, behind[0]))
    if silent:
        first, required = silent[0]
        message = f"{first.name} may be left out, and {required.name} behind it may not"
        names = ", ".join(parameter.name for parameter, _ in silent)
        yield Told(
            first.origin.sources[0], message, f"the text does not say what the absence means of {names}"
        )


_WORD_OPTIONAL = re.compile(r"\*\*Optional\.?\*\*")
_BIAS = re.compile(r"^(?:\w*_)?bias(?:_\w+)?:|^\w+: (?:\w+ )?bias\b", re.IGNORECASE)
_PACKED = re.compile(r"\bor packed qkv\b", re.IGNORECASE)
_PACKED_NAMES = frozenset(["key", "value"])


@check("warning")
def names_swapped(version: Version) -> Iterator[Told]:
    """Two inputs have each other's descriptions or types, or stand in an order that nothing else has.

    One finding for each two inputs of which each is described in the other's words, or has the type that only
    the other can have, for neighbours such as B and A, and for each two that every example gives in exchanged
    places.
    """
    inputs = [parameter for parameter in version.spec.inputs if parameter.option != "variadic"]
    for first, second in combinations(inputs, 2):
        texts = [version.passages.get(f"inputs.{parameter.name}") for parameter in (first, second)]
        if texts[0] is None or texts[1] is None:
            continue
        if _are_swapped(texts[0], first, texts[1], second):
            message = f"{first.name} and {second.name} have each other's descriptions"
            evidence = f"{first.name}: {texts[0].text[:_FIRST_WORDS]}"
            yield Told(first.origin.sources[0], message, evidence)
        elif _have_each_others_types(version, first, second):
            message = f"{first.name} and {second.name} have each other's types"
            evidence = f"{first.name} is of {first.type}, {second.name} of {second.type}"
            yield Told(first.origin.sources[0], message, evidence)
    for first, second in pairwise(version.spec.inputs):
        if _follows(first.name, second.name):
            message = f"{first.name} is listed before {second.name}"
            yield Told(first.origin.sources[0], message, "neighbours of a sequence in exchanged places")
    yield from _swapped_in_examples(version, inputs)


def _are_swapped(first: Passage, one: ParameterSpec, second: Passage, other: ParameterSpec) -> bool:
    """Whether each of two inputs is described as the other; of one letter, as not being itself suffices."""
    if _is_described_as(first, one, other) and _is_described_as(second, other, one):
        return True
    if _are_opposite(first, one, second, other):
        return True
    for letter, text, named, its in ((one, first, other, second), (other, second, one, first)):
        if len(letter.name) == 1 and len(named.name) > 2 and not re.search(rf"\b{letter.name}\b", text.text):
            words, opening = _words(named.name), re.findall(r"[a-z]+", text.text.lower())[:2]
            if words and words <= set(opening) and not words & set(re.findall(r"[a-z]+", its.text.lower())):
                return True
    return False


def _are_opposite(first: Passage, one: ParameterSpec, second: Passage, other: ParameterSpec) -> bool:
    """Whether two names differ in opposite words, and each text has the other's word alone."""
    for pair in _OPPOSITES:
        for mine, theirs in (pair, pair[::-1]):
            if one.name.replace(mine, theirs) != other.name or mine not in one.name:
                continue
            texts = (first.text[:_SENTENCE_LETTERS].lower(), second.text[:_SENTENCE_LETTERS].lower())
            has = [(re.search(rf"\b{mine}", text), re.search(rf"\b{theirs}", text)) for text in texts]
            return bool(not has[0][0] and has[0][1] and has[1][0] and not has[1][1])
    return False


def _have_each_others_types(version: Version, first: ParameterSpec, second: ParameterSpec) -> bool:
    """Whether what is called as indices are may be floats, and what is called as data are is of integers."""
    constraints = version.spec.type_constraints
    for indices, data in ((first, second), (second, first)):
        if _INDICES.fullmatch(indices.name) and _DATA.fullmatch(data.name):
            types = [constraints[part.type].types if part.type in constraints else (part.type,)
                     for part in (indices, data)]  # fmt: skip
            if not all(types) and indices.type == data.type:
                continue
            whole = [all(_INTEGER.fullmatch(name) for name in names) for names in types]
            if not whole[0] and whole[1] and types[1]:
                return True
    return False


def _follows(first: str, second: str) -> bool:
    """Whether two names differ in a digit, or in A, B and C, and the second is the one before the first."""
    if len(first) != len(second):
        return False
    unlike = [place for place, letter in enumerate(first) if letter != second[place]]
    if len(unlike) != 1:
        return False
    place = unlike[0]
    beside = first[max(place - 1, 0) : place] + first[place + 1 : place + 2]
    one, other = first[place].lower(), second[place].lower()
    if one.isdigit() and other.isdigit():
        return int(one) - int(other) == 1 and not re.search(r"\d", beside)
    return one + other in ("ba", "cb") and not re.search(r"[A-Za-z]", beside)


def _is_described_as(passage: Passage, own: ParameterSpec, other: ParameterSpec) -> bool:
    """Whether the first words of a text have all that is the other's name's alone, and none of its own."""
    first = re.split(r"[.,:;(]", passage.text.lower())[0][:_FIRST_WORDS]
    words = set(re.findall(r"[a-z]+", first))
    mine, theirs = _words(own.name), _words(other.name)
    return (
        bool(theirs - mine) and theirs - mine <= words and bool(mine - theirs) and not (mine - theirs) & words
    )


def _words(name: str) -> set[str]:
    parts = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    return {part for part in parts if len(part) > 1}


def _nodes(version: Version) -> Iterator[tuple[dict[str, list[str]], Source]]:
    """The names that the examples' nodes give to inputs and outputs, and where each node stands."""
    for block in version.blocks:
        text = "\n".join(line.text for line in block.lines)
        for match in islice(_NODE.finditer(text), MOST_NODES):
            node = text[match.end() : match.end() + 1000]
            heads = version.spec.operator.name
            if f'"{heads}"' not in node[:200] and f"'{heads}'" not in node[:200]:
                continue
            lists = {
                each["which"]: _STRING.findall(each["names"]) for each in islice(_LIST.finditer(node), 2)
            }
            yield lists, block.lines[text.count("\n", 0, match.start())].source()


def _swapped_in_examples(version: Version, inputs: Sequence[ParameterSpec]) -> Iterator[Told]:
    names = [parameter.name.lower() for parameter in version.spec.inputs]
    given = [[name.lower() for name in lists.get("inputs", ())] for lists, _ in _nodes(version)]
    given = [each for each in given if len([name for name in each if name]) > 1]
    if not given:
        return
    for first, second in combinations(range(len(inputs)), 2):
        one, other = names[first], names[second]
        swapped = [len(each) > second and each[first] == other and each[second] == one for each in given]
        if any(swapped) and not any(len(each) > second and each[first] == one for each in given):
            message = f"the examples give {inputs[first].name} and {inputs[second].name} in the other order"
            yield Told(inputs[first].origin.sources[0], message, f"a node's inputs: {', '.join(given[0])}")


@check("warning", ("onnx",))
def output_name_mismatch(version: Version) -> Iterator[Told]:
    """The text calls the only output otherwise than the list of outputs does.

    One finding for an output that the text never names, where its last formula assigns a customary name of
    outputs that no part has, or where the text says "output Y" and nothing is called Y.
    """
    outputs = version.spec.outputs
    if len(outputs) != 1 or outputs[0].option == "variadic" or version.spec.deprecated:
        return
    name = outputs[0].name
    other = _assigned_last(version, name) or _named_by_letter(version)
    if other is not None:
        message = f"the output is listed as {name}, and called {other[0]} by the text"
        yield Told(outputs[0].origin.sources[0], message, f"{other[0]} in line {other[1].line}")


def _named_by_letter(version: Version) -> tuple[str, Source] | None:
    """The letter by which the text calls the output, where no part, type or extent is called so."""
    spec = version.spec
    parts = (*spec.inputs, *spec.outputs)
    known = {*spec.attributes, *spec.type_constraints, *(part.name.upper() for part in parts)}
    known |= {extent for part in parts for extent in part.shape or ()}
    for passage in version.passages.values():
        for match in islice(_NAMED_OUTPUT.finditer(passage.text), MOST_NODES):
            if match["name"] not in known:
                return match["name"], passage.source(match.start("name"))
    return None


def _assigned_last(version: Version, name: str) -> tuple[str, Source] | None:
    """The name that the last formula of the summary assigns, where no part has it and none the output's."""
    summary = version.passages.get("summary")
    spec = version.spec
    named = rf"[`'\"]{re.escape(name)}\b|\b{re.escape(name)}(?: =|\[|[`'\"])"
    if summary is None or re.search(named, summary.text, re.IGNORECASE):
        return None
    known = {*spec.attributes, *(parameter.name for parameter in spec.inputs)}
    found = list(islice(_ASSIGNED.finditer(summary.text), MOST_NODES))
    if not found or found[-1]["name"] in known or found[-1]["name"].lower() not in _CUSTOMARY:
        return None
    last = found[-1]
    # A name that a formula goes on to use is a step on the way.
    used = len(re.findall(rf"(?<!\w){last['name']}(?!\w)", summary.text))
    only = sum(match["name"] == last["name"] for match in found)
    return (last["name"], summary.source(last.start())) if used == only else None


@check("error", ("onnx", "openvino"))
def version_disagrees(version: Version) -> Iterator[Told]:
    """The document gives more than one version, or more than one domain, for an operator.

    One finding for a version that the page's own list of others has, or that is below one of those; and for
    an anchor of another version than the page's.
    """
    since = version.spec.operator.since_version
    for line in version.lines:
        if _OTHERS.match(line.text):
            others = [int(number) for number in _VERSION.findall(line.text)]
            if others and max(others) >= since and version.page.dialect == "onnx-markdown":
                message = f"the operator is of version {since}, and {max(others)} is among its other versions"
                yield Told(_version_line(version, line.source()), message, line.text[:200])
        anchor = _ANCHOR.search(line.text) if "openvino_docs_ops" in line.text else None
        if anchor and int(anchor["version"] or anchor["number"]) != since:
            message = f"the versioned name has version {since}, the page's anchor another"
            yield Told(_version_line(version, line.source()), message, anchor[0])


def _version_line(version: Version, fallback: Source) -> Source:
    """The line that states the version."""
    stated = re.compile(r"available since version|^\*\*Versioned name\*\*")
    return next((line.source() for line in version.lines if stated.search(line.text)), fallback)
