"""What a search found, as files and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.suite.values import element_to_json
from generator.asking.calls import Call
from generator.asking.calls_files import KeptCall, write_call
from generator.exploring.fuzzing.known_failures import KnownFailures
from generator.exploring.fuzzing.search import Find, FuzzResult
from generator.exploring.shrinking.judged_calls import case_of
from generator.exploring.shrinking.known_space import CallValidity
from generator.making.suites.found_calls import WORD
from opcert.vocabulary.harmless import for_shell
from opcert.vocabulary.names import CaseId
from opcert.vocabulary.tensors import Tensor

FEW = 24
"""So many elements of a tensor are printed."""


@dataclass(frozen=True, eq=False)
class Finds:
    """The finds of one operator on one runtime, and the folder for their calls.

    `specs` are the folders of specs that were named.
    """

    space: CallValidity
    runtime: str
    version: str
    seed: int
    folder: Path
    specs: tuple[Path, ...] = ()

    def keep(self, find: Find, replaced: Sequence[Find]) -> str:
        """Write a find's call into the folder, and take those out that it replaces; returns a sentence.

        Raises UserError where the call cannot be written.
        """
        attempt, failure = find.small.attempt, find.failure
        found: dict[str, Any] = {
            "runtime": self.runtime,
            "version": self.version,
            "seed": self.seed,
            "verdict": failure.verdict,
            "how": failure.how,
            "reason": failure.reason,
            "matters": [matter.to_json() for matter in find.matters],
        }
        if attempt.breaks is not None:
            found["breaks"] = attempt.breaks.id
        for each in replaced:
            self.path(each).unlink(missing_ok=True)
        path = self.path(find)
        write_call(
            KeptCall(
                self.space.spec.operator,
                attempt.call,
                attempt.made_from if attempt.breaks is not None else None,
                found=found,
            ),
            path,
        )
        return f"found {failure.verdict}: {failure.reason} ({path})"

    @property
    def suite_words(self) -> str:
        """The words that name the folder to other commands."""
        words = ["-s", str(self.folder), *(word for spec in self.specs for word in ("--specs", str(spec)))]
        return for_shell(words)

    def path(self, find: Find) -> Path:
        """The file of a find."""
        case = self.case_id(find)
        return self.folder / f"{case.operator.short}-{case.digest}.json"

    def case_id(self, find: Find) -> CaseId:
        """The id that the call has in the suite made of the folder."""
        case = case_of(self.space, find.small.attempt).id
        broken = find.small.attempt.breaks
        return CaseId(case.operator, case.family, WORD if broken is None else broken.id, case.digest)

    def describe(self, search: FuzzResult, known: KnownFailures | None = None) -> str:
        """The search in lines: what was tried, and each find with what matters and how to see it again.

        `known` are the failures that the suite shows of this runtime.
        """
        tried = ", ".join(f"{count} {word}" for word, count in sorted(search.tried.items()))
        lines = [f"{self.space.spec.operator} on {self.runtime} ({self.version}), seed {self.seed}:"]
        lines.append(
            f"  {search.drawn} calls drawn in {search.seconds:.1f} s; with those of shrinking: {tried}"
        )
        for number, find in enumerate(search.finds, 1):
            lines += ["", f"{number}. {find.failure.verdict}: {find.failure.reason}"]
            lines += [f"   {detail}" for detail in self._details(find)]
            lines += [] if known is None else [f"   {known.describe(find)}"]
        return "\n".join(lines)

    def _details(self, find: Find) -> list[str]:
        attempt = find.small.attempt
        told = call_lines(attempt.call)
        if attempt.breaks is not None:
            told.append(f"breaks {attempt.breaks.id}")
        told += [str(matter) for matter in find.matters if matter.decides]
        others = [f"{matter.name} = {matter.value}" for matter in find.matters if not matter.decides]
        told += [f"any other value does as well: {', '.join(others)}"] if others else []
        if not find.small.least:
            told.append("a smaller call may fail as well: the tries were used up")
        told.append(
            f"{find.calls} {'call' if find.calls == 1 else 'calls'} of this class; kept in {self.path(find)}"
        )
        told.append(f"to see it alone: opcert repro {self.case_id(find)} {self.suite_words}")
        return told


def call_lines(call: Call) -> list[str]:
    """A call in words, a line for each attribute and input."""
    lines = [f"{name} = {_plain(attribute.value)}" for name, attribute in sorted(call.attributes.items())]
    return lines + [f"{name}: {_tensor(tensor)}" for name, tensor in call.inputs if tensor is not None]


def _plain(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _tensor(given: Tensor) -> str:
    flat = given.array.reshape(-1)
    shown = " ".join(str(element_to_json(given.element_type, number)) for number in flat[:FEW])
    more = " ..." if flat.size > FEW else ""
    return f"{given.element_type} {list(given.shape)} = {shown or '(no elements)'}{more}"
