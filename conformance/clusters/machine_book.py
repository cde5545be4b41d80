"""Which machines have run a record's rows: noted beside a partial record, and in it at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.clusters.machines import kind_of
from conformance.suite.canonical import canonical_json
from opcert.vocabulary.errors import unwritable
from opcert.vocabulary.regular_files import read_regular

_LARGEST = 64 << 20
_LEFT_OUT = ("opcert", "sources")
UNKNOWN = "unknown"
"""The kind of a machine that rows name, and of which nothing else is known."""


class MachineBook:
    """The machines of a record by name, and how many rows each has.

    With `resume` it begins with those that are noted beside the record; else the notes go. UserError where
    they cannot be written.
    """

    def __init__(self, record: Path, *, resume: bool = False) -> None:
        self._path = record.with_name(f".{record.name}.machines")
        self._machines: dict[str, dict[str, Any]] = {}
        self._rows: Counter[str] = Counter()
        if resume:
            self._read()
        else:
            self.forget()

    def count(self, name: str, rows: int) -> None:
        """So many rows are of a machine."""
        self._rows[name] += rows

    def note(self, machine: Mapping[str, Any]) -> bool:
        """Note a machine before its first row is recorded; whether it is the first of a kind beside others.

        A machine that says of itself what another one of its name did not (it was started anew, with another
        processor) is noted with its kind behind its name, and so are its rows: see `name_of`.
        """
        name = self.name_of(machine)
        if name in self._machines:
            return False
        kinds = self.kinds()
        told = {key: value for key, value in machine.items() if key not in _LEFT_OUT}
        self._machines[name] = {**told, "name": name, "kind": kind_of(machine)}
        try:
            with self._path.open("ab") as file:
                file.write(canonical_json(self._machines[name]) + b"\n")
        except OSError as error:
            raise unwritable("the machines of the record", self._path, error) from error
        return bool(kinds) and kind_of(machine) not in kinds

    def name_of(self, machine: Mapping[str, Any]) -> str:
        """What rows call a machine."""
        name = str(machine["name"])
        known = self._machines.get(name)
        return name if known is None or known["kind"] == kind_of(machine) else f"{name} ({kind_of(machine)})"

    def kinds(self) -> list[str]:
        """The kinds of the machines, each once."""
        return sorted({str(each["kind"]) for each in self._machines.values()})

    def told(self) -> list[dict[str, Any]]:
        """The machines that have rows, as a record's footer has them."""
        found = []
        for name, rows in sorted(self._rows.items()):
            known = self._machines.get(name, {"name": name, "kind": UNKNOWN})
            found.append({**known, "rows": rows})
        return found

    def forget(self) -> None:
        """Remove the notes beside the record."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        with suppress(OSError):
            for line in read_regular(self._path, _LARGEST).splitlines():
                with suppress(ValueError, KeyError, TypeError):  # one that was cut off is of no row yet
                    machine = json.loads(line)
                    self._machines[str(machine["name"])] = {**machine, "kind": str(machine["kind"])}
