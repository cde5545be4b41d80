"""A runtime that is asked one case at a time, in a worker of its own as in a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from conformance.judging.responses import Loaded, Response
from conformance.models.case_models import Form
from conformance.processes.worker_limits import Limits
from conformance.running.lane import Lane
from conformance.running.requests import Offer
from conformance.running.run_options import Task
from conformance.running.session import WholeRequest
from conformance.runtimes.runtimes import Runtime, install
from conformance.suite.cases import Case
from generator.exploring.fuzzing.known_failures import KnownFailures, find_known_failures
from generator.exploring.fuzzing.search import FuzzResult, Tell, fuzz
from generator.exploring.shrinking.known_space import CallValidity


class RunningRuntime:
    """Starts the worker of a runtime; used as a context manager, it lets it go.

    Raises RuntimeUnavailable where the runtime cannot be installed or started, then or after a crash.
    """

    def __init__(self, runtime: Runtime, limits: Limits, announce: Callable[[str], None]) -> None:
        self._lane = Lane(install(runtime, announce).launch, runtime.adapter, limits)
        self.offer: Offer = self._lane.start()

    @property
    def name(self) -> str:
        return self.offer.name

    @property
    def version(self) -> str:
        return self.offer.version

    def search(
        self, space: CallValidity, seed: int, seconds: float, tell: Tell, most_calls: int | None
    ) -> FuzzResult:
        """Search for `seconds`, or for so many calls; as `fuzz`."""
        return fuzz(space, self.ask, seed, seconds, tell, most_calls)

    def known_failures(self, space: CallValidity, cases: Sequence[Case]) -> KnownFailures:
        """The cases of a suite that the runtime fails; as `find_known_failures`."""
        return find_known_failures(space, self.ask, cases)

    def ask(self, case: Case, valid_case: Case | None = None, form: Form | None = None) -> Response:
        """What the runtime does with a case, in a form; without one in the form that it names first."""
        task = Task.of(case, form or self.offer.forms[0], valid_case=valid_case)
        ((_, response),) = self._lane.run([task])
        return response

    def load(self, model: WholeRequest) -> Response | Loaded:
        """What the runtime says to a whole model before it is run."""
        return self._lane.load(model)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._lane.close()
        else:
            self._lane.kill()
