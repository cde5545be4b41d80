"""Requests as they go out: made once, and sent to as many workers and as often as it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conformance.processes.frames import frame_head
from conformance.running.requests import CaseRequest


@dataclass(frozen=True, eq=False)
class ReadyRequest:
    """The heads of a case's `load` and `run` (`frame_head`), and their blobs.

    With `again` it is loaded anew and run a second time. `further` are sent behind it; `told` says which of
    several answers it gives, and `asked` whether anything is asked of that.
    """

    load: bytes
    load_blobs: tuple[bytes, ...]
    run: bytes
    run_blobs: tuple[bytes, ...]
    again: bool = False
    further: tuple[ReadyRequest, ...] = ()
    told: str | None = None
    asked: bool = True

    @property
    def size(self) -> int:
        """The bytes of its tensors and model."""
        own = sum(map(len, self.load_blobs)) + sum(map(len, self.run_blobs))
        return own + sum(each.size for each in self.further)

    def without_others(self) -> ReadyRequest:
        """The runs of which something is asked alone."""
        first, *others = (each for each in (self, *self.further) if each.asked)
        return replace(first, further=tuple(others))

    def same_model(self, other: ReadyRequest) -> bool:
        """Whether a worker that holds the model of the other one holds this one's."""
        return self.load == other.load and self.load_blobs == other.load_blobs


def make_ready(request: CaseRequest) -> ReadyRequest:
    """A request with its headers encoded."""
    return ReadyRequest(
        frame_head(request.load, request.load_blobs),
        request.load_blobs,
        frame_head(request.run, request.run_blobs),
        request.run_blobs,
        request.again,
        tuple(map(make_ready, request.further)),
        request.told,
        request.asked,
    )
