"""Accepted ranges and bounds of attributes, elements and lengths of lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from specs.documents.prose.part_names import (
    MOST_LETTERS,
    NUMBER_WORDS,
    ParameterNames,
    Sentence,
    found,
    name_of,
    pattern,
    sentences,
)
from specs.documents.prose.worded_conditions import condition, expression, rank_symbols
from specs.documents.text.documents import Passage
from specs.model.statements import Multiple, Of, Range

_INTERVAL = re.compile(r"[`$]*(?P<open>[\[(])(?P<least>(?:[^\[\](),]"
                       r"|\([^()]{0,40}\)){1,60}),(?P<most>(?:[^\[\](),]|\((?:[^()]"
                       r"|\([^()]*\)){0,40}\)){1,60})"
                       r"(?P<close>[\])])[`$]*")  # fmt: skip
_INTRODUCED = pattern(
    r"(?:(?:accepted|allowed|valid|supported|legal|permitted) (?:value )?ranges?(?: for [`'\"]?\w+[`'\"]?)?"
    r"(?: is in| is| are| in|:)?:?"
    r"|\b(?:must|should|shall|has to|have to|expected to|are required to) (?:all )?(?:be|lie|fall)"
    r"(?: with)?(?: ?in)?(?: the)?(?: valid)?(?: closed| half-open)?(?: ?range| ?bounds| ?interval)?(?: of)?"
    r"|\b(?:is|are|lies|with values) (?:with)?in(?: the)?(?: range| bounds| interval)(?: of)?"
    r"|\b(?:are|is|value) in|\bvalue range(?: is|:)?):? ?(?=[`$]*[\[(])"
)
_NOT_A_RANGE = pattern(
    r"(?<![\w`'])[a-z] is in (?:the )?(?:range )?$"
    r"|\b(?:outside|out of|clamped|clipped|most values|bounds the elements|output)\b"
)
_DEFINED = pattern(
    r"\bwhere [`$]*(?P<name>\w+)[`$]* ?(?:= ?|is (?:the )?)(?P<of>rank|number|len|size)"
    r"(?: ?\((?P<in>\w+)\)| of (?P<words>[^.,;)]{1,60}))"
)
_GIVEN_RANK = pattern(r"\bif rank\((?P<in>\w+)\) is (?P<name>\w+)\b")
_SUBJECT = pattern(r"(?:values|entries|elements)? ?(?:in|of|for) (?:the )?[`'\"](?P<name>\w+)[`'\"]")
_NUMBER = r"(?P<number>-?\d+(?:\.\d+)?)"
_COMPARED = (
    (pattern(rf"(?:greater|larger|bigger|more) than or equal to {_NUMBER}"), "at_least"),
    (pattern(rf"(?:less|smaller) than or equal to {_NUMBER}"), "at_most"),
    (pattern(rf"(?:greater|larger|bigger|more) than {_NUMBER}"), "more_than"),
    (pattern(rf"(?:less|smaller) than {_NUMBER}"), "less_than"),
    (pattern(rf">= ?{_NUMBER}"), "at_least"),
    (pattern(rf"<= ?{_NUMBER}"), "at_most"),
    (pattern(rf"> ?{_NUMBER}"), "more_than"),
    (pattern(rf"< ?{_NUMBER}"), "less_than"),
    (pattern(rf"(?:at least|no less than|not less than) {_NUMBER}"), "at_least"),
    (pattern(rf"(?:at most|no more than|not exceed) {_NUMBER}"), "at_most"),
)
_BETWEEN = pattern(
    r"\b(?:must|should|has to) be between (?P<low>-?\d+(?:\.\d+)?) and (?P<high>-?\d+(?:\.\d+)?)\b(?!\.\d)"
)
_POWER = pattern(
    r"\b(?:must be|needs? to be|has to be|should be) (?:a )?power of (?:2|two),? and "
    r"(?:not smaller than|at least|>=|≥) ?(?P<least>\d{1,5})\b"
)
_FLAG = pattern(
    r"^(?:\(?optional\)?[.:,]? )?(?:(?:an? )?(?:boolean|bool|flag|integer)?(?: value| flag| attribute)?,? ?"
    r"(?:that |to )?(?:indicat\w+|specif\w+|determin\w+|controls?|decid\w+|represent\w+)? ?whether\b"
    r"|boolean\b|if (?:set to |the value is |value is )?(?:1|true|non-?zero)\b(?! or)"
    r"|[^.,]{1,80} or not(?:[.,]|$))"
)
"""What says that an integer is one of two: `Whether A is transposed`, `If 1, ...`, `early stop or not`."""
_CHOICE = pattern(
    r"\b(?:one of:?|can be|only|either|must be|should be) (?:either )?(?P<one>\d)(?: \(\w+\))?,? or "
    r"(?P<two>\d)\b(?!\.?\d)"
)
_LISTED = pattern(
    r"(?<![\w.\-=<>/])(?P<number>\d)"
    r"(?= ?[:=] ?[A-Za-z`'\"]| (?:for|is|means|indicates|stands for|- ) ?[a-zA-Z`'\"])"
)
_NAME = r"[`'\"]?[A-Za-z]\w{0,40}[`'\"]?"
_MULTIPLE = pattern(
    rf"(?<![\w.])(?P<names>{_NAME}(?: and {_NAME})?) "
    r"(?:is|are|must be|should be|needs? to be|ha(?:s|ve) to be) (?:evenly )?"
    r"(?:divisible by|(?:a |an integer )?multiples? of) (?:the number of (?:\w+ )?(?=[A-Z]\b))?[`'\"]?"
    r"(?P<of>[A-Za-z_]\w{0,40}(?: ?\* ?[A-Za-z_]\w{0,40})?|\d{1,4})(?![\w(])"
)
_ALONG = pattern(r"\b(?:along|across|if|when)\b")
_NO_NAME = frozenset(
    ["it", "this", "that", "which", "size", "dimension", "dimensions", "value", "values", "length", "number",
     "and", "or", "tensor", "width", "height", "channels"]
)  # fmt: skip
_NO_MULTIPLE_OF = frozenset(["the", "a", "an", "its", "this", "that", "all", "each"])
_DEMAND = pattern(
    r"\b(?:must|should|shall|has to|have to|needs to|need to) (?:all )?(?:be|have|contain|take)?(?: a| an)?"
    r"(?: values?| numbers?)?(?: strictly)?(?: of)?$"
    r"|\b(?:takes?|accepts?) (?:any |a )?values?$"
    r"|\bcan (?:only )?(?:take|be) (?:any |only )?(?:value|values)?$"
    r"|\bany value$"
)
_SIGN = pattern(
    r"\b(?:(?:must|should|shall|has to|have to) (?:all )?(?:be|contain|have)(?: an?| only)?(?: strictly)?"
    r"|(?:can take|takes|takes) (?:any|an?)|(?:is|are|expects|containing|contains) (?:an?|a single|only)"
    r"|\ba single"
    r"|^an?|^the|^) "
    r"(?P<sign>positive|non-?negative) (?:integers?|numbers?|values?|floats?|floating[ -]?point|scalars?"
    r"|float)\b"
    r"|\b(?:must|should|shall|has to) be (?:strictly )?(?P<bare>positive|non-?negative)\b(?! (?:or|if))"
)
_LENGTH = (
    (pattern(r"\bscalar,? or (?:an? )?(?:dims ?= ?\[1\]|one-element\b"
             r"|rank[- ]1 tensor containing (?:a single|exactly one) (?:value|element)\b)"), "one"),
    (pattern(r"\b(?:with|of) (?:size|length|shape) (?:of )?at least \(?(?P<least>\w{1,40})"), "least"),
    (pattern(r"\b(?:containing|with|contains|of|has) exactly (?P<exact>one|two|three|four"
             r"|\d+) (?:elements?|values?)"),
     "exact"),
    (pattern(r"\b(?:containing|contains?|with|must have) (?:a|one) single (?:\w+ )?(?:value|element)"),
     "one"),
    (pattern(r"\b(?:length|size|number of elements) (?:must|should|has to) be (?:equal to|the same as)"
             r" (?:the )?rank of (?P<rank>[^.,;]{1,50})"), "rank"),
)  # fmt: skip
MOST_LISTED = 20
_OPPOSITE = {"at_least": "more_than", "more_than": "at_least", "at_most": "less_than", "less_than": "at_most"}
"""The other way to state the same end of a range."""


def find_ranges(
    about: str, passage: Passage, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Range]:
    """Every range and bound that a passage states; `symbols` are words for ranks from other passages."""
    whole = {**symbols, **_defined(passage.text, parts)}
    ranged = about.partition(".")[0] in ("attributes", "inputs", "summary")
    for sentence in sentences(passage.text) if ranged else ():
        intervals = list(_intervals(about, passage, sentence, parts, whole))
        yield from intervals
        if about != "summary":
            yield from () if intervals else _bounds(about, passage, sentence)
            yield from _lengths(about, passage, sentence, parts)


def find_choices(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Range]:
    """The values of an integer that is a flag, or one of numbers that a passage explains one by one."""
    if about.partition(".")[0] != "attributes" or name_of(about) not in parts.integers:
        return
    text = passage.text[:MOST_LETTERS]
    choice = _CHOICE.search(text)
    if choice and abs(int(choice["one"]) - int(choice["two"])) == 1:
        least, most = sorted((choice["one"], choice["two"]))
        yield Range(about, found(passage, choice.start(), "choice", 0.9), "value", least, None, most)
        return
    listed = [*islice(_LISTED.finditer(text), MOST_LISTED)]
    numbers = [int(match["number"]) for match in listed]
    if len(numbers) > 1 and numbers == [*range(len(numbers))]:
        origin = found(passage, listed[0].start(), "listed-numbers", 0.9)
        yield Range(about, origin, "value", "0", None, str(numbers[-1]))
        return
    flag = _FLAG.match(text)
    if flag and not {*numbers} - {0, 1}:
        yield Range(about, found(passage, flag.start(), "flag", 0.75), "value", "0", None, "1")


def find_multiples(about: str, passage: Passage, parts: ParameterNames) -> Iterator[Multiple]:
    """Extents and attributes that a passage calls multiples of another, or of a number."""
    for sentence in sentences(passage.text):
        match = _MULTIPLE.search(sentence.text)
        if match is None or match["of"].lower() in _NO_MULTIPLE_OF:
            continue
        if _ALONG.search(sentence.before(match.start())):
            continue
        origin = found(passage, sentence.start + match.start(), "multiple", 0.9)
        for name in re.findall(r"\w+", re.sub(r"\sand\s", " ", match["names"])):
            part = parts.about(name)
            if part == about:
                yield Multiple(about, origin, match["of"])
            elif name.lower() not in _NO_NAME:
                yield Multiple(about, origin, match["of"], name)


def _defined(text: str, parts: ParameterNames) -> dict[str, str]:
    """What `where r = rank(data)` and its like make of a word."""
    symbols = {}
    for match in (*_DEFINED.finditer(text[:5000]), *_GIVEN_RANK.finditer(text[:5000])):
        groups = match.groupdict()
        kind = (groups.get("of") or "rank").lower()
        words = groups.get("in") or groups.get("words") or ""
        if kind == "number":
            named = re.search(r"['`\"](\w+)['`\"]", words)
            if named and parts.about(named[1]):
                symbols[match["name"]] = f"len({named[1]})"
        elif kind == "rank":
            tensor = parts.tensor(words)
            first = parts.inputs[0] if parts.inputs else None
            name = name_of(tensor) if tensor else first
            if name is not None:
                symbols[match["name"]] = f"rank({name})"
    return symbols


def _intervals(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Range]:
    for introduction in _INTRODUCED.finditer(sentence.text):
        interval = _INTERVAL.match(sentence.text, introduction.end())
        before = sentence.before(introduction.end())
        if interval is None or _NOT_A_RANGE.search(before) or _is_shape(before, interval):
            continue
        subject = _subject(about, before, parts)
        if subject is None:
            continue
        least, most = (expression(interval[each], _with_ranks(interval[each], symbols, parts))
                       for each in ("least", "most"))  # fmt: skip
        if least is None and most is None:
            continue
        union = re.match(r"\s*\\?cup\b|\s*(?:or|∪)\s*[`$]*[\[(]", sentence.text[interval.end() :])
        loose = {"r"} & {*re.findall(r"\w+", f"{least} {most}")}
        sure = 0.5 if union or least is None or most is None or loose else 1.0
        when = re.match(r"when (.{1,60}?),", sentence.text, re.IGNORECASE)
        below, above = interval["open"] == "(", interval["close"] == ")"
        yield Range(
            subject,
            found(passage, sentence.start + introduction.start(), "accepted-range", sure),
            _of(subject, passage.text),
            at_least=None if below else least,
            more_than=least if below else None,
            at_most=None if above else most,
            less_than=most if above else None,
            when=condition(when[1], parts) if when else None,
        )


def _is_shape(before: str, interval: re.Match[str]) -> bool:
    """Whether two numbers in round brackets are no interval: what is said to be one says so."""
    rounded = (interval["open"], interval["close"]) == ("(", ")")
    return rounded and not re.search(r"\b(?:range|interval|in)\b[^.]{0,12}$", before, re.IGNORECASE)


def _subject(about: str, before: str, parts: ParameterNames) -> str | None:
    """What a range is of: the part named in front of it, or else the one that the passage is about."""
    named = [match["name"] for match in _SUBJECT.finditer(before)]
    for name in reversed(named):
        found_about = parts.about(name)
        if found_about is not None:
            return found_about
    return None if about == "summary" else about


def _with_ranks(text: str, symbols: Mapping[str, str], parts: ParameterNames) -> dict[str, str]:
    """The symbols, and the words that mean the first input's rank where no text defines them."""
    known = dict(symbols)
    for word in re.findall(r"[A-Za-z_]\w*", text):
        if word not in known and rank_symbols(word) and parts.inputs and parts.about(word) is None:
            known[word] = f"rank({parts.inputs[0]})"
    return known


def _of(about: str, text: str) -> Of:
    if about.startswith("inputs"):
        return "elements"
    return "elements" if re.search(r"\b(?:each|all) (?:values?|elements?|axes|entries)\b", text) else "value"


def _bounds(about: str, passage: Passage, sentence: Sentence) -> Iterator[Range]:
    """Bounds by a number that words demand, and those that `positive` and its like state."""
    if re.match(r"(?:if|when|note|for example|e\.g)\b", sentence.text, re.IGNORECASE):
        return
    given: dict[str, str] = {}
    place: int | None = None
    for compare, field in _COMPARED:
        match = compare.search(sentence.text)
        if match is None or given.keys() & {field, _OPPOSITE[field]}:
            continue
        if _DEMAND.search(sentence.before(match.start()).rstrip()):
            given[field] = match["number"]
            place = match.start() if place is None else place
    power = _POWER.search(sentence.text)
    if power is not None and not given:
        origin = found(passage, sentence.start + power.start(), "power-of-two", 0.9)
        yield Range(about, origin, at_least=power["least"])
        return
    between = _BETWEEN.search(sentence.text)
    if between and not given:
        given = {"at_least": between["low"], "at_most": between["high"]}
        place = between.start()
    if not given:
        match = _SIGN.search(sentence.text)
        if match:
            sign = (match["sign"] or match["bare"]).lower()
            given["more_than" if sign == "positive" else "at_least"] = "0"
            place = match.start()
    if given and place is not None:
        origin = found(passage, sentence.start + place, "bound", 0.9)
        yield Range(about, origin, _of(about, sentence.text), **given)


def _lengths(about: str, passage: Passage, sentence: Sentence, parts: ParameterNames) -> Iterator[Range]:
    for rule, kind in _LENGTH:
        match = rule.search(sentence.text)
        if match is None or re.match(r"(?:if|when)\b", sentence.text, re.IGNORECASE):
            continue
        least: str | None
        if kind == "rank":
            tensor = parts.tensor(match["rank"])
            least = f"rank({name_of(tensor)})" if tensor else None
        else:
            groups = match.groupdict()
            count = (groups.get("exact") or "one").lower()
            least = _counted(groups["least"], parts) if "least" in groups else NUMBER_WORDS.get(count, count)
        if least is not None:
            origin = found(passage, sentence.start + match.start(), "stated-length", 0.9)
            yield Range(about, origin, "length", at_least=least, at_most=None if kind == "least" else least)
            return


def _counted(word: str, parts: ParameterNames) -> str | None:
    """How many a word says: a number, or an attribute that holds one."""
    number = NUMBER_WORDS.get(word.lower(), word)
    return number if number.isdecimal() or number in parts.integers else None
