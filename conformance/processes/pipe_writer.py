"""What is to be written to a pipe that does not block, and is taken piece by piece."""

from __future__ import annotations

import os
from collections import deque
from itertools import islice

_PIECES = 64


class PipeWriter:
    """Keeps bytes until the pipe takes them. What is put for a reader that has gone is forgotten."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unsent: deque[bytes | memoryview] = deque()

    def __len__(self) -> int:
        """How many pieces are not written yet."""
        return len(self._unsent)

    def put(self, *pieces: bytes) -> None:
        """Put bytes behind those that are to be written."""
        self._unsent.extend(filter(None, pieces))

    def write(self) -> bool:
        """Write as much as the pipe takes at once; whether that is all."""
        while self._unsent:
            pieces = list(islice(self._unsent, _PIECES))
            try:
                sent = os.writev(self._descriptor, pieces)
            except BlockingIOError:
                return False
            except OSError:
                # The reader has closed its end; reading from it will tell how it ended.
                self.forget()
                break
            for piece in pieces:
                if len(piece) > sent:
                    self._unsent[0] = memoryview(piece)[sent:]
                    break
                sent -= len(piece)
                self._unsent.popleft()
        return True

    def forget(self) -> None:
        """Let go of what is not written yet."""
        self._unsent.clear()
