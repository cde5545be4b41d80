"""What runtimes did with an operator version's cases when they were last asked, one file beside its spec.

`generator.measured.trust` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from generator.measured.measured_files import measured_json, read_measured_file
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.whole_files import write_text
from specs.files.spec_folders import OWN_FOLDER, room_of

FORMAT = "opcert-agreement/1"
PACKED = "agreement.json.xz"
REMEDY = "Remove the file: without it `opcert list operators` has them as referenced. Or install it again."


@dataclass(frozen=True)
class RuntimeFailures:
    """A runtime: how many cases failed on it, and how many of these have an entry in disagreements.yaml."""

    version: str
    failing: int
    explained: int


@dataclass(frozen=True)
class Agreed:
    """The digest of the cases that were run, and what each runtime made of them, by its name."""

    operator: str
    cases: str
    runtimes: Mapping[str, RuntimeFailures]

    @property
    def explained(self) -> bool:
        """Whether every failing case has an entry."""
        return all(each.failing == each.explained for each in self.runtimes.values())


def agreed_path(operator: OperatorName, folder: Path = OWN_FOLDER) -> Path:
    """The file of an operator version: `<domain>/<Name>/agreement-<version>.json`."""
    return room_of(operator, folder) / f"agreement-{operator.since_version}.json"


def read_agreed(operator: OperatorName, folder: Path = OWN_FOLDER) -> Agreed | None:
    """What is kept of an operator version; None where nothing is. UserError where the file is damaged."""
    path = agreed_path(operator, folder)
    return read_measured_file(path, FORMAT, _made, "agreement", REMEDY, folder / PACKED)


def _made(raw: dict[str, Any]) -> Agreed:
    runtimes = {name: RuntimeFailures(**each) for name, each in raw.pop("runtimes").items()}
    return Agreed(**raw, runtimes=runtimes)


def write_agreed(agreed: Agreed, folder: Path = OWN_FOLDER) -> Path:
    """Write an operator version's file; returns its path."""
    path = agreed_path(OperatorName.parse(agreed.operator), folder)
    return write_text(path, measured_json(FORMAT, asdict(agreed)))
