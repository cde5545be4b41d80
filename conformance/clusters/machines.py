"""What the machines of a cluster say of themselves: their names, their kinds, and which opcert they have."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import Any

from conformance.runtimes.processor import FLAGS, processor_here
from opcert.vocabulary.file_digests import project_digest

NAME = "OPCERT_MACHINE"
"""The variable that names a machine where its host name says nothing, as in a pod of Kubernetes."""
_LONGEST_NAME = 200


@cache
def machine_here() -> dict[str, Any]:
    """What a machine is: its `name`, what its `kind` is made of, its size, and the opcert that it has.

    `sources` is the SHA-256 of the code and facts of that opcert, so that two of one version are told apart.
    """
    memory = None
    with suppress(ValueError, OSError, AttributeError):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "name": (os.environ.get(NAME) or platform.node() or "unnamed")[:_LONGEST_NAME],
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "features": processor_here()["flags"],
        "processors": os.cpu_count(),
        "memory": memory,
        "python": platform.python_version(),
        "opcert": version("opcert"),
        "sources": project_digest(),
    }


def check_machine(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a machine says of itself; ValueError where it lacks a name or what its kind is made of."""
    texts = [said.get(key) for key in ("name", "system", "machine")]
    features = said.get("features")
    if not isinstance(features, list | tuple) or len(features) > len(FLAGS):
        raise ValueError("a machine without the extensions of its processor")
    if not all(type(each) is str and len(each) <= _LONGEST_NAME for each in (*texts, *features)):
        raise ValueError("a machine without a name, or of no kind")
    return said


def kind_of(machine: Mapping[str, Any]) -> str:
    """What decides which code a runtime takes on a machine: system, architecture, extensions."""
    return " ".join([str(machine["system"]), str(machine["machine"]), *machine["features"]])


def common_flags(kinds: Iterable[str]) -> list[str]:
    """The instruction sets that machines of all these kinds have."""
    words = [frozenset(kind.split()) for kind in kinds]
    return [flag for flag in FLAGS if all(flag in own for own in words)]
