"""Which entries of `disagreements.yaml` explain something: `python -m tools.entries FOLDER...`.

Each folder is what `--records` of `tools.operators` or `tools.truth` left. For each witness: how
many entries are about it, how many of them explain something in what was asked, those that are about other
versions of it than were asked, and the rest by name, with the versions that they name. Answers with 1 where
an entry about a version that was asked explains nothing, also because others that come before it do.

    uv run python -m tools.operators --records runs/default > /dev/null
    uv run opcert generate --versions all -o every
    uv run python -m tools.operators -s every --records runs/every > /dev/null
    uv run python -m tools.truth --runtimes --records runs/truth > /dev/null
    uv run python -m tools.entries runs/default runs/every runs/truth
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from generator.trust.witnesses.truth_explanations import ANYBODY, read_explanations
from opcert.vocabulary.names import OperatorName
from reference.readings.disagreements import FILE_NAME, files_by_runtime, read_disagreements
from reports.text.phrasing import plural
from specs.files.spec_folders import OWN_FOLDER
from tools.asked import exit_code_of
from tools.explained import Explained, Part, Use, read_explained

ALIKE = "all operators"
"""The file of entries that stand in no room."""
_NO_RUNTIMES = frozenset({"document", "onnx-node-tests", "onnx-backend-tests"})
"""What entries are held against by tests, which read no record."""


Key = tuple[Part, str | None, str, str]


@dataclass(frozen=True, order=True)
class Known:
    """An entry as far as it matters here: where it stands, against whom, and of which versions."""

    place: str
    part: Part
    id: str
    against: str
    versions: tuple[str, ...]

    @property
    def key(self) -> Key:
        """What tells it from others; cases have ids of their own wherever they stand."""
        return self.part, None if self.part == "cases" else self.place, self.id, self.against

    def is_about(self, version: str) -> bool:
        """Whether it is known to hold for a version of the witness."""
        return any(fnmatchcase(version, each) for each in self.versions)


@dataclass(frozen=True)
class Standing:
    """The entries of one part about one witness; `version` is that which was asked, None where none was."""

    part: Part
    witness: str
    version: str | None
    explaining: tuple[Known, ...]
    of_other_versions: tuple[Known, ...]
    silent: tuple[Known, ...]


def known_entries(folder: Path = OWN_FOLDER) -> list[Known]:
    """Every entry of a folder of specs, once for each witness that it is about."""
    rooms = {path.parent.relative_to(folder).as_posix(): path for path in folder.glob(f"*/*/{FILE_NAME}")}
    shared = {path.relative_to(folder).as_posix(): path for path in files_by_runtime(folder)}
    files = {**rooms, ALIKE: folder / FILE_NAME, **shared}
    return sorted(each for place, path in files.items() if path.is_file() for each in _known_in(place, path))


def _known_in(place: str, path: Path) -> Iterator[Known]:
    for entry in read_disagreements(path):
        for witness in entry.against:
            if witness not in _NO_RUNTIMES:
                yield Known(place, "cases", entry.id, witness, entry.versions)
    for told in read_explanations(path):
        yield Known(place, "calls", told.id, told.against, told.versions)


def standings(entries: Iterable[Known], asked: Sequence[Explained]) -> list[Standing]:
    """What entries explain of all that was asked together, by part and witness."""
    used = {place for each in asked for use in each.uses for place in _may_stand(use)}
    groups: dict[tuple[Part, str], list[Known]] = {}
    for known in entries:
        groups.setdefault((known.part, known.against), []).append(known)
    return [
        _standing(part, witness, _version(part, witness, asked), about, used)
        for (part, witness), about in sorted(groups.items())
    ]


def _standing(
    part: Part, witness: str, version: str | None, about: Sequence[Known], used: Container[Key]
) -> Standing:
    explaining = tuple(each for each in about if each.key in used)
    rest = [each for each in about if each not in explaining]
    others = tuple(each for each in rest if version is not None and not each.is_about(version))
    silent = tuple(each for each in rest if each not in others)
    return Standing(part, witness, version, explaining, others, silent)


def _may_stand(use: Use) -> Iterator[Key]:
    """What explained something stands in its operator's room or beside all rooms, a case's anywhere."""
    if use.part == "cases":
        yield use.part, None, use.entry, use.witness
    else:
        operator = OperatorName.parse(use.operator)
        for place in (f"{operator.domain}/{operator.name}", ALIKE):
            yield use.part, place, use.entry, use.witness


def _version(part: Part, witness: str, asked: Sequence[Explained]) -> str | None:
    """The version of a witness that was asked about this part, the last where there are several."""
    found = [each.versions for each in asked if part in each.parts]
    if witness == ANYBODY:
        return "" if found else None
    return next((each[witness] for each in reversed(found) if witness in each), None)


def told(standing: Standing) -> Iterator[str]:
    """The lines about a witness."""
    entries = (*standing.explaining, *standing.of_other_versions, *standing.silent)
    name, many = f"{standing.part} against {standing.witness}", plural(len(entries), "entry", "entries")
    if standing.version is None:
        yield f"{name}: not asked, {many}"
        return
    yield (
        f"{name} {standing.version}: {len(standing.explaining)} of {many} "
        f"explain something, {len(standing.of_other_versions)} are of other versions, "
        f"{len(standing.silent)} explain nothing"
    )
    for word, some in (("other versions", standing.of_other_versions), ("nothing", standing.silent)):
        for each in some:
            yield f"    {word}: {each.place}: {each.id} ({', '.join(each.versions)})"


def main(words: Sequence[str]) -> int:
    """Print what each entry is worth; 1 where one about a version that was asked explains nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    found = standings(known_entries(), [read_explained(each) for each in parser.parse_args(words).folders])
    for each in found:
        print("\n".join(told(each)))
    return int(any(each.silent for each in found if each.version is not None))


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
