"""Files beside a record that say more of its run: JSON objects that name their format, suite and record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from conformance.suite.canonical import canonical_json
from opcert.vocabulary.errors import Place, UserError, unreadable
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.strict_json import parse_json
from opcert.vocabulary.whole_files import write_bytes

_MOST_BYTES = 256 << 20
Content = TypeVar("Content")


@dataclass(frozen=True)
class BesideRecord:
    """A kind of such files: its format, its name in messages, and what is said where one is damaged."""

    format: str
    name: str
    damaged: str
    remedy: str

    def write(self, path: Path, suite: str, record: str | None, content: Mapping[str, Any]) -> None:
        """Write one by rename for a suite and a record, which their digests name.

        Raises UserError where it is impossible.
        """
        envelope = {"format": self.format, "suite": suite, "record": record}
        write_bytes(path, canonical_json({**envelope, **content}) + b"\n", self.name)

    def read(
        self, path: Path, suite: str, record: str | None, parse: Callable[[Mapping[str, Any]], Content]
    ) -> Content | None:
        """What `parse` makes of one; None where there is no such file, or one of another suite or record.

        Raises UserError where the file is damaged.
        """
        try:
            raw = read_regular(path, _MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(self.name, path, error) from error
        try:
            content = parse_json(raw)
            if content["format"] != self.format:
                raise ValueError(f"the format {content['format']!r}")
            return parse(content) if (content["suite"], content["record"]) == (suite, record) else None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise UserError(
                self.damaged,
                got=f"{type(error).__name__}: {error}",
                where=Place(str(path)),
                remedy=self.remedy,
            ) from error
