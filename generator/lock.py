"""`specs/suite.lock`: the digests of the default suite, and of everything that it was made from."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import conformance
import generator
import opcert
import reference
import specs
from conformance.canonical import canonical_json, sha256
from opcert.errors import Place, UserError
from opcert.names import OperatorName
from reference.registry import find_operator
from specs.library import REGRESSIONS, find_spec_folder

FORMAT = "opcert-lock/1"
LOCK_FILE = Path(specs.__file__).parent / "suite.lock"
_DIGITS = 16


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
        cases[f"{domain}::{name}"][rest] = str(entry["expectation"])[:_DIGITS]
    for text, facts in manifest["facts"]["operators"].items():
        operator = OperatorName.parse(text)
        operators[text] = OperatorLock(
            specs=_spec_digests(operator),
            reference=_digest_of(_reference_files(operator)),
            facts=sha256(canonical_json(facts)),
            cases=cases[text],
            ambiguity=facts["ambiguity"],
        )
    return Lock(str(manifest["digest"]), manifest["options"], _digest_of(_generating_files()), operators)


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


def _spec_digests(operator: OperatorName) -> dict[str, str]:
    folder = find_spec_folder(operator)
    files = sorted([*folder.glob("*.yaml"), *folder.glob(f"{REGRESSIONS}/*.json")])
    return {path.relative_to(folder).as_posix(): _digest_of([path]) for path in files}


def _reference_files(operator: OperatorName) -> list[Path]:
    """The operator's own module and everything in reference/ that the operators share."""
    own = Path(inspect.getsourcefile(find_operator(operator).function) or reference.__file__)
    return sorted({own, *_package(reference).glob("*.py")})


def _generating_files() -> list[Path]:
    shared = [_package(opcert) / f"{name}.py" for name in ("attributes", "element_types", "names", "tensors")]
    written = [_package(conformance) / f"{name}.py" for name in ("canonical", "cases", "goldens", "suites")]
    return [*sorted(_package(generator).rglob("*.py")), *shared, *written]


def sources_digest(folders: Iterable[Path] = ()) -> str:
    """A digest of all that the default suite is made from: specs, adequacy, reference, generating code.

    With folders of specs, of all that the suite of their operators is made from.
    """
    folder = _package(specs)
    facts = [*folder.rglob("*.yaml"), *folder.rglob("*.json"), *folder.glob("*.py")]
    own = [path for each in folders for path in each.rglob("*") if path.suffix in (".yaml", ".json", ".py")]
    shipped = [*sorted(_package(reference).rglob("*.py")), *sorted(facts)]
    return _digest_of([*_generating_files(), *shipped, *sorted(own)])


def _package(module: Any) -> Path:
    return Path(module.__file__).parent


def _digest_of(files: Iterable[Path]) -> str:
    """A digest of files' contents, whatever the line ends of the checkout."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0")
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:_DIGITS]
