"""Definition lists of ONNX's Markdown: terms with their descriptions, and every line that is neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from specs.documents.onnx_pages.page_parts import PartsReader
from specs.documents.text.documents import Line, Passage

_TERM = re.compile(r"^<dt><tt>(?P<name>[^<]*)</tt>(?: \((?P<words>[^)]*)\))? : (?P<type>.*)</dt>$")


@dataclass(frozen=True)
class Term:
    """An item: its line taken apart (`name`, `words`, `type`), and its description."""

    match: re.Match[str]
    line: Line
    description: Passage


class DefinitionList(PartsReader):
    """Reads the lines of one list; `findings` are about lines that are no part of one."""

    def __init__(self, title: str, place: Line) -> None:
        super().__init__()
        self._title = title
        self._place = place
        self._terms: list[Term] = []
        self._names: set[str] = set()
        self._state = "before"
        self._open: tuple[re.Match[str], Line] | None = None
        self._description: list[Line] = []

    def read(self, lines: Sequence[Line]) -> list[Term]:
        """The items in order; two of one name are one, and a finding."""
        last = self._place
        for line in lines:
            if line.text:
                self._read(line)
                last = line
        self._close()
        if self._state != "after":
            message = f"the list of {self._title.lower()} has no end"
            self._find("section-cut", last, message, "no </dl> follows")
        return self._terms

    def _close(self) -> None:
        if self._open is not None:
            self._terms.append(Term(*self._open, Passage(self._description)))
        self._open, self._description = None, []

    def _read(self, line: Line) -> None:
        text = line.text
        if self._state == "text" and self._open is not None:
            if text not in ("</dd>", "</dl>", "<dl>") and not text.startswith("<dt>"):
                self._description.append(line)
                return
            if text != "</dd>":
                self._unread(self._title, line, f"the description of {self._open[0]['name']} has no end")
            self._close()
            self._state = "between"
            if text == "</dd>":
                return
        if text == "<dl>" and self._state == "before":
            self._state = "between"
        elif text == "</dl>" and self._state == "between":
            self._state = "after"
        elif text == "<dd>" and self._state == "term":
            self._state = "text"
        elif text.startswith("<dt>") and self._state in ("between", "term"):
            self._begin(line)
        else:
            self._unread(self._title, line, "a line stands where an item or the end of the list belongs")

    def _begin(self, line: Line) -> None:
        """Begin a term, if the line is one."""
        if self._open is not None:
            self._unread(self._title, line, f"{self._open[0]['name']} has no description")
        self._close()
        match = _TERM.match(line.text)
        self._state = "between"
        if match is None or not match["name"]:
            self._unread(self._title, line, "the item is not written as name, colon and type")
        elif match["name"] in self._names:
            self._unread(self._title, line, f"{match['name']} stands twice in it")
        else:
            self._names.add(match["name"])
            self._open, self._state = (match, line), "term"
