"""Links within a report: its state stands in the fragment, so that a link reproduces what is seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from opcert.vocabulary.names import CaseId, OperatorName

_PLAIN = re.compile(r"[^\s\",<>*]+")


def token(key: str, value: str) -> str:
    """One token of a search: `status:mismatch`; a value that the search would take apart is quoted."""
    plain = _PLAIN.fullmatch(value) is not None
    return f"{key}:{value}" if plain else f'{key}:"{value.replace(chr(34), chr(34) * 2)}"'


def any_of(key: str, values: Iterable[str]) -> str:
    """One token of a search that any of several plain values fulfils: `type:complex64,complex128`."""
    return f"{key}:{','.join(values)}"


def cases_link(*tokens: str, of: str = "") -> str:
    """The list of the cases that fulfil every token, as the run `of` sees them (empty: the first run)."""
    return _link("cases", {"q": " ".join(tokens), "of": of})


def case_link(case: CaseId, *tokens: str, of: str = "") -> str:
    """One case, opened beside the list of those that fulfil every token."""
    return _link("cases", {"q": " ".join(tokens), "case": str(case), "of": of})


def operator_words(operators: Iterable[OperatorName]) -> dict[OperatorName, str]:
    """How a search names each operator version: without its domain, where no other has the same name."""
    found = set(operators)
    names = Counter(operator.short for operator in found)
    return {
        operator: operator.short if names[operator.short] == 1 else str(operator)
        for operator in sorted(found)
    }


def operator_link(operator: OperatorName, of: str = "") -> str:
    """The page of an operator, with all its versions."""
    return _link("operators", {"operator": operator.unversioned, "of": of})


def note_id(position: int, number: int) -> str:
    """The element of a failure class: of the run at a position, its number."""
    return f"note-{position}-{number}"


def _link(page: str, state: Mapping[str, str]) -> str:
    said = "&".join(f"{name}={quote(value, safe=':/,!*')}" for name, value in state.items() if value)
    return f"#/{page}?{said}" if said else f"#/{page}"
