"""Rules on the words of a page: grammar and marks, names that nobody has, rules that are never stated."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import eq

from opcert.vocabulary.element_types import ELEMENT_TYPES
from specs.documents.pages.pages import Version
from specs.documents.prose.described_values import candidates
from specs.documents.prose.part_names import pattern, sentences
from specs.documents.text.documents import Line, Passage
from specs.model.spec import Source, Spec
from specs.rules import Told, check

MOST_LISTS = 20
MOST_WORDS = 6

_COUNTS = {word: number for number, word in enumerate(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)}  # fmt: skip
_ANNOUNCED = pattern(
    r"\b(?P<count>" + "|".join(_COUNTS) + r") (?:required |optional )?(?:inputs|outputs|attributes|arguments)"
    r":? (?P<list>[`'\"]\w+[`'\"](?:,? (?:and )?[`'\"]\w+[`'\"]){1,9})(?! ?[`'\"])"
)
_QUOTED = re.compile(r"[`'\"](\w+)[`'\"]")
_JOINED = re.compile(
    r"(?<![\w./`'\"])(?:[a-z]{2,}|\w+[)\]'`\"])\.(?:The|It|If|In|This|These|When|For|Only|Note|An?) (?=\w)"
)
_MARKED = re.compile(
    r"```(?P<code>.*?)```|``(?P<double>[^`]+)``|`(?P<single>[^`]+)`|(?<!\w)'(?P<quoted>[A-Za-z_]\w*)'(?!\w)"
    r"|\"(?P<other>[A-Za-z_]\w*)\""
)
_WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
_COUNTED = re.compile(r"\b(?:two|three|four|five|six|several|supported|different|these|all) $", re.IGNORECASE)
_GENERAL = frozenset(["input", "inputs", "output", "outputs"])
"""Words that pages also use for ports and for the tensors of graphs."""
_MARKED_NAME = re.compile(r"(?<![`*\w])(?P<mark>``|`|'|\*)(?P<name>[A-Za-z_]\w{2,59})(?P=mark)(?![`*\w])")
_KIND = re.compile(r"\b(?:attribute|input|output|argument|parameter)s?\s+$", re.IGNORECASE)
_KIND_BEHIND = re.compile(r"^\s+(?:attribute|input|output|argument|parameter)\b(?!\s+(?:of|to)\b)")
_MEASURES = re.compile(r"(?:(?:,| and|, and) (?P<mark>``|`|'|\*)\w+(?P=mark))* (?:dimension|extent|size)s?\b")
"""What makes a marked name that of an extent."""
_CLOSE = 0.75
"""Two letters of four that changed places are as near as that."""
_TWICE = re.compile(
    r"(?<![\w`'\"./-])(the|an?|of|to|is|are|be|in|on|for|by|and|or|with|from|as|at|it|if)"
    r"\s+\1(?![\w`'\"./-])",
    re.IGNORECASE,
)
"""Words of grammar alone: others may well be repeated."""
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)(?P<text>[^`]+?)\1(?!`)")
_TEX = re.compile(r"\\f(?P<mark>[$\[])(?P<text>.{1,2000}?)\\f[$\]]")
_TEX_BRACKET = re.compile(r"\\(?:left|right|[Bb]igg?[lr])\s*\\?[.|()\[\]{}]|\\[\[\](){}]")
_NO_BRACKET = re.compile(
    r"`[^`]{1,500}`|\\f\$.{1,500}?\\f\$|\\f\[(?s:.{1,2000}?)\\f\]|\$[^$]{1,500}\$"
    r"|[\[(][^\[\](){},]{1,40},[^\[\](){},]{1,40}[\])]"
)
"""Code, TeX, half-open intervals."""
MOST_LETTERS = 50_000
_OPENING = {")": "(", "]": "[", "}": "{"}
_BACKQUOTES = re.compile(r"`+")
_NEAREST = re.compile(r"\binterpolation modes?\b.{0,200}\bnearest\b", re.IGNORECASE)
_ROUNDING = re.compile(r"\bround|\bfloor, ceil|nearest_mode", re.IGNORECASE)
_AVERAGE = re.compile(r"\bweighted average\b|\binterpolation\b")
_STRINGS = re.compile(r"\bstring (?:tensors?|types?|elements?|data)\b|\b(?:of|for) strings?\b")


@check("warning", ("onnx",))
def count_vs_list(version: Version) -> Iterator[Told]:
    """The text announces another number of things than the list behind it has.

    One finding for each list of values or of names that is not as long as its announcement says.
    """
    for about, passage in version.passages.items():
        for count, names, offset in islice(_lists(about, passage), MOST_LISTS):
            if len(names) != count:
                message = f"the text about {about} announces {count} and lists {len(names)}"
                yield Told(passage.source(offset), message, ", ".join(names))


def _lists(about: str, passage: Passage) -> Iterator[tuple[int, tuple[str, ...], int]]:
    """The announced number, what is listed, and where, of each list."""
    group, _, name = about.partition(".")
    if group == "attributes":
        for found in candidates(passage.text, name):
            if found.count is not None and len(found.values) >= 2:
                yield found.count, found.values, found.offset
    for sentence in sentences(passage.text):
        for match in _ANNOUNCED.finditer(sentence.text):
            listed = tuple(_QUOTED.findall(match["list"]))
            yield _COUNTS[match["count"].lower()], listed, sentence.start + match.start()


@check("hint")
def missing_space(version: Version) -> Iterator[Told]:
    """Two sentences have no space between them.

    One finding for each full stop that the next sentence follows at once.
    """
    for passage in version.passages.values():
        for match in _JOINED.finditer(passage.text):
            message = "a space is missing between two sentences"
            yield Told(passage.source(match.start()), message, match[0].strip())


@check("warning", ("onnx", "openvino"))
def name_mismatch(version: Version) -> Iterator[Told]:
    """The text uses a name that the operator does not have; one letter tells which one it means.

    One finding for each marked name that differs from one of the operator's by a plural s alone. A marked
    name stands alone in quotes, or is indexed; in blocks of code, where names of their own are defined, it is
    indexed or has several parts.
    """
    known = _parts(version)
    defined = {formula.name.partition("[")[0] for formula in version.spec.formulas} | _GENERAL
    places: dict[str, list[Source]] = {}
    for passage in version.passages.values():
        for word, source in _marked_names(passage):
            if word not in known | defined and _but_for_an_s(word, known):
                places.setdefault(word, []).append(source)
    for word, found in places.items():
        lines = sorted({source.line for source in found})
        message = f"the text speaks of {word}, the operator has {_but_for_an_s(word, known)}"
        evidence = f"{word} at line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
        yield Told(min(found, key=lambda source: (source.line, source.column or 0)), message, evidence)


def _but_for_an_s(word: str, known: set[str]) -> str | None:
    """The known name that a word is but for a plural s."""
    if f"{word}s" in known:
        return f"{word}s"
    return word[:-1] if word.endswith("s") and word[:-1] in known else None


def _marked_names(passage: Passage) -> Iterator[tuple[str, Source]]:
    for match in _MARKED.finditer(passage.text):
        in_code = match["code"] is not None
        start = match.start(str(match.lastgroup))
        text = match[str(match.lastgroup)]
        if _COUNTED.search(passage.text[max(match.start() - 12, 0) : match.start()]):
            continue
        for word in _WORD.finditer(text):
            indexed = text[word.end() : word.end() + 1] == "["
            if indexed or (in_code and "_" in word[0]) or word[0] == text:
                yield word[0], passage.source(start + word.start())


@check("warning")
def name_unknown(version: Version) -> Iterator[Told]:
    """The text marks a name as one of the operator's, and no part of the operator has it.

    One finding for each marked name that stands once on the page and is none of the operator's. It is told
    where the words beside it call it a part (`the axs attribute`), or where it is a part's name but for a
    letter or two.
    """
    if version.spec.deprecated:
        return
    onnx = version.page.dialect.startswith("onnx")
    known, parts = _known(version), _parts(version)
    whole = " ".join(line.text for line in version.lines)
    for passage in version.passages.values():
        for match in _MARKED_NAME.finditer(passage.text[:20_000]):
            name = match["name"]
            # A name that ends so is the beginning of several; plurals are for name-mismatch.
            plural = {f"{name}s", name.removesuffix("s")} & parts
            if name in known or name.lower() in known or name.endswith("_") or plural:
                continue
            if name.isupper() and not onnx:
                # A layout or a type.
                continue
            near = difflib.get_close_matches(name, sorted(parts), n=1, cutoff=_CLOSE)
            called = _KIND.search(passage.text[: match.start()]) or _KIND_BEHIND.match(
                passage.text[match.end() :]
            )
            if _MEASURES.match(passage.text, match.end()):
                continue
            if not ((near and onnx) or called) or len(re.findall(rf"(?<!\w){name}(?!\w)", whole)) > 1:
                continue
            meant = f"; perhaps {near[0]} is meant" if near else ""
            message = f"the text speaks of {name}, and the operator has no part of that name"
            evidence = f"it has {', '.join(sorted(parts))}{meant}"
            yield Told(passage.source(match.start("name")), message, evidence)


def _parts(version: Version) -> set[str]:
    """The names of the operator's attributes, inputs and outputs."""
    spec = version.spec
    return {*spec.attributes, *(parameter.name for parameter in (*spec.inputs, *spec.outputs))}


def _known(version: Version) -> set[str]:
    """Every word that the operator itself gives a meaning: parts, types, values, extents, its own name."""
    spec = version.spec
    values = {
        str(value)
        for attribute in spec.attributes.values()
        if attribute.values
        for value in attribute.values.values
    }
    formulas = {word for formula in spec.formulas for word in re.findall(r"\w+", formula.name)}
    return {
        *_parts(version),
        *spec.type_constraints,
        *ELEMENT_TYPES,
        *values,
        *formulas,
        spec.operator.name,
        *("true", "false", "none", "null", "nan", "inf"),
    }


@check("hint")
def repeated_word(version: Version) -> Iterator[Told]:
    """A word stands twice in a row.

    One finding for each place.
    """
    for passage in version.passages.values():
        words = passage.text.lower().split()
        if not any(map(eq, words, words[1:])):
            continue
        for match in _TWICE.finditer(passage.text):
            before, after = match[0].split()[:2]
            if before != after and not before.istitle():
                continue
            around = passage.text[max(match.start() - 25, 0) : match.end() + 25]
            message = f"the word {match[1].lower()} stands twice in a row"
            yield Told(passage.source(match.start()), message, around.strip())


@check("warning")
def unbalanced_brackets(version: Version) -> Iterator[Told]:
    """Brackets of a formula are opened and not closed, or closed and not opened.

    One finding for each formula in backquotes or TeX whose brackets do not pair, and for each paragraph of
    prose with one that nothing closes; half-open intervals do.
    """
    for passage in version.passages.values():
        text = passage.text[:MOST_LETTERS]
        found = False
        for match in (*_CODE.finditer(text), *_TEX.finditer(text)):
            formula = match["text"]
            if match.re is _TEX:
                formula = _TEX_BRACKET.sub("", formula)
            # What begins or ends with a blank stands between two formulas whose quotes were mixed up.
            elif formula != formula.strip():
                continue
            if not _brackets_pair(formula):
                found = True
                message = "the brackets of a formula do not pair"
                yield Told(passage.source(match.start()), message, match["text"][:120])
        if not found:
            yield from _open_in_prose(passage)


def _open_in_prose(passage: Passage) -> Iterator[Told]:
    """A bracket of a paragraph that nothing closes, there or in another paragraph."""
    if sum(map(passage.text.count, "([")) <= sum(map(passage.text.count, ")]")):
        return
    for paragraph in _paragraphs(passage.lines):
        text = "\n".join(line.text for line in paragraph)[:MOST_LETTERS]
        text = _NO_BRACKET.sub(lambda match: "\n" * match[0].count("\n"), text)
        if text.count("(") + text.count("[") == text.count(")") + text.count("]"):
            continue
        opened: list[int] = []
        for position, letter in enumerate(text):
            if letter in "([":
                opened.append(position)
            elif letter in ")]" and opened:
                opened.pop()
        if len(opened) == 1:
            line = paragraph[text.count("\n", 0, opened[0])]
            yield Told(line.source(), "a bracket of the text is never closed", line.text.strip()[:120])


def _brackets_pair(text: str) -> bool:
    opened: list[str] = []
    for letter in text:
        if letter in "([{":
            opened.append(letter)
        elif letter in _OPENING:
            if not opened:
                return False
            last = opened.pop()
            interval = {last, _OPENING[letter]} <= {"(", "["}
            if last != _OPENING[letter] and not interval:
                return False
    return not opened


@check("warning")
def unbalanced_quotes(version: Version) -> Iterator[Told]:
    """A backquote has no partner, so that the page sets the wrong words as code.

    One finding for each paragraph in which some run of backquotes has no partner of its length.
    """
    for about, passage in version.passages.items():
        if "`" not in passage.text:
            continue
        for paragraph in _paragraphs(passage.lines):
            if _quotes_pair(" ".join(line.text for line in paragraph)):
                continue
            line = next((line for line in paragraph if not _quotes_pair(line.text)), paragraph[0])
            message = f"a backquote in the text about {about} has no partner"
            yield Told(line.source(), message, line.text[:120])


def _quotes_pair(text: str) -> bool:
    opened = ""
    for run in _BACKQUOTES.findall(text):
        if not opened:
            opened = run
        elif run == opened:
            opened = ""
    return not opened


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The paragraphs of a passage (whose blank lines are gone), without its blocks of code."""
    paragraph: list[Line] = []
    fenced = False
    for line in lines:
        fence = line.text.startswith("```")
        if paragraph and (fence or line.number > paragraph[-1].number + 1):
            yield paragraph
            paragraph = []
        if fence:
            fenced = not fenced
        elif not fenced:
            paragraph.append(line)
    if paragraph:
        yield paragraph


@check("warning")
def unstated_rule(version: Version) -> Iterator[Told]:
    """The text needs a rule that it never states.

    One finding for each rule that a version lacks: of rounding to the nearest, of averages of strings.
    """
    spec = version.spec
    whole = "\n".join(passage.text for passage in version.passages.values())
    mode = version.passages.get("attributes.mode")
    match = _NEAREST.search(mode.text) if mode is not None else None
    if mode is not None and match and not _ROUNDING.search(whole):
        message = "the text does not say how nearest rounds a place between two elements"
        yield Told(mode.source(match.start()), message, f"attributes.mode: {_quote(match[0])}")
    averaged = _find_averaged_words(spec, whole)
    if averaged is not None:
        name, word = averaged
        place = spec.type_constraints[name].origin.sources[0]
        yield Told(place, f"the text does not say what the {word} of strings is", f"{name} lets string in")


def _find_averaged_words(spec: Spec, text: str) -> tuple[str, str] | None:
    """A type variable that lets strings in, and the word of the text that computes with its elements."""
    match = _AVERAGE.search(text)
    if match is None or _STRINGS.search(text):
        return None
    used = {parameter.type for parameter in spec.inputs} & {parameter.type for parameter in spec.outputs}
    for name, constraint in spec.type_constraints.items():
        if name in used and "string" in constraint.types:
            return name, match[0]
    return None


def _quote(words: str) -> str:
    """The words that ask for the rule; of many the first and the last."""
    parts = words.split()
    return words if len(parts) <= MOST_WORDS else " ".join([*parts[:3], "...", *parts[-3:]])
