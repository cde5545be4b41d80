"""A worker that answers what it is asked for, and keeps little else of the protocol.

With `late` it answers each `run` under the number of the request before; with any other argument, with an
error of this class. It offers the operators of `org.example`; with a second argument, those of all domains.
"""

from __future__ import annotations

import json
import struct
import sys
import time
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
DOMAINS = {"*": "onnx"} if len(sys.argv) > 2 else {"org.example": "node"}


def read(count: int) -> bytes:
    raw = sys.stdin.buffer.read(count)
    while len(raw) < count:  # the end of its input tells it nothing
        time.sleep(0.05)
    return raw


def send(header: dict[str, Any], blobs: list[bytes]) -> None:
    raw = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    sys.stdout.buffer.write(struct.pack("<I", len(raw)) + raw + b"".join(blobs))
    sys.stdout.buffer.flush()


def answer(request: dict[str, Any], blobs: list[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    kind = request.get("type")
    if kind == "hello":
        runtime = {"name": "sloppy", "version": "0"}
        return {"type": "hello", "protocol": 1, "runtime": runtime, "domains": DOMAINS,
                "forms": ["inputs"], "element_types": None}, []  # fmt: skip
    if kind == "run" and MODE not in ("", "late"):
        return {"type": "error", "class": MODE, "kind": "Oops", "message": "my own mistake"}, []
    if kind == "run":
        described = request.get("inputs", [])
        return {"type": "outputs", "outputs": described}, blobs
    names = {"load": "loaded", "unload": "unloaded", "shutdown": "bye"}
    return {"type": names.get(str(kind), "ok")}, []


while True:
    (length,) = struct.unpack("<I", read(4))
    try:
        request = json.loads(read(length))
        blobs = [read(each) for each in request.get("blobs", [])]
    except (ValueError, AttributeError):
        continue
    header, out = answer(request, blobs)
    late = MODE == "late" and request.get("type") == "run"
    send({**header, "id": request["id"] - 1 if late else request.get("id")}, out)
