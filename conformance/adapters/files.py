"""Outputs that a device gave as files: `files:NAME`, in records that `opcert judge` wrote."""

from __future__ import annotations

from dataclasses import replace

from conformance.adapters.exec import ADAPTER as PROGRAM

ADAPTER = replace(
    PROGRAM,
    name="files",
    first_line="files:NAME, outputs of a device as files (`opcert judge`)",
)
