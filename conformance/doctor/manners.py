"""What the doctor looks at in a worker's manners: unknown requests, garbage, half frames, and how it goes.

Each check is a function whose docstring is its name; it returns what was seen.
"""

from __future__ import annotations

import struct
import time

from conformance.doctor.patient import Fails, Patient, demand_type
from conformance.processes.frames import Frame
from conformance.processes.worker_process import WorkerHung, WorkerLost


def _demand_internal_error(frame: Frame) -> None:
    if (frame.header.get("type"), frame.header.get("class")) != ("error", "internal"):
        raise Fails(f"answered {frame.header.get('type')!r}, class {frame.header.get('class')!r}")


def look_at_unknown(patient: Patient) -> str:
    """a request of an unknown type, or without its keys, is an internal error, and the worker goes on."""
    for header in ({"type": "frobnicate"}, {"type": "load"}, {"type": "run", "model": 7}, {}):
        _demand_internal_error(patient.ask(header))
    return ""


def look_at_ignores(patient: Patient) -> str:
    """keys that the worker does not know are ignored."""
    demand_type(patient.ask({"type": "unload", "model": 99, "x_unknown": {"a": [1]}}), "unloaded")
    return ""


def look_at_garbage(patient: Patient) -> str:
    """bytes that are no frame are answered with an error, and the worker goes."""
    seen = []
    for raw in (b"\x04\0\0\0nope", struct.pack("<I", 0xFFFFFFFF), b"\x02\0\0\0[]"):
        patient.start()
        assert patient.process is not None
        patient.process.send_raw(raw)
        try:
            patient.process.receive(-1, patient.patience, time.monotonic() + patient.patience)
        except WorkerLost as lost:
            seen.append(lost.reason)
        except WorkerHung as hung:
            raise Fails(f"{raw!r}: nothing within {patient.patience:g} s") from hung
    silent = [each for each in seen if not each.startswith("could not read a request")]
    if silent:
        raise Fails(f"no answer before the worker {silent[0]}")
    return ""


def look_at_half(patient: Patient) -> str:
    """half a frame and the end of the input end the worker."""
    for raw in (b"", b"\x10\0", b'\x10\0\0\0{"type":', b'\x1b\0\0\0{"type":"x","blobs":[1000]}ab'):
        patient.start()
        assert patient.process is not None
        patient.process.send_raw(raw)
        patient.process.end_input()
        try:
            patient.process.receive(-1, patient.patience, time.monotonic() + patient.patience)
        except WorkerLost:
            continue
        except WorkerHung as hung:
            raise Fails(
                f"still there {patient.patience:g} s after {raw!r} and the end of its input"
            ) from hung
    return ""


def look_at_leaves(patient: Patient) -> str:
    """the worker answers `shutdown` and goes with status 0."""
    demand_type(patient.ask({"type": "shutdown"}), "bye")
    assert patient.process is not None
    try:
        patient.process.receive(-1, patient.patience, time.monotonic() + patient.patience)
    except WorkerLost as lost:
        if lost.status != 0:
            raise Fails(f"the worker {lost.reason}") from lost
    except WorkerHung as hung:
        raise Fails(f"still there {patient.patience:g} s later") from hung
    return ""


PROTOCOL = (look_at_unknown, look_at_ignores, look_at_leaves, look_at_garbage, look_at_half)
