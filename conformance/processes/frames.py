"""Frames of the worker protocol, on the harness's side; nothing that a worker sends is trusted.

The limits are those that docs/your-runtime.md states.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opcert.vocabulary.strict_json import parse_json

LARGEST_HEADER = 16 << 20
"""Bytes of a frame's header."""
LARGEST_HELLO = 64 << 10
"""Bytes of the header that answers `hello`: it stands in every record."""
LONGEST_MESSAGE = 4096
"""Characters of the message of an error."""
LONGEST_WORD = 1000
"""Characters of a name or kind: of the runtime, of an error, of what is no tensor."""
MOST_OUTPUTS = 128
"""Outputs of one answer, and blobs of one frame."""
MOST_STRINGS = 1 << 20
"""Strings of one output."""
MOST_TOUCHED = 128
"""Places of memory that an answer names."""
MOST_DIMENSIONS = 32
GREATEST_EXTENT = (1 << 63) - 1
MOST_THREAD_COUNTS = 16
MOST_THREADS = 4096
MOST_SECONDS = 1e6


PROTOCOLS = (1, 2)
"""The versions of the worker protocol that are spoken; in the first no model takes or gives a sequence."""


def hello(options: Mapping[str, str]) -> dict[str, Any]:
    """The first request to a worker, in words that one of any version understands."""
    return {"type": "hello", "protocol": PROTOCOLS[0], "protocols": list(PROTOCOLS), "options": dict(options)}


def cut(text: str, longest: int) -> str:
    """The text; where it is longer, its begin and its end with a mark between that says so."""
    if len(text) <= longest:
        return text
    mark = f" ... (cut, {len(text):,} characters) ... "
    tail = (longest - len(mark)) // 4
    return text[: longest - len(mark) - tail] + mark + text[len(text) - tail :]


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class BrokenProtocol(Exception):
    """A worker sent something that the protocol does not allow; what it says of that is cut."""

    def __init__(self, what: str) -> None:
        super().__init__(cut(what, LONGEST_WORD))


@dataclass(frozen=True)
class Frame:
    """One frame: its header and its blobs."""

    header: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


def encode_frame(header: dict[str, Any], blobs: Sequence[bytes] = ()) -> list[bytes]:
    """The pieces that make up a frame on the wire."""
    raw = frame_head(header, blobs) + b"}"
    return [struct.pack("<I", len(raw)) + raw, *blobs]


def frame_head(header: dict[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """A frame's header as JSON without its end: numbers are still to come (`encode_numbered`)."""
    if blobs:
        header = {**header, "blobs": [len(blob) for blob in blobs]}
    return _ENCODER.encode(header).encode("ascii")[:-1]


def encode_numbered(head: bytes, number: int, model: int, blobs: Sequence[bytes] = ()) -> list[bytes]:
    """The pieces of the frame with a head, as request `number` about a model."""
    raw = b'%b,"id":%d,"model":%d}' % (head, number, model)
    return [struct.pack("<I", len(raw)) + raw, *blobs]


class FrameReader:
    """Cuts a stream of bytes into frames. `max_bytes` bounds the blobs of one frame together."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._header: dict[str, Any] | None = None
        self._lengths: list[int] = []
        self._begin = 0

    @property
    def complete(self) -> bool:
        """Whether `take` would give a frame, or raise."""
        if self._header is None:
            try:
                if not self._take_header():
                    return False
            except BrokenProtocol:
                return True
        return len(self._buffer) >= self._begin + sum(self._lengths)

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def take(self) -> Frame | None:
        """The next frame if it is there whole; raises BrokenProtocol where none can begin."""
        if self._header is None and not self._take_header():
            return None
        end = self._begin + sum(self._lengths)
        if len(self._buffer) < end:
            return None
        blobs = []
        position = self._begin
        for length in self._lengths:
            blobs.append(bytes(self._buffer[position : position + length]))
            position += length
        header, self._header = self._header, None
        del self._buffer[:end]
        assert header is not None
        return Frame(header, tuple(blobs))

    def _take_header(self) -> bool:
        if len(self._buffer) < 4:
            return False
        (length,) = struct.unpack_from("<I", self._buffer)
        if length > LARGEST_HEADER:
            raise BrokenProtocol(f"a header of {length} bytes; at most {LARGEST_HEADER} are allowed")
        if len(self._buffer) < 4 + length:
            return False
        try:
            header = parse_json(bytes(self._buffer[4 : 4 + length]))
        except ValueError as error:
            raise BrokenProtocol(f"a header that is not JSON: {error}") from error
        lengths = header.get("blobs", []) if isinstance(header, dict) else None
        if not isinstance(lengths, list) or not all(type(each) is int and each >= 0 for each in lengths):
            raise BrokenProtocol("a header that is no object, or whose blobs are no list of lengths")
        if len(lengths) > MOST_OUTPUTS:
            raise BrokenProtocol(f"a frame of {len(lengths)} blobs; at most {MOST_OUTPUTS} are allowed")
        if sum(lengths) > self._max_bytes:
            raise BrokenProtocol(f"an answer of {sum(lengths)} bytes; at most {self._max_bytes} are allowed")
        self._header, self._lengths, self._begin = header, lengths, 4 + length
        return True
