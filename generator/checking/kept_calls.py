"""Cases of calls in the user's cache, by what the call says and what its cases are made from."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.checked_models.model_calls import ModelCall
from conformance.processes.scratch_folders import scratch_folder
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.kept_suites import suites_folder
from conformance.suite.suite_parts import cases_in, make_part, part_bytes, read_part
from generator.checking.call_cases import CallCases, NotCovered
from generator.checking.call_keys import key_of_call
from generator.making.sources import SourceReader
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular

MOST_KEPT = 4_000
"""So many calls stay in the cache, those that were made last."""
_LARGEST = 1 << 28
_MAKING = "generator.checking.making"
_MODULES = (_MAKING, "generator.spaces.declared_kinds", "specs.functions")


class KeptCalls:
    """The calls of the cache, of the code and the declarations of now."""

    def __init__(self) -> None:
        self._reader = SourceReader()
        self._code: str | None = None

    def find(self, call: ModelCall) -> CallCases | None:
        """What was made before of a call; None where it is not kept, or is not what was written."""
        path = self._path(call)
        if path is None:
            return None
        try:
            part = read_part(read_regular(path, _LARGEST))
            return _call_cases(call, part.facts, tuple(cases_in(part)))
        except Exception:  # noqa: BLE001 - whatever is in a file, it is made again
            return None

    def keep(self, made: CallCases) -> None:
        """Keep what was made of a call; a cache that cannot be written keeps nothing.

        What failed is not kept.
        """
        path = self._path(made.call)
        if path is None or (made.not_covered is not None and made.not_covered.why == "failed"):
            return
        assert made.call.operator is not None
        part = make_part(made.call.operator, made.cases, _facts(made))
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with scratch_folder("call", path.parent) as making:
                (making / path.name).write_bytes(part_bytes(part))
                (making / path.name).replace(path)

    def trim(self) -> None:
        """Remove the oldest of more calls than are kept."""
        with suppress(OSError):
            kept = [each for each in _folder().iterdir() if each.is_file()]
            for each in sorted(kept, key=lambda path: path.stat().st_mtime_ns, reverse=True)[MOST_KEPT:]:
                each.unlink()

    def _path(self, call: ModelCall) -> Path | None:
        operator = call.operator
        if operator is None:
            return None
        try:
            sources = self._sources(operator)
        except Exception:  # noqa: BLE001 - an operator without a spec: there is nothing to keep
            return None
        return _folder() / sha256(canonical_json([str(operator), key_of_call(call), sources]))

    def _sources(self, operator: OperatorName) -> list[str]:
        if self._code is None:
            files = self._reader.imported_files(_MODULES)
            self._code = sha256(b"\0".join(path.read_bytes() for path in files))
        return [self._reader.sources_of(operator).digest, self._code]


def _folder() -> Path:
    """Where calls are kept: beside the suites."""
    return suites_folder().with_name("calls")


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
