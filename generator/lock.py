"""`specs/suite.lock`: the digests of the default suite, and of everything that it was made from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import specs
from conformance.canonical import canonical_json, sha256
from generator.sources import DIGITS, digest_of, generating_files, reference_files, spec_files
from opcert.errors import Place, UserError
from opcert.names import OperatorName

FORMAT = "opcert-lock/1"
LOCK_FILE = Path(specs.__file__).parent / "suite.lock"


@dataclass(frozen=True)
class OperatorLock:
    """One operator: digests of its spec files, of its reference, of its facts, and of each case.

    `ambiguity` counts elements, and those with several accepted results, as the facts do.
    """

    specs: Mapping[str, str]
    reference: str
    facts: str
    cases: Mapping[str, str]
    ambiguity: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Lock:
    """The default suite: its digest, its options, the digest of the generating code, and its operators."""

    digest: str
    options: Mapping[str, Any]
    generator: str
    operators: Mapping[str, OperatorLock] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One difference between a lock and a suite: what changed, how, and the causes that may explain it."""

    subject: str
    how: str
    causes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.how}: {self.subject} ({', '.join(self.causes) or 'no cause found'})"


def lock_of(manifest: Mapping[str, Any]) -> Lock:
    """The lock of a suite that was just generated from the files that are there now."""
    operators: dict[str, OperatorLock] = {}
    cases: dict[str, dict[str, str]] = {name: {} for name in manifest["facts"]["operators"]}
    for entry in manifest["cases"]:
        domain, name, rest = str(entry["id"]).split("/", 2)
        cases[f"{domain}::{name}"][rest] = str(entry["expectation"])[:DIGITS]
    for text, facts in manifest["facts"]["operators"].items():
        operator = OperatorName.parse(text)
        operators[text] = OperatorLock(
            specs={name: digest_of([path]) for name, path in spec_files(operator).items()},
            reference=digest_of(reference_files(operator)),
            facts=sha256(canonical_json(facts)),
            cases=cases[text],
            ambiguity=facts["ambiguity"],
        )
    return Lock(str(manifest["digest"]), manifest["options"], digest_of(generating_files()), operators)


def read_lock(path: Path = LOCK_FILE) -> Lock:
    """The committed lock; raises UserError where it is missing or damaged."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw.pop("format") != FORMAT:
            raise ValueError("not of this format")
        operators = {name: OperatorLock(**each) for name, each in raw.pop("operators").items()}
        return Lock(**raw, operators=operators)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(
            "the lock of the default suite cannot be read",
            got=str(error),
            expected=FORMAT,
            where=Place(str(path)),
            remedy="Write it with `opcert generate --update`.",
        ) from error


def write_lock(lock: Lock, path: Path = LOCK_FILE) -> None:
    """Write a lock, one line for each case, so that a diff shows the cases that changed."""
    plain = {
        "format": FORMAT,
        "digest": lock.digest,
        "options": dict(lock.options),
        "generator": lock.generator,
        "operators": {
            name: {
                "specs": dict(each.specs),
                "reference": each.reference,
                "facts": each.facts,
                "ambiguity": dict(each.ambiguity),
                "cases": dict(each.cases),
            }
            for name, each in lock.operators.items()
        },
    }
    path.write_text(json.dumps(plain, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")


def compare(old: Lock, new: Lock, operators: Iterable[str] | None = None) -> list[Change]:
    """What differs between the lock and the suite of now, for all operators or the given ones."""
    general = []
    if old.generator != new.generator:
        general.append("generator code")
    if operators is None and old.options != new.options:
        general.append("generator option")
    names = sorted(set(old.operators) | set(new.operators)) if operators is None else sorted(operators)
    changes: list[Change] = []
    for name in names:
        changes.extend(_compare_operator(name, old.operators.get(name), new.operators.get(name), general))
    if operators is None and not changes and old.digest != new.digest:
        changes.append(Change("the suite", "changed", tuple(general)))
    return changes


def _compare_operator(
    name: str, old: OperatorLock | None, new: OperatorLock | None, general: list[str]
) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(name, "new operator" if old is None else "gone operator", tuple(general))
        return
    causes = [
        f"spec fact: {file}"
        for file in sorted({*old.specs, *new.specs})
        if old.specs.get(file) != new.specs.get(file)
    ]
    if old.reference != new.reference:
        causes.append("reference code")
    causes += general
    path = OperatorName.parse(name).path
    for case in sorted({*old.cases, *new.cases}):
        before, after = old.cases.get(case), new.cases.get(case)
        if before != after:
            how = "new case" if before is None else "gone case" if after is None else "changed expectation"
            yield Change(f"{path}/{case}", how, tuple(causes))
    if old.facts != new.facts:
        yield Change(name, "changed facts", tuple(causes))
