"""Outputs that a device gave as files: `files:NAME`, in records that `opcert judge` wrote."""

from __future__ import annotations

from conformance.adapters.exec import BELIEVED
from conformance.runtimes.adapter import Adapter

ADAPTER = Adapter(
    name="files",
    first_line="files:NAME, outputs of a device as files (`opcert judge`)",
    requirements=(),
    worker="",
    unsupported=(BELIEVED,),
)
