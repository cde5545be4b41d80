"""Whether a case that killed its worker does so each time: it is tried again, a few times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from conformance.running.lane import Lane
from conformance.running.responses import Answered, Crashed, Refused, Response, TimedOut
from conformance.running.tasks import Task
from opcert.vocabulary.errors import RuntimeUnavailable
from opcert.vocabulary.names import operator_path_of

TRIES = 3
"""So often a case that killed its worker is tried again."""
_MOST_CASES, _MOST_OF_OPERATOR = 24, 3
"""Of each lane so many cases are, and of an operator version: of many that die the first say enough."""
_KINDS = ((Answered, "answered"), (Refused, "refused"), (Crashed, "crashed"), (TimedOut, "timed out"))


class FurtherTries:
    """Tries cases of one lane again. What it learns are the responses, in words as rows have them.

    Where every case is `repeated` none is tried further. `ending` says whether the run is being ended, from
    outside as well: then workers are killed, not lost.
    """

    def __init__(self, ending: Callable[[], bool] = lambda: False, repeated: bool = False) -> None:
        self._ending = ending
        self._repeated = repeated
        self._cases: Counter[str] = Counter()

    def of(self, lane: Lane, task: Task, response: Response) -> tuple[str, ...]:
        """What further tries of a task came to; none of one that its worker survived, or that is repeated.

        Where no new worker starts there are fewer: whoever needs the next one will tell.
        """
        if not isinstance(response, Crashed) or self._repeated or self._ending():
            return ()
        operator = operator_path_of(task.case_id)
        if self._cases.total() >= _MOST_CASES or self._cases[operator] >= _MOST_OF_OPERATOR:
            return ()
        self._cases[operator] += 1
        deaths, found = lane.deaths, []
        with suppress(RuntimeUnavailable):
            for _ in range(TRIES):
                for _, again in lane.run([] if self._ending() else [task]):
                    found.append(next((word for kind, word in _KINDS if isinstance(again, kind)), "none"))
        # What the same case kills once more says nothing new of whether the runtime survives at all.
        lane.deaths = deaths if set(found) <= {"crashed", "timed out"} else 0
        return tuple(found)
