"""A worker that returns its input, in frames of which some are changed on their way out.

Arguments: a word that tells its processes from others, and the seed of the changes. What becomes of a frame
hangs on the seed and the request alone. It needs no numpy, and so starts quickly.
"""

from __future__ import annotations

import json
import random
import struct
import sys
import time
from typing import Any

SEED = sys.argv[2] if len(sys.argv) > 2 else "0"
HELLO = {"type": "hello", "protocol": 1, "runtime": {"name": "mutating", "version": "0"},
         "domains": {"org.example": "node"}, "forms": ["inputs"], "element_types": None}  # fmt: skip
NAMES = {"load": "loaded", "unload": "unloaded", "shutdown": "bye"}


def read(count: int) -> bytes:
    raw = sys.stdin.buffer.read(count)
    if len(raw) < count:
        sys.exit(0)
    return raw


def answer(request: dict[str, Any], blobs: list[bytes]) -> bytes:
    header: dict[str, Any] = {"type": NAMES.get(str(request.get("type")), "ok")}
    if request["type"] == "hello":
        header = dict(HELLO)
    elif request["type"] == "run":
        header = {"type": "outputs", "outputs": request["inputs"], "blobs": [len(blob) for blob in blobs]}
    else:
        blobs = []
    raw = json.dumps({**header, "id": request.get("id")}).encode()
    return struct.pack("<I", len(raw)) + raw + b"".join(blobs)


def change(frame: bytes, by: random.Random) -> bytes:
    """A few bytes of it are others, more, fewer, swapped or doubled; or it comes twice, or not at all."""
    raw = bytearray(frame)
    for _ in range(by.choice((1, 1, 1, 2, 8))):
        at = by.randrange(len(raw) + 1)
        how = by.randrange(7)
        if how == 0 and at < len(raw):
            raw[at] ^= 1 << by.randrange(8)
        elif how == 1 and at < len(raw):
            raw[at] = by.choice(b'"{}[],:0129-. \x00\xff')
        elif how == 2:
            raw[at:at] = by.randbytes(by.randrange(1, 9))
        elif how == 3:
            del raw[at : at + by.randrange(1, 9)]
        elif how == 4:
            raw[at:at] = raw[at : at + by.randrange(64)]
        elif how == 5:
            raw = raw[:at] + raw[at:][::-1]
        else:
            raw = by.choice((raw + raw, raw[:at]))
    return bytes(raw)


if __name__ == "__main__":
    while True:
        (length,) = struct.unpack("<I", read(4))
        asked = json.loads(read(length))
        given = [read(each) for each in asked.get("blobs", [])]
        frame = answer(asked, given)
        by = random.Random(f"{SEED} {asked.get('type')} {given}")
        if (asked["type"] == "run" and by.random() < 0.5) or (
            asked["type"] in ("load", "unload") and random.Random(f"{SEED} {asked}").random() < 0.02
        ):
            frame = change(frame, by)
        sys.stdout.buffer.write(frame)
        sys.stdout.buffer.flush()
        if len(frame) < 8:
            time.sleep(0.01)
