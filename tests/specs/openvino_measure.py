"""How much of OpenVINO's pages is read, field by field, and what is not.

What a page states is counted on its raw lines, by patterns that know nothing of the importer; what became of
each field the importer itself notes: read, stated to be absent, left open by the page, or not understood.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from opcert.vocabulary.errors import UserError
from specs.documents.openvino_pages.items import FieldOutcome
from specs.documents.openvino_pages.tokens import lex_doxyrest, lex_markdown, lex_sphinx
from specs.documents.openvino_pages.xml_layers import Layers
from specs.documents.text.documents import Text, read_document
from specs.importers.openvino_specifications import VERSIONED, read_page
from specs.model.spec import Spec

_LINES: Mapping[str, str] = {
    "name and version": r"^\*\*Versioned name\*\*",
    "category": r"^\*\*Category\*\*",
    "attribute type": r"^\s*\* +\*\*Type\*\*",
    "attribute required": r"^\s*\* +\*\*Required\*\*",
    "attribute default": r"^\s*\* +\*\*Default value\*\*",
    "attribute range": r"^\s*\* +\*\*Range of values\*\*",
}
_FORMS: Mapping[str, Callable[[str], bool]] = {
    "openvino-doxyrest": lambda content: "ref-code-block" in content or "_doxid-" in content,
    "openvino-rst": lambda content: bool(re.search(r"^={3,}$", content, re.MULTILINE)),
    "openvino-markdown": bool,
}
_LEXERS = {"openvino-markdown": lex_markdown, "openvino-rst": lex_sphinx, "openvino-doxyrest": lex_doxyrest}


@dataclass
class Measure:
    """What the pages of a folder state, and what became of it.

    `stated` counts on raw lines; `outcomes` by field and state, an attribute's field counted once where one
    bullet names two attributes; `unread` lists what is not read, with its words.
    """

    pages: int = 0
    refused: list[str] = field(default_factory=list)
    stated: Counter[str] = field(default_factory=Counter)
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    unread: list[tuple[str, FieldOutcome]] = field(default_factory=list)
    strings: Counter[str] = field(default_factory=Counter)
    blocks: int = 0
    parsed: int = 0
    mended: int = 0
    examples: int = 0
    printed: int = 0

    def count(self, name: str, state: str, number: int = 1) -> None:
        self.outcomes.setdefault(name, Counter())[state] += number

    def share(self, name: str) -> float:
        """The share of a field that is read or stated to be absent or open, among all that is stated."""
        states = self.outcomes[name]
        total = max(self.stated[name], states.total())
        return 1.0 - (states["unread"] + total - states.total()) / total if total else 1.0


def measure_folder(folder: Path) -> Measure:
    """The measure of every page below a folder; files that are no operation pages are left out."""
    measure = Measure()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".md", ".rst", ".txt") or not path.is_file():
            continue
        text = read_document(path)
        if re.search(r"\*\*Versioned name\*\*", text.content):
            _page(measure, text)
    return measure


def _page(measure: Measure, text: Text) -> None:
    measure.pages += 1
    dialect = next(name for name, form in _FORMS.items() if form(text.content))
    for name, pattern in _LINES.items():
        measure.stated[name] += len(re.findall(pattern, text.content, re.MULTILINE))
    if not VERSIONED.search(text.content):
        measure.refused.append(text.file)
        return
    try:
        page = read_page(text, None, dialect, _LEXERS[dialect])
    except UserError:
        measure.refused.append(text.file)
        return
    spec = page.spec
    measure.count("name and version", "read")
    measure.count("category", "read" if spec.category else "unread")
    for outcome in _once(page.outcomes):
        measure.count(outcome.field, outcome.state)
        if outcome.state == "unread":
            measure.unread.append((text.file, outcome))
    _examples(measure, spec, page.layers)


def _once(outcomes: tuple[FieldOutcome, ...]) -> Iterator[FieldOutcome]:
    """Each field of a line once: a bullet that names two attributes states its fields once."""
    seen = set()
    for outcome in outcomes:
        key = (outcome.field, outcome.line, "" if outcome.field.startswith("attribute") else outcome.about)
        if key not in seen:
            seen.add(key)
            yield outcome


def _examples(measure: Measure, spec: Spec, layers: Layers) -> None:
    for attribute in spec.attributes.values():
        if attribute.kind in ("string", "strings"):
            found = attribute.values
            measure.strings["free" if found is None else "proposed" if found.proposed else found.rule] += 1
    measure.blocks += layers.blocks
    measure.parsed += layers.parsed
    measure.mended += layers.mended
    measure.examples += len(spec.examples)
    measure.printed += sum(example.printed for example in spec.examples)
