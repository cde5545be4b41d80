"""Cases of calls in the user's cache, by what the call says and what its cases are made from."""

from __future__ import annotations

from conformance.checked_models.model_calls import ModelCall
from generator.models.check.call_cases import CallCases
from generator.models.check.call_keys import key_of_call
from generator.models.check.cluster_calls import CallGoldens
from generator.models.check.part_cache import PartCache


class KeptCalls(PartCache[CallGoldens]):
    """The calls of the cache, of the code and the declarations of now."""

    def __init__(self) -> None:
        super().__init__("calls", CallGoldens)

    def find(self, call: ModelCall) -> CallCases | None:
        """What was made before of a call; None where it is not kept, or is not what was written."""
        return self._read([call.operator], key_of_call(call), lambda kept: kept.cases_of(call))

    def keep(self, made: CallCases) -> None:
        """Keep what was made of a call; a cache that cannot be written keeps nothing.

        What failed is not kept, nor what took too long on this machine.
        """
        if made.not_covered is None or made.not_covered.why not in ("failed", "too_slow"):
            self._write([made.call.operator], made.key, CallGoldens.of(made))
