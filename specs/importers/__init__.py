"""Importers: modules for the dialects of documents, whose `IMPORTERS` are found."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from opcert.vocabulary.errors import Place, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import Text
from specs.documents.text.page_template import describe_missing
from specs.model.spec import Spec
from specs.rules import check_page

MOST_VERSIONS = 10_000
_LONGEST_NAME = 200


@dataclass(frozen=True)
class Importer:
    """One dialect: its name, how sure it is that a document is written so (0 to 1), and what it reads.

    `read` gives one entry for each operator version; it is told the name that the user gave, or None.
    """

    dialect: str
    recognise: Callable[[Text], float]
    read: Callable[[Text, OperatorName | None], list[Spec]]


@cache
def importers() -> tuple[Importer, ...]:
    """Every importer, in the order of the dialects' names."""
    modules = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    found = [importer for module in modules for importer in module.IMPORTERS]
    return tuple(sorted(found, key=lambda importer: importer.dialect))


def find_importer(text: Text, dialect: str | None = None) -> Importer:
    """The importer of a document; raises UserError where no dialect fits, or the one asked for is unknown."""
    names = ", ".join(importer.dialect for importer in importers())
    if dialect is not None:
        for importer in importers():
            if importer.dialect == dialect:
                return importer
        raise UserError("unknown dialect", got=repr(dialect), expected=f"one of {names}")
    score, best = max(
        ((importer.recognise(text), importer) for importer in importers()), key=lambda pair: pair[0]
    )
    if score <= 0:
        raise UserError(
            "the document is no operator page",
            expected=f"one of the dialects {names}",
            where=Place(text.file),
            remedy=describe_missing(text),
        )
    return best


def import_text(text: Text, operator: OperatorName | None = None, dialect: str | None = None) -> list[Spec]:
    """The facts of a document, one spec for each operator version, with everything that is wrong with it.

    Raises UserError where it holds none.
    """
    importer = find_importer(text, dialect)
    specs = importer.read(text, operator)
    if not specs:
        raise UserError(
            "the document defines no operator",
            got=f"a document of the dialect {importer.dialect}",
            where=Place(text.file),
        )
    if len(specs) > MOST_VERSIONS:
        raise UserError(
            "the document defines too many operators",
            got=f"{len(specs)} operator versions",
            expected=f"at most {MOST_VERSIONS}",
            where=Place(text.file),
        )
    for spec in specs:
        _check_name(spec.operator, text.file)
    return check_page(text, importer.dialect, specs)


def _check_name(operator: OperatorName, file: str) -> None:
    """Refuse a name that is none: names of operators become names of folders."""
    name = str(operator)
    try:
        wrong = len(name) > _LONGEST_NAME or OperatorName.parse(name) != operator
    except UserError:
        wrong = True
    if wrong:
        raise UserError("the document names an operator as none can be named", got=repr(name[:99]),
                        expected="domain::Name-version in letters, digits, dots and underscores",
                        where=Place(file))  # fmt: skip
