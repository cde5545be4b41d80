"""A worker on an Android device: `adb:[SERIAL]/COMMAND`, through the Android Debug Bridge of this machine."""

from __future__ import annotations

import re
from dataclasses import replace

from conformance.adapters.exec import ADAPTER as PROGRAM
from conformance.adapters.ssh import script_there
from conformance.runtimes.adapter import Connection

_WRITTEN = re.compile(r"adb:(?P<serial>(?:\w[\w.:-]*)?)(?P<command>/[^\n]*)", re.ASCII)
_VARIABLES = (
    "HOME",
    "ANDROID_SERIAL",
    "ANDROID_ADB_SERVER_PORT",
    "ANDROID_ADB_SERVER_ADDRESS",
    "ADB_SERVER_SOCKET",
)


def _connection(text: str) -> Connection | None:
    written = _WRITTEN.fullmatch(text)
    if written is None:
        return None
    device = ["-s", written["serial"]] if written["serial"] else []
    command = ("adb", *device, "shell", "-T", script_there(written["command"]))
    return Connection(written["serial"] or "the device", command, _VARIABLES)


ADAPTER = replace(
    PROGRAM,
    name="adb",
    first_line="adb:[SERIAL]/COMMAND, a worker on an Android device, by its path there",
    connection=_connection,
)
