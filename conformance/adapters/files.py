"""Outputs that a device gave as files: `files:NAME`, in records that `opcert judge` wrote."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="files",
    first_line="files:NAME, outputs of a device as files (`opcert judge`)",
    requirements=(),
    worker="",
    # Nobody else knows the device's words: what its status calls unsupported is believed.
    unsupported=(UnsupportedRule("Unsupported: no strings here", kind=".*", error_class="unsupported"),),
)
