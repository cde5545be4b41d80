"""What a record's header says of the runtime, held against itself: name, source, options and offer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.processes.frames import BrokenProtocol
from conformance.recording.records import Record
from conformance.running.requests import Offer, read_offer
from conformance.runtimes.adapter import Adapter
from conformance.runtimes.runtimes import find_adapter, find_runtime, list_runtimes
from opcert.vocabulary.errors import UserError
from reports.results.told_facts import items, mapping, text


def stated_adapter(record: Record) -> Adapter | None:
    """The adapter whose table decides what counts as unsupported; None where this opcert has none of it."""
    try:
        return find_adapter(_source(record))
    except UserError:
        return None


def stated_offer(record: Record) -> Offer | None:
    """What the worker said in its handshake, as the header has it; None where that cannot be read."""
    facts = mapping(_runtime(record).get("offer"))
    try:
        return read_offer({"type": "hello", **facts})
    except BrokenProtocol:
        return None


def find_wrong_runtime(record: Record) -> Iterator[str]:
    """What in a header contradicts the rest of it, in sentences."""
    runtime, offer = _runtime(record), stated_offer(record)
    if offer is None:
        yield "the header does not hold what the worker offered, or not as the protocol has it"
        return
    for name, offered in (("name", offer.name), ("version", offer.version)):
        if runtime.get(name) != offered:
            yield f"the header's runtime has the {name} {text(runtime.get(name))}, and offered as {offered}"
    forms = items(mapping(record.header.get("options")).get("forms"))
    for each in forms:
        if each not in offer.forms:
            yield f"the header says that cases were run in the form {text(each)}, which was not offered"
    if stated_adapter(record) is None:
        yield f"the header's runtime {_source(record)} is none that this opcert knows"
    elif _is_built_in(record):
        yield from _wrong_built_in(record, runtime)


def _wrong_built_in(record: Record, runtime: Mapping[str, Any]) -> Iterator[str]:
    asked = find_runtime(_source(record))
    if runtime.get("name") != asked.adapter.name:
        yield f"the header's runtime is {_source(record)}, and calls itself {text(runtime.get('name'))}"
    if mapping(runtime.get("options")) != dict(asked.options):
        yield f"the header's options are not those of {_source(record)}"
    package, _, pinned = asked.requirements[0].partition("==")
    packages = {_alike(name): each for name, each in mapping(_packages(runtime)).items()}
    installed = packages.get(_alike(package))
    if pinned and _release(text(installed)) != _release(pinned):
        yield f"{_source(record)} was asked for, and {package} {text(installed) or 'of no version'} installed"


def is_believed(record: Record) -> bool:
    """Whether what the runtime's own worker calls unsupported is believed, for want of a table."""
    adapter = stated_adapter(record)
    return adapter is None or adapter.name in ("exec", "backend")


def _is_built_in(record: Record) -> bool:
    adapter = stated_adapter(record)
    return adapter is not None and adapter.name in list_runtimes()


def _runtime(record: Record) -> Mapping[str, Any]:
    return mapping(record.header.get("runtime"))


def _source(record: Record) -> str:
    return text(_runtime(record).get("source"))


def _packages(runtime: Mapping[str, Any]) -> object:
    return mapping(runtime.get("environment")).get("packages")


def _alike(package: str) -> str:
    return package.lower().replace("_", "-")


def _release(version: str) -> str:
    """`1.20` and `1.20.0` are one version."""
    while version.endswith(".0"):
        version = version.removesuffix(".0")
    return version
