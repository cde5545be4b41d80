"""Frames of the worker protocol (docs/worker-protocol.md) on a worker's side, and its pipes.

Python 3.9 or newer and the standard library.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from typing import Any, BinaryIO, Dict, List, Optional, Sequence, Tuple

MAX_HEADER = 16 << 20
_ENCODER = json.JSONEncoder(separators=(",", ":"))

Header = Dict[str, Any]
Blobs = List[bytes]


class BrokenFrame(Exception):
    """What came in is no frame; nothing after it can be read."""


def read_frame(stream: BinaryIO) -> Optional[Tuple[Header, Blobs]]:
    """The next frame, or None where the stream has ended; raises BrokenFrame on anything else."""
    prefix = _read_exactly(stream, 4)
    if not prefix:
        return None
    if len(prefix) < 4:
        raise BrokenFrame("the stream ends inside a frame's length")
    (length,) = struct.unpack("<I", prefix)
    if length > MAX_HEADER:
        raise BrokenFrame("a header of %d bytes; at most %d are allowed" % (length, MAX_HEADER))
    raw = _read_exactly(stream, length)
    if len(raw) < length:
        raise BrokenFrame("the stream ends inside a header")
    try:
        header = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenFrame("a header is not JSON: %s" % error) from error
    if not isinstance(header, dict):
        raise BrokenFrame("a header is not an object")
    lengths = header.get("blobs", [])
    if not isinstance(lengths, list) or not all(type(each) is int and each >= 0 for each in lengths):
        raise BrokenFrame("`blobs` is not a list of lengths")
    blobs = []
    for each in lengths:
        blob = _read_exactly(stream, each)
        if len(blob) < each:
            raise BrokenFrame("the stream ends inside a blob")
        blobs.append(blob)
    return header, blobs


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    return stream.read(count) if count else b""


def write_frame(stream: BinaryIO, header: Header, blobs: Sequence[bytes] = ()) -> None:
    if blobs:
        header = dict(header, blobs=[len(each) for each in blobs])
    raw = _ENCODER.encode(header).encode("utf-8")
    stream.write(struct.pack("<I", len(raw)) + raw)
    for each in blobs:
        stream.write(each)
    stream.flush()


def take_standard_streams() -> Tuple[BinaryIO, BinaryIO]:
    """Keep descriptors 0 and 1 for frames; afterwards 0 is the null device and 1 is standard error."""
    sys.stdout.flush()
    incoming = os.fdopen(os.dup(0), "rb", 1 << 16)
    outgoing = os.fdopen(os.dup(1), "wb", 1 << 16)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return incoming, outgoing
