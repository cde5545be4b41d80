"""What a suite's manifest says of an operator, read without trust: missing or odd facts become empty text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.names import OperatorName
from reports.results.case_results import Results
from reports.text.phrasing import listed


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """The value as text; nothing for None."""
    return "" if value is None else str(value)


def place(facts: Mapping[str, Any], source: Iterable[Any]) -> str:
    """`file:line` (`file:line:column` in one-line documents) of a document's key and line."""
    key, *numbers = [*source] or [""]
    document = mapping(mapping(facts.get("documents")).get(text(key)))
    return ":".join([text(document.get("file") or key), *(text(number) for number in numbers)])


def places(facts: Mapping[str, Any], sources: object) -> list[str]:
    """The places of a list of sources."""
    found = sources if isinstance(sources, list | tuple) else ()
    return [place(facts, each) for each in found if isinstance(each, list | tuple)]


def joined(found: Iterable[str]) -> str:
    """Places in a sentence, each file named once: `a.rst:26, 33 and 40`."""
    lines: dict[str, list[str]] = {}
    for each in found:
        file, _, line = each.partition(":")
        if line not in lines.setdefault(file, []):
            lines[file].append(line)
    return "; ".join(
        f"{file}:{listed(numbers)}" if numbers != [""] else file for file, numbers in lines.items()
    )


@dataclass(frozen=True)
class ToldDocument:
    """A document that operators of the suite come from."""

    file: str
    dialect: str
    sha256: str
    asserted: bool
    operators: str


@dataclass(frozen=True)
class ToldFinding:
    """Something wrong with a document, once for all operators that meet it."""

    place: str
    code: str
    severity: str
    message: str
    evidence: str
    action: str
    operators: str


def documents_of(results: Results) -> set[tuple[str, str]]:
    """File name and SHA-256 of every document of the suite's operators."""
    return {(document.file, document.sha256) for document in list_documents(results)}


def list_documents(results: Results) -> tuple[ToldDocument, ...]:
    """Every document of the suite's operators, once."""
    users: dict[tuple[str, str, str, bool], list[OperatorName]] = {}
    for operator in results.by_operator:
        for each in mapping(results.operator_facts(operator).get("documents")).values():
            document = mapping(each)
            asserted = document.get("identity") == "asserted"
            key = (text(document.get("file")), text(document.get("dialect")), text(document.get("sha256")))
            users.setdefault((*key, asserted), []).append(operator)
    return tuple(
        ToldDocument(file, dialect, sha256, asserted, short_names(operators))
        for (file, dialect, sha256, asserted), operators in users.items()
    )


def list_findings(results: Results) -> tuple[ToldFinding, ...]:
    """Every finding in a document, once, by document and line."""
    users: dict[tuple[str, ...], list[OperatorName]] = {}
    order: dict[tuple[str, ...], tuple[str, int]] = {}
    for operator in results.by_operator:
        facts = results.operator_facts(operator)
        for finding in map(mapping, items(facts.get("findings"))):
            numbers = [finding.get(name) for name in ("line", "column") if finding.get(name) is not None]
            where = place(facts, [finding.get("document"), *numbers])
            named = ("code", "severity", "message", "evidence", "action")
            key = (where, *(text(finding.get(name)) for name in named))
            users.setdefault(key, []).append(operator)
            line = finding.get("line")
            order[key] = (where.partition(":")[0], line if isinstance(line, int) else 0)
    return tuple(
        ToldFinding(*[*key, short_names(users[key])]) for key in sorted(users, key=order.__getitem__)
    )


def short_names(operators: Iterable[OperatorName]) -> str:
    """Operator versions as people list them: `Resize-11, -13, -18`; each domain but ai.onnx by its name."""
    versions: dict[tuple[str, str], list[int]] = {}
    for operator in sorted(set(operators), key=lambda name: (name.domain, name.name, name.since_version)):
        versions.setdefault((operator.domain, operator.name), []).append(operator.since_version)
    parts = []
    for (domain, name), numbers in versions.items():
        prefix = "" if domain == "ai.onnx" else f"{domain} "
        parts.append(f"{prefix}{name}-{', -'.join(str(number) for number in numbers)}")
    return "; ".join(parts)
