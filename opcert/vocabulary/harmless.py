"""Text from strangers made harmless: one function for each medium that a text may go into.

Documents, suites, records, runtimes and file names say what they like. Whoever writes a script, a command to
copy, a terminal, Markdown, XML, JSON or a spreadsheet takes the text through the function of that medium, and
nobody else escapes anything (tests/opcert/test_harmless_writers.py looks). Pages are escaped by jinja2, and
take what they print through `shown`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element

LONGEST = 2000
"""Characters of one piece of text that people are shown; what is longer is cut, and says so."""

# Controls, direction marks and whatever else shows nothing, or changes how the text around it is read.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f"
    "\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# What continuous integration takes for an order in a log: ::error, ##[group], ##vso[...], ##teamcity[...].
_ORDER = re.compile(r"^(\s*:):|(##\w*)\[", re.MULTILINE)
_MARKDOWN = re.compile(r"([\\`*_\[\]()<>#|~&@$]|:(?=//))")
# What a forge makes links and mentions of though a backslash stands before it.
_REFERENCE = re.compile(r"\\[@#](?=\w)|\bwww(?=\.)", re.IGNORECASE)
_WORKFLOW = re.compile(r"[%\r\n]")
_NOTHING = "&#8203;"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def shown(text: str, longest: int = LONGEST) -> str:
    """The text with every invisible or direction-changing character written out, cut after `longest`.

    A NUL becomes `\\x00`, a right-to-left override `\\u202e`; tabs and line feeds stay.
    """
    head = text[:longest].replace("\r\n", "\n")
    visible = _HIDDEN.sub(_written_out, head)
    return f"{visible} … (cut, {len(text):,} characters)" if len(text) > longest else visible


def one_line(text: str, longest: int = 160) -> str:
    """The text on one line, with each run of white space made one space, cut after `longest`.

    Hidden characters are written out.
    """
    flat = " ".join(text[: 4 * longest].split())
    cut = len(flat) > longest or len(text) > 4 * longest
    return _HIDDEN.sub(_written_out, f"{flat[:longest]} …" if cut else flat)


def for_terminal(text: str) -> str:
    """The text, of any number of lines, for a terminal or a log: nothing in it is an order to either."""
    visible = _HIDDEN.sub(_written_out, text.replace("\r\n", "\n"))
    return _ORDER.sub(lambda found: f"{found[1]}\\x3a" if found[1] else f"{found[2]}\\x5b", visible)


def for_workflow(text: str) -> str:
    """The text, of any number of lines, as the message of an order to GitHub Actions."""
    return _WORKFLOW.sub(lambda found: f"%{ord(found[0]):02X}", shown(text, LONGEST))


def for_workflow_property(text: str) -> str:
    """The text as the value of a property of such an order, on one line."""
    return for_workflow(one_line(text, 200)).replace(":", "%3A").replace(",", "%2C")


def for_shell(words: Iterable[str]) -> str:
    """The words as one line that a shell splits into them again, whatever they hold.

    Where a word has hidden characters or several lines it is written as `$'...'`, of bytes in octal.
    """
    return " ".join(map(_shell_word, words))


def for_python(value: Any) -> str:
    """A text, number, tuple, list or dictionary as Python source on one line, in ASCII."""
    return ascii(value)


def for_python_comment(text: str) -> str:
    """The text as a comment of Python on one line."""
    return f"# {one_line(text, LONGEST)}"


def for_markdown(text: str, longest: int = 400) -> str:
    """The text as one line in which no character marks anything up, links or mentions."""
    escaped = _MARKDOWN.sub(r"\\\1", one_line(text, longest))
    return _REFERENCE.sub(lambda found: found[0] + _NOTHING, escaped)


def for_markdown_code(text: str, longest: int = 400) -> str:
    """The text as code on one line, whatever backticks it holds."""
    flat = one_line(text, longest).replace("|", "\\|")
    longest_run = max((len(each) for each in re.findall("`+", flat)), default=0)
    fence = "`" * (longest_run + 1)
    space = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{space}{flat}{space}{fence}" if flat else ""


def for_xml(text: str, longest: int = LONGEST) -> str:
    """The text without what XML does not allow, which becomes U+FFFD, and with the rest that hides written
    out, cut after `longest`."""
    return _NO_XML.sub("\ufffd", shown(_NO_XML.sub("\ufffd", text[: longest + 1]), longest))


def tidy_xml(root: Element, longest: int) -> None:
    """Take every text and attribute of a document through `for_xml`."""
    for element in root.iter():
        element.text = for_xml(element.text, longest) if element.text else element.text
        element.attrib.update({name: for_xml(value, longest) for name, value in element.attrib.items()})


def for_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON that can be looked at: its texts are unchanged, what hides in them is escaped.

    Raises ValueError on numbers that JSON lacks.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return _HIDDEN.sub(_json_escape, text)


def for_spreadsheet(cell: str) -> str:
    """The text of a cell; what a spreadsheet would compute gets an apostrophe before it."""
    visible = shown(cell)
    return f"'{visible}" if visible.lstrip(" ").startswith(_FORMULA) else visible


def is_plain(text: str, longest: int) -> bool:
    """Whether a text is one line of at most so many characters in which nothing hides."""
    return len(text) <= longest and "\n" not in text and "\t" not in text and _HIDDEN.search(text) is None


def _written_out(match: re.Match[str]) -> str:
    point = ord(match[0])
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _json_escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if ord(match[0]) != 0x7F else "\\u007f"


def _shell_word(word: str) -> str:
    if "\n" not in word and "\t" not in word and _HIDDEN.search(word) is None:
        return shlex.quote(word)
    letters = []
    for letter in word:
        if letter in "\n\t\\'" or _HIDDEN.match(letter):
            letters.append("".join(f"\\{byte:03o}" for byte in _bytes_of(letter)))
        else:
            letters.append(letter)
    return f"$'{''.join(letters)}'"


def _bytes_of(letter: str) -> bytes:
    """As UTF-8; a byte of a file's name that is no UTF-8 comes as a lone surrogate and is itself again."""
    return letter.encode("utf-8", "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass")
