"""The lexers of OpenVINO pages, and what they give the parser: sections, bullets, text, blocks of code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from specs.documents.text.documents import KeepsFindings, Line, Passage
from specs.model.spec import Finding

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
_HEADING = re.compile(r"^#{1,6}\s")


def lex_markdown(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page; a fence that never ends is a finding."""
    page = Lexed()
    mark: str | None = None
    for line in lines:
        fence = _FENCE.match(line.text)
        if mark is not None:
            if fence and fence["mark"].startswith(mark) and not fence["info"].strip():
                mark = None
                page.blocks[-1].closed = True
            else:
                page.code(line)
        elif fence:
            mark = fence["mark"]
            page.blocks.append(CodeBlock(fence["info"].strip(), line, closed=False))
            if len(fence["info"].split()) > 1:
                page.damaged("collapsed-lines", line, "text stands in the line that opens a block of code")
        elif not _HEADING.match(line.text) or _SECTION_HEADING.match(line.text):
            page.prose(line)
    if page.blocks and not page.blocks[-1].closed:
        page.damaged("markup-damage", page.blocks[-1].start, "a block of code never ends")
    return page


_DIRECTIVE = re.compile(r"^[ \t]*\.\. +(?P<name>[\w-]+)::[ \t]*(?P<argument>.*)$")
_COMMENT = re.compile(r"^[ \t]*\.\.(?:\s|$)")
_OPTION = re.compile(r"^[ \t]+:\w[\w-]*:")
_LITERAL = re.compile(r"::$")
LABEL = r":target:`[^`\n]{1,300}` "
"""What doxyrest puts in front of a page's first paragraph."""
_LABEL = re.compile(LABEL)
_UNREAD = frozenset(["meta", "index", "image", "figure", "toctree"])


def lex_doxyrest(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page that doxyrest made out of Markdown in 2022."""
    return _lex(lines, frozenset(["ref-code-block", "code-block"]))


def lex_sphinx(lines: Sequence[Line]) -> Lexed:
    """The tokens of a page of the current generation, for Sphinx."""
    return _lex(lines, frozenset(["code-block", "code", "sourcecode", "parsed-literal"]))


def _lex(lines: Sequence[Line], code: frozenset[str]) -> Lexed:
    """The tokens of a page whose blocks of code are the directives named, or follow a double colon."""
    page = Lexed()
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        directive = _DIRECTIVE.match(line.text)
        if directive is None:
            label = _LABEL.match(line.text)
            if not _COMMENT.match(line.text):
                page.prose(line.after(label.end()) if label else line)
            if not _LITERAL.search(line.text):
                continue
            name, argument = "", ""
        else:
            name, argument = directive["name"], directive["argument"].strip()
        end = _end(lines, position, width(line.text))
        body = lines[position:end]
        if directive is None or name in code or name == "math":
            page.blocks.append(CodeBlock(argument if name in code else name, line))
            if len(argument.split()) > 1 and name in code:
                page.damaged("collapsed-lines", line, "text stands in the line that opens a block of code")
            for each in body:
                if not _OPTION.match(each.text):
                    page.code(each)
            position = end
        elif name in _UNREAD:
            position = end
    return page


def _end(lines: Sequence[Line], start: int, indent: int) -> int:
    """The first line behind `start` that is neither empty nor indented further than `indent`."""
    for position in range(start, len(lines)):
        if lines[position].text.strip() and width(lines[position].text) <= indent:
            return position
    return len(lines)


Kind = Literal["section", "bullet", "text", "code"]

_TITLES = (
    r"versioned\s+name|category|(?:short|detailed)\s+description|mathematical\s+formulation|"
    r"(?:\w+\s+)?(?:attributes|inputs?|outputs?|types)|examples?(?:\s+\d+)?(?::[^*\n]*)?"
)
_SECTION = re.compile(rf"^\*\*(?P<title>{_TITLES})[ \t]*:?\*\*[ \t]*:?[ \t]*(?P<rest>.*)$", re.IGNORECASE)
_OTHER = re.compile(
    r"^\*\*(?!required|optional|note|important)(?P<title>[A-Z][\w ()/-]*):?\*\*[ \t]*:?$", re.IGNORECASE
)
_SECTION_HEADING = re.compile(
    rf"^#{{2,4}}[ \t]+(?!required|optional|note|important)"
    rf"(?P<title>{_TITLES}|[A-Z][\w ()/-]{{0,60}}?)[ \t:]{{0,9}}$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?P<indent>[ \t]*)\*[ \t]+(?P<text>\S.*)$")
_COLLAPSED = re.compile(
    r"\S[ \t]+\*[ \t]+(?:\*\*[\w .]+\*\*[ \t]*:|\*\w[\w, ()-]*\*(?:$|:|[ \t]+[-*])|`+\w+`+[ \t]+-)"
    rf"|[^\s*][ \t]+\*\*(?:{_TITLES})[ \t]*:?\*\*(?:[ \t]*:|[ \t]*$|[ \t]+[*.`])"
    r"|\S[ \t]+(?:\.\. [\w-]+::|```)"
    r"|\S[ \t]+\d+\.[ \t]+`+\w+=\"",
    re.IGNORECASE,
)
_TAB = 4


@dataclass(frozen=True)
class Token:
    """One line of a page: what it is, its text without mark and indentation, the width of the latter."""

    kind: Kind
    line: Line
    indent: int = 0
    title: str = ""


@dataclass
class CodeBlock:
    """A block of code: its language (may be empty), where it begins, its lines, whether it ends."""

    language: str
    start: Line
    lines: list[Line] = field(default_factory=list)
    closed: bool = True


@dataclass
class Lexed(KeepsFindings):
    """A page as tokens, its blocks of code, and what is wrong with its markup."""

    tokens: list[Token] = field(default_factory=list)
    blocks: list[CodeBlock] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def prose(self, line: Line) -> None:
        """Take a line that is no code."""
        self.tokens.append(_classify(line))
        if len(line.text) > 8 and _COLLAPSED.search(line.text):
            self.damaged("collapsed-lines", line, "several items of the page stand in one line")

    def code(self, line: Line) -> None:
        """Take a line of the block that was opened last."""
        self.blocks[-1].lines.append(line)
        self.tokens.append(Token("code", line))

    def damaged(self, code: str, line: Line, message: str) -> None:
        evidence = line.text.strip()
        shown = evidence if len(evidence) <= 60 else f"{evidence[:40].rstrip()} ..."
        self.find(code, "warning", line, message, shown)


def _classify(line: Line) -> Token:
    if line.text.startswith("**"):
        section = _SECTION.match(line.text)
        if section:
            title = " ".join(section["title"].split()).lower()
            return Token("section", line.after(section.start("rest")), 0, title)
        other = _OTHER.match(line.text)
        if other:
            return Token("section", line.after(len(line.text)), 0, other["title"].strip().lower())
    heading = _SECTION_HEADING.match(line.text)
    if heading:
        return Token("section", line.after(len(line.text)), 0, " ".join(heading["title"].split()).lower())
    bullet = _BULLET.match(line.text)
    if bullet:
        return Token("bullet", line.after(bullet.start("text")), width(bullet["indent"]))
    return Token("text", line, width(line.text))


def width(text: str) -> int:
    """How wide the white space is that leads a text; a tab counts four."""
    lead = text[: len(text) - len(text.lstrip())]
    return len(lead) + (_TAB - 1) * lead.count("\t")


def plain(text: str) -> str:
    """Words without the escapes and the doubled backquotes of reStructuredText; single spaces."""
    text = re.sub(r":\w+:(?=`)", "", text.replace("``", "`"))
    return " ".join(re.sub(r"\\([*_`|\[\]<>#])", r"\1", text).split())


def bare(text: str) -> str:
    """Words without any markup of emphasis or literals, and without a full stop behind them."""
    return plain(text).strip().rstrip(".").strip("`*\"' ").strip()


def joined(lines: Sequence[Line]) -> str:
    """Lines as one text in plain words."""
    return plain(" ".join(line.text for line in lines))


_EMPHASIS = re.compile(r"(?<![\w*])\*(\w+)\*(?![\w*])")
_MARKER = re.compile(r"\*\*\s*(?:Required|Optional)\.?\s*\*\*", re.IGNORECASE)


def worded(lines: Sequence[Line], name: str | None = None) -> Passage:
    """Lines as sentences: what is emphasised in backquotes, no marks of necessity, no name in front."""
    passage = Passage([Line(_in_words(line.text), line.number) for line in lines])
    if name is None:
        return passage
    head = re.match(rf"(?:the )?[`\"]{re.escape(name)}[`\"]\s*(?:--?|–|:)?\s*", passage.text, re.IGNORECASE)
    return passage.after(head.end()) if head else passage


def _in_words(text: str) -> str:
    return _EMPHASIS.sub(r"`\1`", _MARKER.sub("", plain(text)))
