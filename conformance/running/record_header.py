"""What a record begins with."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from conformance.processes.worker_limits import describe_confinement
from conformance.recording.moments import timestamp
from conformance.running.lane import Lane
from conformance.running.requests import Offer
from conformance.running.run_options import RunOptions, told_options
from conformance.runtimes.processor import processor_here
from conformance.runtimes.runtimes import Installed, Runtime


def make_header(
    suite: str,
    runtime: Runtime,
    installed: Installed,
    lane: Lane,
    offer: Offer,
    options: RunOptions,
    forms: Sequence[str],
) -> dict[str, Any]:
    """What a record begins with: the suite by its digest, the runtime, this machine, and the options."""
    memory = None
    with suppress(ValueError, OSError, AttributeError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "suite": suite,
        "runtime": {
            "name": offer.name,
            "version": offer.version,
            "source": runtime.text,
            "options": dict(installed.launch.options),
            "environment": dict(installed.facts),
            "offer": offer.facts,
        },
        "platform": {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "processors": os.cpu_count(),
            "memory": memory,
            "python": platform.python_version(),
            "opcert": version("opcert"),
        },
        "processor": dict(processor_here()),
        "confinement": describe_confinement(options.limits, lane.lacking),
        "options": told_options(options, forms),
        "started": timestamp(),
    }
