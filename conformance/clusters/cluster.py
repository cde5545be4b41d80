"""Units of work on a cluster: no more under way than its workers need, and each result taken once.

Which worker does what, and who does it again where one is lost, is the scheduler's affair.
"""

from __future__ import annotations

import queue
import re
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from conformance.clusters.strict_messages import texts_of_pickle
from conformance.clusters.worker_answers import Lost, WorkerFailure, answer_in_bytes, read_answer
from opcert.vocabulary.errors import InternalError, Place, UserError
from opcert.vocabulary.harmless import one_line

About = TypeVar("About")
Found = TypeVar("Found")
_AHEAD = 2
"""So many units are under way for each thread of a worker: one that runs, and one that waits."""
_MOST_AHEAD = 8192
_TICK = 1.0
_WITHOUT_WORKERS = 10.0
ANSWERING = 30.0
"""Seconds that a scheduler has for an answer, and for the result of a unit that it calls done."""
_ENDING = 5.0
_ERRORS = ("KilledWorker", "CancelledError", "ModuleNotFoundError", "ImportError", "AttributeError")
_MISSING = ("ModuleNotFoundError", "ImportError", "AttributeError")
_ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx|ucxx|inproc)://\S+", re.ASCII)


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
        """How many units the workers do at a time, as of a second ago at most.

        UserError where the scheduler is there and says nothing.
        """
        now = time.monotonic()
        if now - self._counted > _TICK:
            self._counted = now
            try:
                counted = within(ANSWERING, self.client.nthreads)
                self._threads = sum(each for each in counted.values() if type(each) is int and each > 0)
            except TimeoutError as error:
                raise self._silent("no answer to how many workers it has") from error
            except Exception:  # noqa: BLE001 - one that is gone is noticed by who waits for a result
                pass
        return self._threads

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function says on one of the workers; raises as `each` does, and where that is lost."""
        for _, found in self.each(function, iter([(None, arguments)])):
            if isinstance(found, Lost):
                raise UserError("workers are lost before they have begun", got=found.reason)
            return found
        raise InternalError("a cluster has no answer to one question")

    def each(
        self, function: Callable[..., Any], units: Iterator[tuple[About, tuple[Any, ...]]]
    ) -> Generator[tuple[About, Any], None, None]:
        """What a function says to each unit's arguments, as it comes; a `Lost` where nobody says it.

        A unit is something about it, which is all that is kept here while it is under way and comes with what
        is said, and its arguments. The next unit is taken when the result before was: who writes slowly slows
        the workers. Answers travel as plain bytes of the type that the function's annotation says, and name
        their unit. Raises UserError where the scheduler goes away or says nothing, or where other bytes come,
        and what a worker found wrong, with its machine.
        """
        waiting: dict[str, tuple[Any, About]] = {}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        run, number, more = uuid.uuid4().hex, 0, True
        try:
            while True:
                while more and len(waiting) < min(max(_AHEAD * self.threads(), _AHEAD), _MOST_AHEAD):
                    try:
                        about, arguments = next(units)
                    except StopIteration:
                        more = False
                        break
                    future = self._submit(function, arguments, f"opcert-{run}-{number}")
                    del arguments
                    number += 1
                    waiting[future.key] = future, about
                    future.add_done_callback(done.put)
                if not waiting:
                    return
                future, about = waiting.pop(self._await(done).key)
                found = self._result(future, function)
                future.release()
                del future
                yield about, found
        finally:
            if waiting and not self._is_gone():
                futures = [future for future, _ in waiting.values()]
                with suppress(Exception):
                    within(_ENDING, lambda: self.client.cancel(futures, force=True))

    def forget(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Let every worker that is there call a function, whatever comes of it."""
        if not self._is_gone():
            with suppress(Exception):
                within(_ENDING, lambda: self.client.run(function, *arguments, on_error="ignore"))

    def _submit(self, function: Callable[..., Any], arguments: tuple[Any, ...], key: str) -> Any:
        try:
            return self.client.submit(answer_in_bytes, function, key, *arguments, key=key, pure=False)
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

    def _result(self, future: Any, function: Callable[..., Any]) -> Any:
        while True:
            if future.cancelled() or self._is_gone():
                raise self._gone()
            done = future.status == "finished"  # else its worker was lost, and another one does it
            try:
                raw = future.result(timeout=ANSWERING if done else _TICK)
            except TimeoutError as error:
                if done and future.status == "finished":
                    raise self._silent("a unit of work is done, and its result does not come") from error
                self.threads()
                continue
            except Exception as error:  # noqa: BLE001 - whatever comes instead is told by what it means
                return self._failed(error)
            try:
                found = read_answer(raw, function, future.key)
            except ValueError as error:
                raise UserError(
                    "what came for a unit of work is not an answer to it",
                    got=one_line(str(error), 300),
                    where=Place(self.address),
                    remedy="Look who is a worker there. What came before is kept, and the same command goes "
                    "on from there (a run with --resume).",
                ) from error
            if isinstance(found, WorkerFailure):
                raise found.error(self.address)
            return found

    def _failed(self, error: Exception) -> Lost:
        """What an error means that came instead of a result: a loss, or an error of ours or of theirs."""
        name, told = _named(error)
        if name == "KilledWorker":
            addresses = [each for each in told if _ADDRESS.fullmatch(each)]
            last = one_line(addresses[0], 200) if addresses else "a worker"
            return Lost(f"its workers were lost again and again, at last {last}")
        if self._is_gone() or "Cancelled" in name or name == "CommClosedError":
            raise self._gone() from error
        if name in _MISSING:
            raise UserError(
                "a worker that came later has no opcert, or another one",
                got=one_line(" ".join(told), 300),
                remedy="Install this opcert in the environment of every worker and start it again.",
            ) from error
        raise UserError(
            "a unit of work does not come to a worker",
            got=one_line(f"{name}: {' '.join(told)}", 1000),
            where=Place(self.address),
            remedy="Look at the scheduler and its workers, and whether they have the same versions as here.",
        ) from error

    def _is_gone(self) -> bool:
        # Where that ended which listens to the scheduler, nothing comes any more.
        listening = getattr(self.client, "_handle_report_task", None)
        return self.client.status != "running" or (listening is not None and listening.done())

    def _gone(self) -> UserError:
        return UserError(
            "the scheduler is not there any more",
            got=self.address,
            remedy="Start it and its workers again; what has come is kept, and the same command goes on "
            "from there (a run with --resume).",
        )

    def _silent(self, what: str) -> UserError:
        return UserError(
            f"the scheduler has said nothing for {ANSWERING:g} s",
            got=f"{self.address}: {what}",
            remedy="Look whether it runs and whether this machine reaches it. What has come is kept, and the "
            "same command goes on from there (a run with --resume).",
        )


def within(seconds: float, call: Callable[[], Found]) -> Found:
    """What a call says or raises; TimeoutError where that takes longer, and nobody waits for it any more."""
    came: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            came.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits
            came.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        found, error = came.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    answer: Found = found
    return answer


def _named(error: Exception) -> tuple[str, list[str]]:
    """The name of an error's class, and texts about it: it may have come as a pickle, which stays one."""
    raw = error.args[0] if len(error.args) == 1 else None
    if isinstance(raw, bytes):
        texts = texts_of_pickle(raw)
        return next((text for text in texts if text in _ERRORS), "an error"), texts
    last = getattr(getattr(error, "last_worker", None), "address", None)
    return type(error).__name__, str(error).split(" ") if last is None else [last]
