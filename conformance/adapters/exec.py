"""Any program that speaks the worker protocol: `exec:COMMAND`."""

from __future__ import annotations

from conformance.runtimes.adapter import Adapter, UnsupportedRule

_BELIEVED = UnsupportedRule("Unsupported: no strings here", kind=".*", error_class="unsupported")
"""Of a runtime whose errors nobody else knows: what its own worker calls unsupported is believed."""

ADAPTER = Adapter(
    name="exec",
    first_line="exec:COMMAND, any program that speaks the worker protocol on its standard input and output",
    requirements=(),
    worker="",
    unsupported=(_BELIEVED,),
)
