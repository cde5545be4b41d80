"""Runtimes that stand ready in a worker of a cluster, from one unit of a run to the next.

To start one takes as long as hundreds of cases do. Who is not asked for a while is let go, in case that
nobody comes to say that the run is through.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.clusters.run_units import RunOrder
from conformance.models.case_models import Form
from conformance.processes.loaded_files import digests_by_path
from conformance.running.lane import Lane
from conformance.running.record_header import make_header
from conformance.running.requests import Offer
from conformance.running.taken_forms import take_forms
from conformance.runtimes.runtimes import install

IDLE = 60.0
"""Seconds that a runtime is kept which nobody asks."""


@dataclass(eq=False)
class Standing:
    """A runtime that has started: its lane, its offer, and what a record's header says of it."""

    order: RunOrder
    lane: Lane
    offer: Offer
    header: Mapping[str, Any]
    forms: tuple[Form, ...]
    losses: int = 0
    _digested: dict[Any, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def identity(self) -> Mapping[str, Any]:
        """What must be the same on every machine of a run."""
        runtime = self.header["runtime"]
        facts = {key: runtime[key] for key in ("name", "version")}
        return {**facts, "packages": dict(runtime["environment"].get("packages", {}))}

    def take_losses(self) -> list[str]:
        """The workers lost between two cases since somebody asked."""
        found = self.lane.unload_losses[self.losses :]
        self.losses = len(self.lane.unload_losses)
        return list(found)

    def loaded(self) -> list[Mapping[str, Any]]:
        """The files that the runtime runs code from, each read once."""
        for path in self.lane.loaded_files():
            if path not in self._digested:
                self._digested[path] = digests_by_path([path]).get(path, {})
        return [each for each in self._digested.values() if each]


_LOCK = threading.Lock()
_READY: dict[str, list[Standing]] = {}
_TIMERS: dict[int, threading.Timer] = {}


def take_standing(order: RunOrder) -> Standing:
    """A runtime that is ready for a run, or a new one; raises as `install` and `Lane.start` do."""
    with _LOCK:
        ready = _READY.get(order.key)
        if ready:
            found = ready.pop()
            _TIMERS.pop(id(found)).cancel()
            return found
    runtime = order.runtime.find()
    installed = install(runtime, lambda _: None)
    lane = Lane(installed.launch, runtime.adapter, order.options.limits)
    try:
        offer = lane.start()
        forms = tuple(take_forms(order.options.forms, lane, offer, runtime.adapter))
        header = make_header(order.suite, runtime, installed, lane, offer, order.options, forms)
    except BaseException:
        lane.kill()
        raise
    return Standing(order, lane, offer, header, forms)


def give_back(standing: Standing) -> None:
    """Keep a runtime for the next unit of its run, for a while."""
    timer = threading.Timer(IDLE, _let_go, (standing,))
    timer.daemon = True
    with _LOCK:
        _READY.setdefault(standing.order.key, []).append(standing)
        _TIMERS[id(standing)] = timer
    timer.start()


def let_all_go(key: str) -> None:
    """End every runtime that stands ready for a run."""
    with _LOCK:
        ready = _READY.pop(key, [])
        for each in ready:
            _TIMERS.pop(id(each)).cancel()
    for each in ready:
        each.lane.close()


def _let_go(standing: Standing) -> None:
    with _LOCK:
        ready = _READY.get(standing.order.key, [])
        if standing not in ready:
            return
        ready.remove(standing)
        if not ready:
            del _READY[standing.order.key]
        _TIMERS.pop(id(standing), None)
    standing.lane.close()
