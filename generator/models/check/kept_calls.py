"""Cases of calls in the user's cache, by what the call says and what its cases are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.checked_models.model_calls import ModelCall
from conformance.suite.suite_parts import cases_in, make_part
from generator.models.check.call_cases import CallCases, NotCovered
from generator.models.check.call_keys import key_of_call
from generator.models.check.part_cache import PartCache


class KeptCalls(PartCache):
    """The calls of the cache, of the code and the declarations of now."""

    def __init__(self) -> None:
        super().__init__("calls")

    def find(self, call: ModelCall) -> CallCases | None:
        """What was made before of a call; None where it is not kept, or is not what was written."""
        return self._read(
            self._key_of(call), lambda part: _call_cases(call, part.facts, tuple(cases_in(part)))
        )

    def keep(self, made: CallCases) -> None:
        """Keep what was made of a call; a cache that cannot be written keeps nothing.

        What failed is not kept, nor what took too long on this machine.
        """
        key, operator = self._key_of(made.call), made.call.operator
        failed = made.not_covered is not None and made.not_covered.why in ("failed", "too_slow")
        if key is not None and operator is not None and not failed:
            self._write(key, make_part(operator, made.cases, _facts(made)))

    def _key_of(self, call: ModelCall) -> str | None:
        operator = call.operator
        return None if operator is None else self._key([operator], [str(operator), key_of_call(call)])


def _facts(made: CallCases) -> dict[str, Any]:
    gone = made.not_covered
    return {
        "not_covered": None if gone is None else [gone.why, gone.text],
        "fixed": list(made.fixed.items()),
        "given_up": list(made.given_up),
        "varied": [[name, list(levels)] for name, levels in made.varied.items()],
        "pairs": made.pairs,
        "covered_pairs": made.covered_pairs,
        "forms": list(made.forms),
    }


def _call_cases(call: ModelCall, facts: Mapping[str, Any], cases: tuple[Any, ...]) -> CallCases:
    gone = facts["not_covered"]
    return CallCases(
        call,
        key_of_call(call),
        cases,
        None if gone is None else NotCovered(*gone),
        dict(facts["fixed"]),
        tuple(facts["given_up"]),
        {name: tuple(levels) for name, levels in facts["varied"]},
        facts["pairs"],
        facts["covered_pairs"],
        tuple(facts["forms"]),
    )
