"""What a run tells while it goes on."""

from __future__ import annotations

from typing import Protocol

from conformance.recording.rows import Result


class Progress(Protocol):
    """Is told what happens; calls come one at a time."""

    def note(self, sentence: str) -> None:
        """Something that takes time, or went wrong, in a sentence."""

    def start(self, rows: int, cases: int) -> None:
        """The run begins: so many rows are to come, one for each form of so many cases."""

    def advance(self, result: Result) -> None:
        """A row has come."""

    def finish(self) -> None:
        """No more rows will come."""


class Silent:
    """Tells nobody."""

    def note(self, sentence: str) -> None: ...

    def start(self, rows: int, cases: int) -> None: ...

    def advance(self, result: Result) -> None: ...

    def finish(self) -> None: ...
