"""Accepted ranges and bounds of attributes, elements and lengths of lists; ranks of inputs and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from specs.documents.prose.part_names import (
    MOST_LETTERS,
    ParameterNames,
    Sentence,
    found,
    name_of,
    pattern,
    sentences,
)
from specs.documents.prose.worded_conditions import condition, expression, rank_symbols
from specs.documents.text.documents import Passage
from specs.model.spec import Origin
from specs.model.statements import Of, Range, Rank

_NUMBERED = pattern(
    r"(?<![\w-])(?:(?P<n>\d)-?D|(?P<dim>\d|one|two|three|four)-dim(?:ensional)?"
    r"|rank[- ](?P<r>\d))\b(?! or higher)"
    r"(?! (?:image|block|case|data|loss|tensor case|bounding))"
)
_SCALAR = pattern(r"(?<![\w-])(?P<scalar>scalar|vector)s?\b(?!-)(?! (?:refers|for|quant|multiplier|factor))")
_COMPARED_RANK = pattern(
    r"\b(?:rank|of)(?: (?P<name>[a-z]))? ?(?P<sign>>=|>|<=|==|=) ?(?P<bound>[a-z0-9_]+)\b(?!\()"
    r"|\brank (?:of )?(?P<least>\d+) or (?:higher|more|greater)"
    r"|\bat least (?P<dims>\w+(?:\(\w+\))?) dimensions?\b|\brank (?:is |of )?at least (?P<atleast>\d+)"
)
_SAME = pattern(r"\bsame rank(?: [a-z])? (?:as|of) (?P<other>[^.,;()]{1,50})")
_SAME_SHORT = pattern(r"\bsame rank (?:and shape )?as (?P<other>[^.,;()]{1,50})")
_SUM = pattern(
    r"(?:\bof rank |\brank\((?P<own>\w+)\) ?= ?)(?P<sum>(?:rank\(\w+\)|[\w.]+)"
    r"(?: ?[-+] ?(?:[\w.]+(?:\[-?\d+\])?|\([^()]{1,30}\)))+)"
)
_LEAD = pattern(
    r"(?:^|[:;,]|\b(?:an?|the|(?:an?|the) input|is|are|be|either|or|optional|always|with|output|pooled"
    r"|single|one)) ?[`'\"(]?$"
)
_CONDITIONAL = pattern(
    r"\b(?:if|when|for|in case|whereas|flatten\w*|as if|interpreted|coerced|case|along|reshaped|e\.g"
    r"|like|otherwise)\b"
)
_KEPT = pattern(r"\b(?:resulting|output)(?: tensor)? has the same rank as the input(?: tensor)?"
                r"(?: (?:if|when) (?P<condition>[^.;,]{1,60}))?$")  # fmt: skip
_NAMED = pattern(
    r"\bthe (?P<names>(?:(?:optional )?\w+,? (?:and )?){1,8}?)(?:tensors?|inputs?|outputs?) (?:are|is) "
    r"(?:all )?(?:an? )?(?:rank-(?P<r>\d)|(?P<d>\d)-?D\b)"
)
_OUTPUT_SCALAR = pattern(r"\b(?:outputs?|returns|produces) an? (?:\w+ )?scalar\b(?!-)")
MOST_MENTIONS = 20
_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4"}


def rank_names(passages: Mapping[str, Passage], parts: ParameterNames) -> dict[str, str]:
    """The letters that a page calls ranks by: `r` where data is said to be of rank r."""
    names: dict[str, str] = {}
    for about, passage in passages.items():
        if about.startswith("inputs."):
            match = re.search(r"\brank `?([a-z])\b`?(?!\s*[-+])", passage.text[:5000])
            if match:
                names.setdefault(match[1], f"rank({name_of(about)})")
    summary = passages.get("summary")
    for match in re.finditer(r"[`'\"]?(\w+)[`'\"]? tensor of rank `?([a-z])\b",
                             summary.text[:5000] if summary else ""):  # fmt: skip
        if parts.about(match[1]) == f"inputs.{match[1]}":
            names.setdefault(match[2], f"rank({match[1]})")
    return names


def find_ranks(
    about: str, passage: Passage, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Rank]:
    """The rank that a passage states of the input or output that it is about: one statement at most."""
    if about == "summary":
        yield from _of_named(passage, parts)
        yield from _of_outputs(passage, parts)
    if about.partition(".")[0] not in ("inputs", "outputs"):
        return
    numbers: list[tuple[int, int]] = []
    for each in sentences(passage.text):
        sentence = _unconditional(each)
        own = [(sentence.start + place, number) for place, number in sorted(_numbers(sentence))]
        if own and re.search(r"\bor (?:an? )?[Nn]-?D\b", sentence.text):
            return
        numbers += own
    if numbers:
        least, most = min(each for _, each in numbers), max(each for _, each in numbers)
        origin = found(passage, numbers[0][0], "stated-rank", 1.0 if least == most else 0.9)
        yield Rank(about, origin, str(least), str(most))
        return
    for each in sentences(passage.text):
        sentence = _unconditional(each)
        bounded = list(_bounded(about, passage, sentence, parts, symbols))
        yield from bounded
        if bounded:
            return


def _of_named(passage: Passage, parts: ParameterNames) -> Iterator[Rank]:
    """The ranks that a summary gives tensors by name: `The input, weight and output tensors are rank-3`."""
    for match in _NAMED.finditer(passage.text[:MOST_LETTERS]):
        names = re.findall(
            r"\w+", re.sub(r"\b(?:the|and|optional)\b", " ", match["names"], flags=re.IGNORECASE)
        )
        rank = match["r"] or match["d"]
        for name in names:
            about = parts.about(name)
            if about is not None and not about.startswith("attributes"):
                yield Rank(about, found(passage, match.start(), "stated-rank", 0.9), rank, rank)


def _of_outputs(passage: Passage, parts: ParameterNames) -> Iterator[Rank]:
    """What a summary says of the rank of the first output: that of the input on a condition, or a scalar."""
    if not parts.outputs:
        return
    for sentence in sentences(passage.text):
        kept = _KEPT.search(sentence.text)
        when = condition(kept["condition"], parts) if kept and kept["condition"] else None
        if kept and parts.inputs and (when or not kept["condition"]):
            text = f"rank({parts.inputs[0]})"
            origin = found(passage, sentence.start + kept.start(), "same-rank", 0.9)
            yield Rank(f"outputs.{parts.outputs[0]}", origin, text, text, when)
            return
        scalar = _OUTPUT_SCALAR.search(sentence.text)
        if scalar and not _CONDITIONAL.search(sentence.before(scalar.start())):
            origin = found(passage, sentence.start + scalar.start(), "stated-rank", 0.75)
            yield Rank(f"outputs.{parts.outputs[0]}", origin, "0", "0")
            return


def _unconditional(sentence: Sentence) -> Sentence:
    """The sentence without `If given,`: what is left out has no rank."""
    match = re.match(r"If (?:it is )?(?:given|provided|specified|present), ", sentence.text)
    return Sentence(sentence.text[match.end() :], sentence.start + match.end()) if match else sentence


def _numbers(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """The numbers of dimensions that a sentence gives without a condition, each with its place."""
    numbered, scalars = _NUMBERED.finditer(sentence.text), _SCALAR.finditer(sentence.text)
    for match in (*islice(numbered, MOST_MENTIONS), *islice(scalars, MOST_MENTIONS)):
        before = sentence.before(match.start())
        if _CONDITIONAL.search(before) or not _LEAD.search(_before(match, before)):
            continue
        if re.match(r"\s*(?:if|when|for)\b", sentence.text[match.end() :]):
            continue
        groups = match.groupdict()
        if groups.get("scalar"):
            if not re.search(r"\binput\s+$", before):
                yield match.start(), 0 if groups["scalar"].lower() == "scalar" else 1
        else:
            word = next(each for each in (groups["n"], groups["dim"], groups["r"]) if each)
            yield match.start(), int(_WORDS.get(word.lower(), word))


def _before(match: re.Match[str], before: str) -> str:
    """The words in front of a number of dimensions; `of rank 2` begins before its `of`."""
    if not match[0].lower().startswith("rank"):
        return before
    return re.sub(r"\b(?:of|have|has)\s+$", "", before) + "is "


def _bounded(
    about: str, passage: Passage, sentence: Sentence, parts: ParameterNames, symbols: Mapping[str, str]
) -> Iterator[Rank]:
    if re.match(r"(?:if|when|for|otherwise)\b", sentence.text, re.IGNORECASE):
        return
    total = _SUM.search(sentence.text)
    if total and total["own"] in (None, name_of(about)):
        text = expression(total["sum"], symbols)
        if text is not None:
            yield Rank(about, found(passage, sentence.start + total.start(), "stated-rank", 0.75), text, text)
            return
    compared = _COMPARED_RANK.search(sentence.text)
    if compared:
        origin = found(passage, sentence.start + compared.start(), "bounded-rank", 0.9)
        least = compared["least"] or compared["atleast"] or compared["dims"]
        if least:
            yield Rank(about, origin, _WORDS.get(least, least), None)
        elif compared["bound"].isdigit() or parts.about(compared["bound"]):
            yield _compared(about, compared, origin)
    same = _SAME.search(sentence.text) or _SAME_SHORT.search(sentence.text)
    tensor = parts.tensor(same["other"]) if same else None
    if same and tensor and tensor != about:
        text = f"rank({name_of(tensor)})"
        yield Rank(about, found(passage, sentence.start + same.start(), "same-rank", 0.9), text, text)


def _compared(about: str, match: re.Match[str], origin: Origin) -> Rank:
    bound, sign = match["bound"], match["sign"]
    if sign == ">":
        bound = str(int(bound) + 1) if bound.isdigit() else f"{bound} + 1"
    least = bound if sign in (">=", ">", "=", "==") else None
    most = bound if sign in ("<=", "=", "==") else None
    return Rank(about, origin, least, most)


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
_NOT_A_RANGE = pattern(r"\b(?:outside|out of|clamped|clipped|most values|bounds the elements|output)\b")
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
_DEMAND = pattern(
    r"\b(?:must|should|shall|has to|have to|needs to|need to) (?:all )?(?:be|have|contain|take)?(?: a| an)?"
    r"(?: values?| numbers?)?(?: strictly)?(?: of)?$"
    r"|\btakes? (?:any |a )?values?$|\bcan (?:only )?(?:take|be) (?:any |only )?(?:value|values)?$"
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
    (pattern(r"\bwith (?:size|length) of at least (?P<least>\d+)"), "least"),
    (pattern(r"\bof (?:size|length) (?:of )?at least (?P<least>\d+)"), "least"),
    (pattern(r"\b(?:containing|with|contains|of|has) exactly (?P<exact>one|two|three|four"
             r"|\d+) (?:elements?|values?)"),
     "exact"),
    (pattern(r"\b(?:containing|contains?|with) (?:a|one) single (?:\w+ )?(?:value|element)"), "one"),
    (pattern(r"\b(?:length|size|number of elements) (?:must|should|has to) be (?:equal to|the same as)"
             r" (?:the )?rank of (?P<rank>[^.,;]{1,50})"), "rank"),
)  # fmt: skip
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
            least = groups.get("least") or _WORDS.get(count, count)
        if least is not None:
            origin = found(passage, sentence.start + match.start(), "stated-length", 0.9)
            yield Range(about, origin, "length", at_least=least, at_most=None if kind == "least" else least)
            return
