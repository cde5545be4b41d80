"""The tasks that a lane has begun and not finished, oldest first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from conformance.running.responses import Response
from conformance.running.session import Sent
from conformance.running.tasks import Task

Begun = Sent | tuple[Task, Response]
"""A task that a worker has, or one that is not to be sent, with its response."""


class InFlight:
    """`bytes` is how many of tensors and models those tasks have together that were sent."""

    def __init__(self) -> None:
        self.bytes = 0
        self._begun: deque[Begun] = deque()

    def __len__(self) -> int:
        return len(self._begun)

    def __iter__(self) -> Iterator[Begun]:
        return iter(self._begun)

    def append(self, task: Begun) -> None:
        self._begun.append(task)
        self.bytes += _bytes(task)

    def take_oldest(self) -> Begun:
        task = self._begun.popleft()
        self.bytes -= _bytes(task)
        return task

    def put_back(self, task: Begun) -> None:
        """Make a task the oldest again."""
        self._begun.appendleft(task)
        self.bytes += _bytes(task)

    def keep(self, wanted: Callable[[Task], bool]) -> None:
        """Forget the tasks that are not wanted any more."""
        kept = [each for each in self._begun if wanted(each.task if isinstance(each, Sent) else each[0])]
        self._begun = deque(kept)
        self.bytes = sum(map(_bytes, kept))

    def replace(self, position: int, task: Sent) -> None:
        """Let a task that was sent anew, with the same bytes, take the place of the one sent before."""
        self._begun[position] = task


def _bytes(task: Begun) -> int:
    return task.bytes if isinstance(task, Sent) else 0
