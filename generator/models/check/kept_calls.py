"""Cases of calls in the user's cache, by what the call says and what its cases are made from."""

from __future__ import annotations

from conformance.checked_models.model_calls import ModelCall
from generator.models.check.call_cases import CallCases
from generator.models.check.call_keys import key_of_call
from generator.models.check.cluster_calls import CallGoldens
from generator.models.check.part_cache import PartCache
from opcert.vocabulary.errors import UserError


class KeptCalls(PartCache[CallGoldens]):
    """The calls of the cache, of the code and the declarations of now."""

    def __init__(self) -> None:
        super().__init__("calls", CallGoldens)

    def find(self, call: ModelCall) -> CallCases | None:
        """What was made before of a call; None where it is not kept, or is not what was written."""
        found = self._read(self._key_of(call))
        try:
            return None if found is None else found.cases_of(call)
        except UserError:
            return None

    def keep(self, made: CallCases) -> None:
        """Keep what was made of a call; a cache that cannot be written keeps nothing.

        What failed is not kept, nor what took too long on this machine.
        """
        key = self._key_of(made.call)
        failed = made.not_covered is not None and made.not_covered.why in ("failed", "too_slow")
        if key is not None and not failed:
            self._write(key, CallGoldens.of(made))

    def _key_of(self, call: ModelCall) -> str | None:
        operator = call.operator
        return None if operator is None else self._key([operator], [str(operator), key_of_call(call)])
