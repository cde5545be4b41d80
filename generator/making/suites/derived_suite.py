"""A suite whose cases expect what programs may answer that compute float in less than float32."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from conformance.suite.canonical import canonical_json, sha256
from conformance.suite.cases import Case
from conformance.suite.kept_parts import keep_part, one_maker
from conformance.suite.kept_suites import suite_made_of
from conformance.suite.suite_parts import FORMAT, SuitePart, cases_in, make_part
from conformance.suite.suites import Suite, open_suite, write_suite_of_parts
from generator.asking.other_arithmetics import NoBound, in_arithmetic
from generator.making.operators.discovery import load_rules
from generator.making.suites.cache import PROCESSES
from generator.making.suites.part_making import find_part
from generator.making.suites.suite_making import Progress
from opcert.vocabulary.arithmetics import Arithmetic
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.file_digests import project_digest
from opcert.vocabulary.names import CaseId, OperatorName
from opcert.vocabulary.process_pools import broken_off, process_pool
from reference.registry import reference_of

NO_BOUND = "no_bound"
"""The fact of an operator that says why cases are left out, and how many: by reason."""


def derived_suite(
    suite: Suite, arithmetic: Arithmetic, progress: Progress, folders: Sequence[Path] = ()
) -> Path:
    """The folder of a suite's cases for an arithmetic, in the user's cache; derived where it is not kept.

    The calls are the same, with the same ids. Cases of which nobody can say what may come out are left out,
    with those that were made from them, and counted by reason among the facts of their operator. Raises
    UserError where the suite is of an arithmetic already, or its operators have no reference here.
    """
    said = suite.manifest.get("options") or {}
    if said.get("arithmetic") is not None:
        raise UserError(
            "the suite is derived for an arithmetic already",
            got=str(said["arithmetic"]),
            expected="the suite that it was derived from",
        )
    sources = canonical_json([FORMAT, suite.digest, str(arithmetic), project_digest()]).decode()
    told = f"deriving what may come out of {len(suite.case_ids)} cases with {arithmetic.words}"
    what = f"the suite for {arithmetic}"
    write = partial(_write, suite, arithmetic, folders)
    path = suite_made_of(sources, what, told, progress, write)[0]
    with open_suite(path) as made:
        known = [fact.get(NO_BOUND) or {} for fact in made.facts["operators"].values()]
    if left_out := sum(sum(reasons.values()) for reasons in known):
        are = "case is" if left_out == 1 else "cases are"
        progress(f"{left_out} {are} left out: nothing is derived of what may come out of them")
    return path


def _write(suite: Suite, arithmetic: Arithmetic, folders: Sequence[Path], path: Path) -> str:
    by_operator: dict[OperatorName, list[str]] = {}
    for case_id in suite.case_ids:
        by_operator.setdefault(CaseId.parse(case_id).operator, []).append(case_id)
    facts = suite.facts.get("operators") or {}
    parts: list[SuitePart] = []
    jobs: dict[OperatorName, Future[SuitePart]] = {}
    with ExitStack() as stack:
        pool = None
        if PROCESSES > 1 and len(by_operator) > 1:
            told = partial(broken_off, jobs)
            pool = stack.enter_context(process_pool(PROCESSES, "deriving the cases of", told))
        for operator, own in by_operator.items():
            golden = b"".join(map(suite.golden, own))
            part = SuitePart(operator, golden, tuple(map(suite.entry, own)), facts.get(str(operator)) or {})
            if pool is None:
                parts.append(derived_part(part, arithmetic, folders))
            else:
                jobs[operator] = pool.submit(derived_part, part, arithmetic, tuple(folders))
        parts += [job.result() for job in jobs.values()]
    options = {**suite.manifest["options"], "arithmetic": str(arithmetic), "derived_from": suite.digest}
    told_facts = {**suite.facts, "operators": {str(part.operator): part.facts for part in parts}}
    return write_suite_of_parts(path, parts, told_facts, options, suite.known_entries())


def derived_part(part: SuitePart, arithmetic: Arithmetic, folders: Sequence[Path] = ()) -> SuitePart:
    """An operator's part for an arithmetic, taken from the user's cache where it is kept."""
    key = sha256(canonical_json([FORMAT, part.digest, str(arithmetic), project_digest()]))
    with one_maker(part.operator, key):
        kept, _ = find_part(part.operator, key)
        if kept is not None:
            return kept
        found, reasons = derived_cases(part.operator, list(cases_in(part)), arithmetic, folders)
        facts = {**part.facts, NO_BOUND: reasons} if reasons else part.facts
        made = make_part(part.operator, found, facts)
        keep_part(made, key)
    return made


def derived_cases(
    operator: OperatorName, cases: Sequence[Case], arithmetic: Arithmetic, folders: Sequence[Path] = ()
) -> tuple[list[Case], dict[str, int]]:
    """An operator's cases for an arithmetic, and how many are left out, by reason."""
    spec = load_rules(operator, folders)
    reference = reference_of(spec)
    found, left_out, reasons = list[Case](), set[str](), Counter[str]()
    for case in cases:
        try:
            found.append(in_arithmetic(spec, reference, case, arithmetic))
        except NoBound as error:
            left_out.add(str(case.id))
            reasons[error.problem] += 1
    return [case for case in found if case.valid_case not in left_out], dict(sorted(reasons.items()))
