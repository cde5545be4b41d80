"""A genuine certificate to forge, and the tools of a forger who knows the formats and every digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

import numpy as np

from conformance.judging.judge import perturb
from conformance.recording.faults import FaultFinder, count_threads
from conformance.recording.records import read_record
from conformance.recording.rows import Result
from conformance.running.harness import run_suite
from conformance.running.run_options import RunOptions
from conformance.runtimes.runtimes import find_runtime
from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.kept_parts import keep_part
from conformance.suite.manifests import manifest_digest
from conformance.suite.suite_parts import make_part
from conformance.suite.suites import Suite, open_suite, write_suite
from generator.making.operators.workshop import Options
from generator.making.suites.lock import Lock, LockedVersion
from generator.making.suites.operator_cases import generate_operator
from opcert.commands.suite_standing import find_standing
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.tensors import tensor
from reports.certificates.badges import write_certificate_badge
from reports.certificates.certificate import Certificate, Recorded, make_certificate
from reports.certificates.certificate_files import write_certificate
from reports.certificates.certificate_page import write_certificate_page
from reports.certificates.verification import Evidence, Verification, verify_certificate
from reports.gates.profiles import Profile
from reports.results.case_results import put_together
from reports.results.standing import SuiteStanding, VersionTrust
from tests.conformance.samples import ECHO, echo_runtime, expect, make_case, sample
from tests.reports.certified import DAY, Certified, Row, make_key

SECOND = OperatorName.parse("org.example::Echo-2")
"""Another version of the operator, whose answers differ between forms: a fault."""
FAILING = ("ulp", "zero", "raise", "SIGSEGV", "twice", "text", "accepted")
PROFILE: dict[str, Any] = {
    "profile": "echo",
    "description": "what Echo must do",
    "operators": [str(ECHO)],
    "unsupported": "case",
    "waivers": [
        {
            "cases": "org.example/Echo-1",
            "conditions": {"do": each},
            "reason": "known",
            "link": "https://example.org/1",
            "expires": "2100-06-01",
        }
        for each in FAILING
    ],
}
FIGURES = {"made": 200, "equivalent": 10, "killed": 188, "score": 0.989, "cases": "0" * 64}
Answer = Literal["does not hold", "stated", "told", "no certificate", "another version"]


@dataclass(frozen=True)
class Forged(Certified):
    """A certificate that is being forged. `lock` is of the suite that opcert carries in these tests."""

    lock: Lock
    profile: dict[str, Any]

    def copied(self, folder: Path) -> Forged:
        return Forged(self.copy(folder).folder, self.lock, self.profile)

    def forge_rows(
        self,
        rows: Callable[[list[Row]], list[Row]] = lambda found: found,
        *,
        header: Callable[[Row], None] = lambda found: None,
        footer: Callable[[Row], None] = lambda found: None,
        certify: bool = True,
        **claims: Any,
    ) -> None:
        """Change the record, with counts, faults and digest that fit, and certify what it says then."""
        changed: list[Row] = []

        def change(found: list[Row]) -> list[Row]:
            changed.extend(rows(found))
            return changed

        def finish(last: Row) -> None:
            first = json.loads(self.record.read_text().splitlines()[0])
            header(first)
            finder = FaultFinder(count_threads(first))
            results = [Result.from_json(each) for each in changed]
            for case in dict.fromkeys(result.case for result in results):
                same = [result for result in results if result.case == case]
                for result in same:
                    finder.see(result)
                finder.compare(same)
            last["faults"] = finder.faults()
            footer(last)

        self.rewrite(change, finish, header)
        if certify:
            self.make(**claims)

    def make(
        self,
        *,
        profile: dict[str, Any] | None = None,
        standing: SuiteStanding | None = None,
        recorded: Recorded = "here",
        on: date = DAY,
        key: Path | None = None,
    ) -> Certificate:
        """Make certificate, badge and page anew; `standing` is what the forger says of the suite."""
        from reports.certificates.certificate_files import key_id, load_private_key

        with open_suite(self.suite) as suite:
            results = put_together(suite, read_record(self.record))
            results = replace(results, measured=known_of(suite))
            claimed = standing or find_standing(suite, self.lock)
            demanded = Profile.model_validate(self.profile if profile is None else profile)
            made = make_certificate(results, demanded, on, claimed, recorded)
        private = None if key is None else load_private_key(key)
        write_certificate(made, self.certificate, private)
        write_certificate_page(made, self.folder, key_id(private.public_key()) if private else None)
        write_certificate_badge(made, self.folder)
        return made

    def forge_suite(
        self,
        change: Callable[[list[Case]], Iterable[Case]] = lambda found: found,
        *,
        facts: Callable[[Row], None] = lambda found: None,
        options: Callable[[Row], None] = lambda found: None,
        manifest: Callable[[Row], None] | None = None,
    ) -> None:
        """Change the suite, and have the header of the record name it."""
        with open_suite(self.suite) as suite:
            cases, head = list(suite.cases()), json.loads(json.dumps(dict(suite.manifest)))
        facts(head["facts"])
        options(head["options"])
        digest = write_suite(self.suite, change(cases), head["facts"], head["options"])
        if manifest is not None:
            path = self.suite / "manifest.json"
            written = json.loads(path.read_text())
            manifest(written)
            digest = written["digest"] = manifest_digest(written)
            path.write_bytes(canonical_json(written) + b"\n")
        self.rewrite(header=lambda header: header.update(suite=digest))

    def claim_suite(self, claim: Callable[[dict[str, Any]], None]) -> None:
        """Certify, with something else stated of the suite."""
        self.make()
        self.restate(lambda statement: claim(statement["predicate"]["suite"]))

    def look(
        self, *, key: Path | None = None, on: date = DAY, profile: Profile | None = None
    ) -> Verification:
        """What `verify` answers; raises UserError where there is no certificate at all."""
        from reports.certificates.certificate_files import load_public_key, read_certificate

        public = None if key is None else load_public_key(key)
        read = read_certificate(self.certificate)
        with open_suite(self.suite) as suite:
            standing = find_standing(suite, self.lock)
            record, broken = None, []
            try:
                record = read_record(self.record)
            except Exception as error:  # noqa: BLE001 - as the command has it
                broken.append(f"the record cannot be used: {error}")
            evidence = Evidence(
                record,
                suite,
                public,
                standing,
                on,
                broken=tuple(broken),
                profile=profile,
                measured=known_of(suite),
            )
            return verify_certificate(read, evidence)


@dataclass(frozen=True)
class Forgery:
    """One way to forge: what it is, what `verify` must answer, and words of it.

    `real` says whether the record of a real runtime, of calls that were generated, can be forged so as well.
    """

    forge: Callable[[Forged], None]
    answer: Answer
    says: str
    with_key: bool = False
    with_profile: bool = False
    real: bool = True

    @property
    def name(self) -> str:
        return self.forge.__name__

    @property
    def what(self) -> str:
        return " ".join((self.forge.__doc__ or "").split())


def bare(row: Row, **more: Any) -> Row:
    """A row with what it is about, and nothing of what came of it."""
    names = (
        "case",
        "operator",
        "family",
        "element_type",
        "form",
        "repeat",
        "seconds",
        "levels",
        "constraint",
    )
    kept = {name: row[name] for name in names if name in row}
    found: Row = json.loads(Result.from_json({**kept, **more}).to_line())
    return found


def each_failing(change: Callable[[Row], Row]) -> Callable[[list[Row]], list[Row]]:
    """Change the rows that are mismatches; what is left is as it was."""
    return lambda rows: [change(row) if row["verdict"] == "mismatch" else row for row in rows]


def known_of(suite: Suite) -> dict[OperatorName, VersionTrust]:
    """What opcert carries as measured of the operators of a suite, in these tests."""
    adequacy = {"mutants": FIGURES, "cases": FIGURES["cases"]}
    return {CaseId.parse(case_id).operator: VersionTrust("reviewed", adequacy) for case_id in suite.case_ids}


def lock_of(suite: Suite) -> Lock:
    """A lock that carries a suite; nothing of it has a reference, and the cache keeps its parts."""
    versions = {}
    for operator in suite.part_digests():
        cases = [each for each in suite.cases() if each.operator == operator]
        part = make_part(operator, cases, suite.facts["operators"][str(operator)])
        keep_part(part, part.digest)
        versions[str(operator)] = LockedVersion(part.digest, len(part.entries))
    return Lock(suite.digest, suite.manifest["options"], versions)


def echo_cases() -> list[Case]:
    """Calls with every verdict and every kind of row, few enough to be run in a second."""
    echo = make_case("echo")
    cases = [
        echo,
        *(make_case(do) for do in ("ulp", "zero", "raise", "unsupported", "SIGSEGV", "twice", "text")),
    ]
    cases.append(make_case("zero", given=sample(1, (40, 40)), seed=9))
    cases.append(make_case("raise", seed=30, family="invalid", demand="refuse", valid_case=echo))
    accepted = make_case("echo", seed=32, family="invalid", demand="refuse", valid_case=echo)
    cases.append(replace(accepted, levels={"do": "accepted"}))
    cases.append(make_case("echo", seed=31, family="survival", demand="survive"))
    cases.append(make_case("echo", seed=33, given=tensor(np.arange(6, dtype=np.int32).reshape(2, 3))))
    left = sample(34)
    both = (expect(left, side="left"), expect(tensor(-left.array), side="right"))
    cases.append(make_case("echo", seed=34, given=left, expectations=both))
    cases.append(make_case("differs_by_form", seed=35, operator=SECOND))
    return cases


def make_genuine(
    folder: Path, cases: list[Case], runtime: str, profile: dict[str, Any], forms: str
) -> Forged:
    """Run the cases, and certify them as the suite that opcert carries."""
    operators = sorted({str(each.operator) for each in cases})
    coverage = {"strength": 2, "feasible": 9, "covered": 8, "uncovered": []}
    facts = {"operators": {operator: {"coverage": coverage} for operator in operators}}
    options = {"size": "default", "strength": 2, "operators": operators}
    write_suite(folder / "suite", cases, facts, options)
    with open_suite(folder / "suite") as suite:
        made = Forged(folder, lock_of(suite), profile)
        run_suite(suite, find_runtime(runtime), made.record, RunOptions(forms=forms, repeat=2, identify=True))
    make_key(made.key, made.public_key)
    made.make()
    return made


def make_fake(folder: Path) -> Forged:
    """A run of the fake runtime, that takes floats alone, in two forms, each case twice."""
    return make_genuine(folder, echo_cases(), echo_runtime("floats"), PROFILE, "inputs,dynamic")


def make_real(folder: Path, runtime: str) -> Forged:
    """A run of a real runtime on some generated cases of each verdict, in two forms.

    Of a few that it answers as it must something else is expected, so that there are wrong answers.
    """
    operator = OperatorName.parse("ai.onnx::CenterCropPad-18")
    cases = {str(each.id): each for each in generate_operator(operator, Options(size="small")).cases}
    write_suite(folder / "all", cases.values(), {"operators": {}}, {})
    with open_suite(folder / "all") as suite:
        record = run_suite(suite, find_runtime(runtime), folder / "all.jsonl")
    chosen: dict[str, list[str]] = {}
    for row in record.results:
        chosen.setdefault(row.verdict, []).append(row.case)
    right = [each for each in chosen["pass"] if _is_plain(cases[each])]
    wanted = {case for each in (*chosen.values(), right) for case in each[:12]}
    for each in right[:6]:
        cases[each] = _expect_otherwise(cases[each])
    profile = {
        "profile": "real",
        "description": "what a real runtime must do",
        "operators": [str(operator)],
        "unsupported": "case",
        "waivers": [
            {
                "cases": "ai.onnx/CenterCropPad-18",
                "reason": "known",
                "link": "https://example.org/1",
                "expires": "2100-06-01",
            }
        ],
    }
    kept = [case for name, case in cases.items() if name in wanted]
    return make_genuine(folder / "made", kept, runtime, profile, "inputs,initializers")


def _is_plain(case: Case) -> bool:
    """Whether a case must be answered with the floats of one output."""
    outputs = [output for expectation in case.expectations for output in expectation.outputs]
    return len(outputs) == 1 and case.element_type.name == "float" and outputs[0].expected.array.size > 0


def _expect_otherwise(case: Case) -> Case:
    (expectation,) = case.expectations
    (output,) = expectation.outputs
    wrong = replace(output, expected=perturb(output.expected))
    return replace(case, expectations=(replace(expectation, outputs=(wrong,)),))


def digest_entry(shape: list[int], element_type: str = "float", raw: bytes = b"") -> Row:
    size = 4
    with suppress(OverflowError):
        size = 4 * int(np.prod(shape, dtype=object))
    return {"element_type": element_type, "shape": shape, "sha256": sha256(raw), "bytes": size}
