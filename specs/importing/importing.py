"""Importing documents into a folder of specs: reading, keys that stay, writing, and the check for drift."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from opcert.vocabulary.errors import Place, SeveralErrors, UserError, raise_together
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_bytes
from specs.derived.deriving import derive
from specs.derived.writing import written
from specs.documents.text.documents import Text
from specs.files.declarations import find_declaration
from specs.files.imported_files import read_imported, write_imported
from specs.files.layers import merge_layers
from specs.files.spec_folders import DECLARATION, facts_path, list_operators, room_of, versions_in
from specs.files.yaml_writer import dump
from specs.importing.reading import Job, Progress, ReadingOutcome, find_files, read_jobs
from specs.model.spec import Spec

_ASSERTED = "identity: asserted"
_FILE = re.compile(r'\bfile: ("(?:[^"\\]|\\.)*"|[^,}\n]+)')
_SKIPPED_NAMES = frozenset(["LICENSE", "README.md", "VERSION_NUMBER"])


@dataclass(frozen=True)
class UnreadFile:
    """A file that gave no facts, and why."""

    file: str
    reason: str


@dataclass
class Import:
    """What a set of documents says: the layers of each operator version, and the files that were not read."""

    layers: dict[OperatorName, list[Spec]] = field(default_factory=dict)
    documents: list[Text] = field(default_factory=list)
    unread: list[UnreadFile] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)
    """The files of which every operator was taken, not only those that the user named."""


@dataclass(frozen=True)
class Assertion:
    """The user's word that a file describes an operator, or of a page with many that this one is wanted."""

    pattern: str
    operator: OperatorName

    @classmethod
    def parse(cls, text: str) -> Assertion:
        """Read `FILE=OPERATOR`; raises UserError on anything else."""
        file, mark, operator = text.partition("=")
        if not mark or not file:
            raise UserError("not an assertion", got=repr(text), expected="FILE=domain::Name-version")
        return cls(file, OperatorName.parse(operator))

    def fits(self, path: Path) -> bool:
        """Whether it speaks of this file: its path, its name, or a pattern of either."""
        return any(fnmatch.fnmatchcase(each, self.pattern) for each in (str(path), path.name))


def jobs_of(
    paths: Sequence[Path],
    assertions: Sequence[Assertion],
    dialect: str | None,
    remembered: Mapping[str, OperatorName],
) -> list[Job]:
    """The files to read, each with the operators that are asserted for it, now or by earlier imports."""
    jobs = []
    for path, named in find_files(paths):
        asserted = tuple(assertion.operator for assertion in assertions if assertion.fits(path))
        if not asserted and path.name in remembered:
            asserted = (remembered[path.name],)
        jobs.append(Job(path, named, asserted, dialect))
    return jobs


def read_documents(
    paths: Sequence[Path],
    assertions: Sequence[Assertion] = (),
    dialect: str | None = None,
    remembered: Mapping[str, OperatorName] | None = None,
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> Import:
    """Read files, the files of folders and those that patterns fit, in the order of their names.

    A file that was named and holds no operator raises UserError (all of them together); one in a folder, or
    one that a pattern fits, is listed as unread. `remembered` gives the operators that earlier imports
    asserted, by file name. The result does not depend on `processes`.
    """
    jobs = jobs_of(paths, assertions, dialect, remembered or {})
    result = Import()
    errors: list[UserError] = []
    for outcome in read_jobs(jobs, processes, progress):
        if outcome.error is None:
            _take(result, outcome, errors)
        elif outcome.job.named:
            errors.append(outcome.error)
        elif outcome.job.path.name not in _SKIPPED_NAMES:
            result.unread.append(UnreadFile(str(outcome.job.path), _reason(outcome.error)))
    raise_together(errors)
    return result


def _reason(error: UserError) -> str:
    """The error without the place of the whole file, which stands beside it, and what to do about it."""
    if isinstance(error, SeveralErrors) or error.where is None or error.where.line is not None:
        return str(error)
    return str(UserError(error.problem, got=error.got, expected=error.expected))


def _take(result: Import, outcome: ReadingOutcome, errors: list[UserError]) -> None:
    """Add what a document says; the same file twice counts once, another file of its name is an error."""
    text = outcome.text
    assert text is not None
    for layer in outcome.layers:
        layers = result.layers.setdefault(layer.operator, [])
        twin = next((layer.documents[0] for layer in layers if layer.documents[0].file == text.file), None)
        if twin is None:
            layers.append(layer)
        elif twin.sha256 != text.sha256:
            errors.append(
                UserError(
                    f"two documents of this name describe {layer.operator}",
                    where=Place(str(outcome.job.path)),
                    remedy="A document is known by the name of its file: rename one.",
                )
            )
            return
    result.documents.append(text)
    if not outcome.job.asserted:
        result.whole.add(text.file)


def remembered_assertions(folder: Path) -> dict[str, OperatorName]:
    """The operators that documents were asserted to describe, by file name, in a folder of specs."""
    if not folder.is_dir():
        return {}
    found = {}
    for operator in list_operators([folder]):
        path = facts_path(operator, folder)
        if _ASSERTED in path.read_text(encoding="utf-8"):
            for layer in read_imported(path):
                if layer.documents[0].identity == "asserted":
                    found[layer.documents[0].file] = operator
    return found


def select(result: Import, patterns: Sequence[str]) -> Import:
    """The part of an import whose operators fit one of the patterns (`com.microsoft::*`)."""
    layers = {
        name: found
        for name, found in result.layers.items()
        if any(fnmatch.fnmatchcase(str(name), pattern) for pattern in patterns)
    }
    return Import(layers, result.documents, result.unread)


def plan_files(
    result: Import, folder: Path, keep_declared: bool = False, fill: bool = False
) -> dict[OperatorName, str]:
    """The text of each operator version's facts as it should stand in a folder of specs.

    A document that the file has already keeps its key, and what a reader found in it while it stays as it is;
    those that were not read now keep their facts; new documents get the next keys in the order of their
    names. With `keep_declared`, versions that a `spec.yaml` speaks of take no document that they do not have:
    somebody has built on those. With `fill`, none that has a file does: the new documents speak only where
    there is nothing yet.
    """
    plan = {}
    for operator, layers in sorted(result.layers.items()):
        path = facts_path(operator, folder)
        built_on = keep_declared and find_declaration(operator, [folder]) is not None
        closed = path.is_file() and (fill or built_on)
        keyed = _keyed(layers, path, result.whole, closed)
        if keyed:
            plan[operator] = write_imported(keyed)
    return plan


def _keyed(layers: list[Spec], path: Path, whole: Set[str], closed: bool) -> list[tuple[str, Spec]]:
    """The layers that the file should have, with their keys; one that is closed takes no new document."""
    kept = read_imported(path) if path.is_file() else []
    keys = {layer.documents[0].file: layer.documents[0].key for layer in kept}
    before = {layer.documents[0].file: layer for layer in kept}
    keyed = {keys[file]: layer for file, layer in before.items() if file not in whole}
    number = 1
    for layer in sorted(layers, key=lambda layer: layer.documents[0].file):
        file = layer.documents[0].file
        if file not in keys:
            if closed:
                continue
            while f"d{number}" in keys.values():
                number += 1
            keys[file] = f"d{number}"
        keyed[keys[file]] = _with_readers(layer, before.get(file))
    return sorted(keyed.items(), key=lambda pair: (len(pair[0]), pair[0]))


def _with_readers(layer: Spec, before: Spec | None) -> Spec:
    """The facts of a document with what a reader found in it before, where it is the same document still."""
    if before is None or before.documents[0].sha256 != layer.documents[0].sha256:
        return layer
    of_readers = (finding for finding in before.findings if finding.by_reader)
    return layer.with_findings((*of_readers, *layer.findings))


def write_files(plan: Mapping[OperatorName, str], folder: Path) -> list[Path]:
    """Write what differs; the files that were written. UserError where the folder cannot be written."""
    written = []
    for operator, text in plan.items():
        path = facts_path(operator, folder)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        written.append(write_bytes(path, text.encode(), "the spec"))
    return written


def propose_declarations(operators: Iterable[OperatorName], folder: Path) -> list[Path]:
    """Write what the documents of operators say of their calls, as a spec.yaml where there is none.

    Each speaks of all versions that the folder has facts of. Raises UserError as `write_files` does.
    """
    proposed = []
    for room in dict.fromkeys(room_of(operator, folder) for operator in operators):
        path = room / DECLARATION
        if not path.exists():
            every = [derive(merge_layers(read_imported(facts))) for facts in versions_in(room).values()]
            proposed.append(write_bytes(path, written(*every).encode(), "the spec"))
    return proposed


@dataclass(frozen=True)
class Drift:
    """A spec that is not what its documents say: missing, changed at a line, or no longer stated."""

    operator: OperatorName
    reason: str


def find_drift(result: Import, plan: Mapping[OperatorName, str], folder: Path) -> list[Drift]:
    """Where a folder of specs differs from what the documents give."""
    drifts = []
    for operator, text in plan.items():
        path = facts_path(operator, folder)
        if not path.is_file():
            drifts.append(Drift(operator, f"{path} is missing"))
        elif (found := path.read_text(encoding="utf-8")) != text:
            drifts.append(Drift(operator, f"{path}:{_first_difference(found, text)}"))
    # Names as they are written, so that only the files that have one are read.
    names = {dump({"file": each}).removeprefix("file: ").rstrip() for each in result.whole}
    for operator in list_operators([folder]) if folder.is_dir() else []:
        path = facts_path(operator, folder)
        if operator in plan or names.isdisjoint(_FILE.findall(path.read_text(encoding="utf-8"))):
            continue
        layers = read_imported(path)
        gone = sorted({layer.documents[0].file for layer in layers} & result.whole)
        if gone:
            drifts.append(Drift(operator, f"{', '.join(gone)} no longer describes it"))
    return drifts


def _first_difference(found: str, wanted: str) -> str:
    old, new = found.split("\n"), wanted.split("\n")
    for number, (first, second) in enumerate(zip(old, new, strict=False), 1):
        if first != second:
            return f"{number}: {first.strip()!r} where the documents give {second.strip()!r}"
    return f"{min(len(old), len(new))}: {len(old)} lines where the documents give {len(new)}"
