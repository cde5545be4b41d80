"""Units of work on a cluster: no more under way than its workers need, and each result taken once.

Which worker does what, and who does it again where one is lost, is the scheduler's affair.
"""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from conformance.clusters.worker_answers import Failure
from opcert.vocabulary.errors import InternalError, UserError
from opcert.vocabulary.harmless import one_line

About = TypeVar("About")
_AHEAD = 2
"""So many units are under way for each thread of a worker: one that runs, and one that waits."""
_TICK = 1.0
_WITHOUT_WORKERS = 10.0


@dataclass(frozen=True)
class Lost:
    """A unit that nobody does any more: every worker that had it was lost, and how that was told."""

    reason: str


class Cluster:
    """A client of a scheduler, and what is asked of it. `tell` is told sentences while somebody waits."""

    def __init__(self, client: Any, address: str, tell: Callable[[str], object]) -> None:
        self.client = client
        self.address = address
        self.tell = tell
        self._threads = 0
        self._counted = 0.0

    @property
    def engine(self) -> str:
        """Which engine this is, in which version."""
        from distributed import __version__

        return f"dask.distributed {__version__}"

    def threads(self) -> int:
        """How many units the workers do at a time, as of a second ago at most."""
        now = time.monotonic()
        if now - self._counted > _TICK:
            self._counted = now
            with suppress(Exception):  # a scheduler that is gone is noticed by who waits for a result
                self._threads = sum(self.client.nthreads().values())
        return self._threads

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function says on one of the workers; raises as `each` does, and where that is lost."""
        for _, found in self.each(function, iter([(None, arguments)])):
            if isinstance(found, Lost):
                raise UserError("workers are lost before they have begun", got=found.reason)
            return found
        raise InternalError("a cluster has no answer to one question")

    def each(
        self, function: Callable[..., Any], units: Iterator[tuple[About, tuple[Any, ...]] | None]
    ) -> Generator[tuple[About, Any], None, None]:
        """What a function says to each unit's arguments, as it comes; a `Lost` where nobody says it.

        A unit is something about it, which is all that is kept here while it is under way and comes with what
        is said, and its arguments. The next unit is taken when the result before was: who writes slowly slows
        the workers. A None says that there is none before another result was taken, and comes only while one
        is awaited. Raises UserError where the scheduler goes away, and what a worker found wrong, with its
        machine.
        """
        waiting: dict[str, tuple[Any, About]] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        run, number, more = uuid.uuid4().hex, 0, True
        try:
            while True:
                while more and len(waiting) < max(_AHEAD * self.threads(), _AHEAD):
                    try:
                        unit = next(units)
                    except StopIteration:
                        more = False
                        break
                    if unit is None:
                        break
                    about, arguments = unit
                    future = self._submit(function, arguments, f"opcert-{run}-{number}")
                    del unit, arguments
                    number += 1
                    waiting[future.key] = future, about
                    future.add_done_callback(done.put)
                if not waiting:
                    return
                future, about = waiting.pop(self._await(done).key)
                found = self._result(future)
                future.release()
                del future
                yield about, found
        finally:
            if waiting:
                with suppress(Exception):
                    self.client.cancel([future for future, _ in waiting.values()], force=True)

    def forget(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Let every worker that is there call a function, whatever comes of it."""
        with suppress(Exception):
            self.client.run(function, *arguments, on_error="ignore")

    def _submit(self, function: Callable[..., Any], arguments: tuple[Any, ...], key: str) -> Any:
        try:
            return self.client.submit(function, *arguments, key=key, pure=False)
        except Exception as error:
            if self._is_gone():
                raise self._gone() from error
            raise

    def _await(self, done: queue.SimpleQueue[Any]) -> Any:
        """The next unit that is done; UserError where the scheduler is not there any more."""
        lacking_since: float | None = None
        told = False
        while True:
            try:
                return done.get(timeout=_TICK)
            except queue.Empty:
                pass
            if self._is_gone():
                raise self._gone()
            if self.threads():
                lacking_since = None
            elif lacking_since is None:
                lacking_since = time.monotonic()
            elif not told and time.monotonic() - lacking_since > _WITHOUT_WORKERS:
                told = True
                self.tell(f"no worker is left at {self.address}; waiting for one")

    def _result(self, future: Any) -> Any:
        while True:
            if future.cancelled() or self._is_gone():
                raise self._gone()
            try:
                found = future.result(timeout=_TICK)
            except TimeoutError:
                continue
            except Exception as error:  # noqa: BLE001 - whatever a worker raised is told by what it means
                return self._failed(error)
            if isinstance(found, Failure):
                raise found.error(self.address)
            return found

    def _failed(self, error: Exception) -> Lost:
        """What an error means that came instead of a result: a loss, or an error of ours or of theirs."""
        name = type(error).__name__
        if name == "KilledWorker":
            last = getattr(getattr(error, "last_worker", None), "address", "a worker")
            return Lost(f"its workers were lost again and again, at last {last}")
        if self._is_gone() or "Cancelled" in name or name == "CommClosedError":
            raise self._gone() from error
        if isinstance(error, ImportError | AttributeError):
            raise UserError(
                "a worker that came later has no opcert, or another one",
                got=one_line(str(error), 300),
                remedy="Install this opcert in the environment of every worker and start it again.",
            ) from error
        raise InternalError(
            "a unit of work does not come to a worker", got=one_line(f"{name}: {error}", 1000)
        ) from error

    def _is_gone(self) -> bool:
        return self.client.status not in ("running",)

    def _gone(self) -> UserError:
        return UserError(
            "the scheduler is not there any more",
            got=self.address,
            remedy="Start it and its workers again; what has come is kept, and the same command goes on "
            "from there (a run with --resume).",
        )
