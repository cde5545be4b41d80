"""Any program that speaks the worker protocol: `exec:COMMAND`."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

ADAPTER = Adapter(
    name="exec",
    first_line="exec:COMMAND, any program that speaks the worker protocol on its standard input and output",
    requirements=(),
    worker="",
    # Nobody else knows this runtime's errors: what its worker calls unsupported is believed.
    unsupported=(UnsupportedRule("Unsupported: no strings here", kind=".*", error_class="unsupported"),),
)
