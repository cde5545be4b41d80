"""What experiments asked of a runtime before, and what they came to, in the user's cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from conformance.judging.kept_diagnosis import Diagnosis, EntryTrial, TriedCall
from conformance.recording.records import Record
from conformance.runtimes.runtimes import Runtime, environment_state
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.store import KeptWork
from opcert.vocabulary.strict_json import read_plain

MOST_DIAGNOSES = 8
"""Of so many sets of failing cases the diagnosis is kept; of all of them every call."""
_LIMITS = ("timeout", "start_timeout", "memory", "network")
_EARLIER = "earlier"
"""What `stopped` says of calls without a diagnosis."""


@dataclass(frozen=True)
class _Kept:
    """The libraries that were loaded, by their digests; the calls, the trials of entries, and the diagnoses
    without these, each with the key of its cases."""

    seconds: float
    loaded: Mapping[str, str]
    calls: tuple[TriedCall, ...]
    trials: tuple[EntryTrial, ...]
    diagnoses: tuple[tuple[str, Diagnosis], ...]


class KeptExperiments:
    """Experiments on the same build of a runtime behind earlier runs of the same suite.

    It is the same build where opcert made its environment, no file of that has changed (`environment_state`),
    and each library that was loaded in both runs has one digest: a runtime that somebody is working on has no
    such environment, and is asked again each time.
    Other limits on time and memory are another key.
    """

    def __init__(self, runtime: Runtime, record: Record) -> None:
        footer = record.footer or {}
        self._loaded = {str(each["file"]): str(each["sha256"]) for each in footer.get("loaded") or ()}
        self._key: str | None = None
        self._work = KeptWork("experiments")
        state = environment_state(runtime) if self._loaded else None
        if state is not None:
            header = record.header
            limits = {name: each for name, each in (header.get("options") or {}).items() if name in _LIMITS}
            stated = ("suite", "runtime", "platform", "confinement")
            self._key = self._work.key([limits, state, *map(header.get, stated)])
        self._kept = self._read() or _Kept(0.0, {}, (), (), ())

    @property
    def trials(self) -> tuple[EntryTrial, ...]:
        """What became of entries that may be about wrong answers."""
        return self._kept.trials

    def diagnosis(self, wrong: Sequence[Case], told: Sequence[Sequence[Case]]) -> Diagnosis | None:
        """What was found of the same failing cases; None where that was never asked."""
        found = dict(self._kept.diagnoses).get(_key_of(wrong, told))
        return None if found is None else replace(found, calls=self._kept.calls, trials=self._kept.trials)

    def calls(self) -> Diagnosis | None:
        """The calls of before without what they say, those shown, and the seconds; None without any."""
        if not self._kept.diagnoses:
            return None
        smaller = {
            (each.case, each.cause): each for _, found in self._kept.diagnoses for each in found.smaller
        }
        return Diagnosis(
            (), (), (), self._kept.seconds, _EARLIER, self._kept.calls, smaller=tuple(smaller.values())
        )

    def keep(self, found: Diagnosis, wrong: Sequence[Case], told: Sequence[Sequence[Case]]) -> None:
        """Keep a diagnosis of failing cases, its calls and its trials, those of before among them."""
        if self._key is not None:
            asked = _key_of(wrong, told)
            others = [each for each in self._kept.diagnoses if each[0] != asked]
            latest = [*others, (asked, found)][-MOST_DIAGNOSES:]
            plain = tuple((name, replace(each, calls=(), trials=())) for name, each in latest)
            kept = _Kept(found.seconds, self._loaded, found.calls, found.trials, plain)
            self._work.keep(self._key, asdict(kept))

    def _read(self) -> _Kept | None:
        if self._key is not None:
            with suppress(ValueError):
                kept = read_plain(_Kept, self._work.find(self._key))
                # Which libraries a process has loaded hangs on the cases that it has met.
                if all(self._loaded.get(name, digest) == digest for name, digest in kept.loaded.items()):
                    return kept
        return None


def _key_of(wrong: Sequence[Case], told: Sequence[Sequence[Case]]) -> str:
    """Of the failing cases that are asked about."""
    return sha256(canonical_json([[str(each.id) for each in cases] for cases in (wrong, *told)]))
