"""Certificates: in-toto statements over a suite, a runtime and the record of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from conformance.judging.verdicts import HARNESS_ERROR, NOT_JUDGED, NOT_RUN, REJECTED_VALID
from conformance.recording.rows import Result
from conformance.suite.canonical import canonical_json, plain, sha256
from opcert.vocabulary.errors import NothingRan, Place, UserError, unreadable
from opcert.vocabulary.file_digests import digest_of
from opcert.vocabulary.names import OperatorName
from reports.causes.followed_readings import fault_text, find_readings
from reports.causes.kept_findings import as_judged
from reports.gates.profile_evaluation import ProfileResult, evaluate
from reports.gates.profiles import Profile
from reports.overview.headline import runtime_label
from reports.overview.untested import find_untested
from reports.results.adequacy import WHY_BELIEVE, trust_of, unreviewed, verified_by
from reports.results.case_results import Results, summed_counts
from reports.results.standing import OWN, SuiteStanding
from reports.results.told_facts import items, mapping, text
from reports.text.phrasing import count, listed, parse_moment, plural
from reports.text.value_text import in_type_order

_EXAMPLES = 3


@dataclass(frozen=True)
class Believed:
    """Rows of one kind: `what` is said of them in words, `against` whether they speak against the runtime."""

    kind: str
    what: str
    against: bool
    rows: int
    examples: tuple[str, ...]

    @property
    def text(self) -> str:
        """One sentence."""
        return f"{plural(self.rows, 'row')} {self.what}, such as {self.examples[0]}"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "says": self.text, "rows": self.rows, "examples": list(self.examples)}


@dataclass(frozen=True)
class _Kind:
    name: str
    what: str
    against: bool
    holds: Callable[[Result], bool]


def _by_digest(row: Result) -> bool:
    return any(
        isinstance(output, dict) and "sha256" in output and "file" not in output and "data" not in output
        for output in row.outputs
    )


_KINDS: Sequence[_Kind] = (
    _Kind(
        "digests", "whose outputs are too large to be kept: their digests alone are there", False, _by_digest
    ),
    _Kind(
        "not offered",
        "not sent, because the runtime's worker had said that it does not offer this",
        False,
        lambda row: row.response == "not offered",
    ),
    _Kind(
        "unsupported",
        "that count as unsupported, by the error that the worker reported",
        False,
        lambda row: row.response == "refused" and row.verdict == "unsupported",
    ),
    _Kind(
        "refused",
        "of calls that must be refused, and were by the error that the worker reported",
        False,
        lambda row: row.response == "refused" and row.verdict == "pass",
    ),
    _Kind(
        "survived",
        "of calls that nothing is demanded of but survival, and that the worker survived",
        False,
        lambda row: row.verdict == "observed",
    ),
    _Kind(
        "rejected",
        "in which the runtime refused a valid call, by the error that the worker reported",
        True,
        lambda row: row.verdict == REJECTED_VALID,
    ),
    _Kind("crashed", "in which the worker was lost", True, lambda row: row.response == "crashed"),
    _Kind("timed out", "in which the worker did not answer", True, lambda row: row.response == "timed out"),
)


_READABLE = _Kind(
    "expected",
    "answered by a worker that could have read the expected outputs",
    False,
    lambda row: row.response == "answered",
)
"""Of all that were answered, where the system could not keep workers from the files of the suite."""
_AS_FILES = _Kind(
    "files",
    "whose outputs came as files: that the device computed them, from these inputs and unseen by what is "
    "expected, is not shown",
    False,
    lambda row: row.response == "answered",
)
"""Of all that were answered, where a record was made of a folder of outputs."""


def find_believed(results: Results) -> tuple[Believed, ...]:
    """What is believed of a record's rows, the kinds that speak for the runtime first; none of no rows."""
    header = results.record.header
    kinds = list(_KINDS)
    if text(mapping(header.get("runtime")).get("source")).startswith("files:"):
        kinds.insert(0, _AS_FILES)
    elif mapping(header.get("confinement")).get("expected") == "could be read":
        kinds.insert(0, _READABLE)
    rows: Counter[str] = Counter()
    examples: dict[str, dict[str, None]] = {kind.name: {} for kind in kinds}
    for row in results.record.results:
        for kind in kinds:
            if kind.holds(row):
                rows[kind.name] += 1
                if len(examples[kind.name]) < _EXAMPLES:
                    examples[kind.name][row.case] = None
    return tuple(
        Believed(kind.name, kind.what, kind.against, rows[kind.name], tuple(examples[kind.name]))
        for kind in kinds
        if rows[kind.name]
    )


STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:opcert:conformance:v1"
"""Of our own: in-toto's test-result with more fields, and `NOT_DEMANDED` where no profile was asked for."""


Recorded = Literal["here", "elsewhere"]
"""Whether the process that certifies ran the suite itself, or was given the record of a run."""


@dataclass(frozen=True)
class Certificate:
    """A statement, what it says of the profile (None where none was demanded), and whose the suite is."""

    statement: dict[str, Any]
    profile: ProfileResult | None
    standing: SuiteStanding = OWN

    @property
    def holds(self) -> bool:
        """Whether what was demanded is met; true where nothing was."""
        return self.profile is None or self.profile.met

    @property
    def digest(self) -> str:
        found: str = self.statement["predicate"]["digest"]["sha256"]
        return found


def make_certificate(
    results: Results,
    profile: Profile | None = None,
    on: date | None = None,
    standing: SuiteStanding = OWN,
    recorded: Recorded = "here",
) -> Certificate:
    """State what a run shows; `on` is the day on which waivers must not have expired (default: today).

    `standing` says whose the suite is, `recorded` who saw the run. Raises NothingRan where no case ran,
    UserError where the run is not one that can be certified (with every reason), or where its record cannot
    be read.
    """
    if sum(results.counts[each] for each in NOT_JUDGED) == len(results.cases):
        raise NothingRan("there is nothing to certify: no case ran", got=runtime_label(results.record))
    obstacles = _list_obstacles(results)
    if obstacles:
        raise UserError(
            "no certificate can be made of this run",
            got="; ".join(obstacles),
            expected="the whole record of a whole suite",
            where=Place(str(results.record.path)),
        )
    results = as_judged(results)
    day = on or datetime.now(UTC).date()
    evaluated = evaluate(profile, results, day, standing) if profile is not None else None
    predicate = _predicate(results, evaluated, day, standing, recorded)
    statement: dict[str, Any] = {
        "_type": STATEMENT_TYPE,
        "subject": _subjects(results),
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }
    statement = plain(statement)
    statement["predicate"]["digest"] = {"sha256": statement_digest(statement)}
    return Certificate(statement, evaluated, standing)


def _list_obstacles(results: Results) -> list[str]:
    """Every reason why no certificate can be made of a run; none where one can."""
    header, footer = results.record.header, results.record.footer
    options = mapping(header.get("options"))
    found = []
    if footer is None:
        found.append("the record is partial: it has no footer, so the run did not come to its end")
    elif footer.get("stopped"):
        found.append(f"the run ended early: {text(mapping(footer['stopped']).get('reason'))}")
    if options.get("pattern") is not None:
        found.append(f"the run was filtered with -k {options['pattern']!r}")
    if options.get("shard") is not None:
        found.append(f"the record is of the shard {options['shard']} alone")
    missing = items(mapping(header.get("merged")).get("missing"))
    if missing:
        found.append(f"the record was merged without the shards {listed([text(each) for each in missing])}")
    counts = results.counts
    if counts[NOT_RUN]:
        found.append(
            f"{count(counts[NOT_RUN])} of {plural(len(results.cases), 'case')} of the suite did not run"
        )
    if counts[HARNESS_ERROR]:
        who = "the worker" if results.record.failed_by_worker else "opcert"
        found.append(f"{who} itself failed on {plural(counts[HARNESS_ERROR], 'case')}")
    return found


def statement_digest(statement: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a statement without its own digest."""
    predicate = {name: each for name, each in statement["predicate"].items() if name != "digest"}
    return sha256(canonical_json({**statement, "predicate": predicate}))


def _subjects(results: Results) -> list[dict[str, Any]]:
    loaded = (results.record.footer or {}).get("loaded")
    identity = sha256(canonical_json([results.record.header.get("runtime"), loaded]))
    return [
        {"name": f"runtime {runtime_label(results.record)}", "digest": {"sha256": identity}},
        {"name": "suite", "digest": {"sha256": results.suite.digest}},
        {"name": results.record.path.name, "digest": {"sha256": file_digest(results.record.path)}},
    ]


def file_digest(path: Path) -> str:
    """SHA-256 of a file; raises UserError where it cannot be read."""
    try:
        return digest_of(path)
    except OSError as error:
        raise unreadable("the file", path, error) from error


def _predicate(
    results: Results, evaluated: ProfileResult | None, day: date, standing: SuiteStanding, recorded: Recorded
) -> dict[str, Any]:
    passed = [str(result.id) for result in results.cases if result.verdict == "pass"]
    failed = [str(result.id) for result in results.cases if result.fails]
    footer = results.record.footer or {}
    finished = text(footer.get("finished"))
    processor = results.record.header.get("processor")
    return {
        "result": "NOT_DEMANDED" if evaluated is None else "PASSED" if evaluated.met else "FAILED",
        "configuration": [{"name": "suite", "digest": {"sha256": results.suite.digest}}],
        "passedTests": passed,
        "warnedTests": [],
        "failedTests": failed,
        "verifier": {"name": "opcert", "version": version("opcert")},
        "issued": day.isoformat(),
        "run": {
            "started": text(results.record.header.get("started")),
            "finished": finished if parse_moment(finished) else None,
            "complete": results.complete,
            "platform": results.record.header.get("platform"),
            **({"processor": processor} if processor is not None else {}),
            "options": results.record.header.get("options"),
            "recorded": recorded,
        },
        "suite": standing.to_json(),
        "runtime": results.record.header.get("runtime"),
        "loaded": footer.get("loaded"),
        "counts": summed_counts(results.cases),
        "operators": [_operator(results, operator, standing) for operator in results.by_operator],
        "faults": [fault_text(fault) for fault in results.record.faults],
        "profile": None if evaluated is None else _profile(evaluated),
        "notTested": [
            *([] if standing.left_out is None else [standing.left_out]),
            *filter(None, [unreviewed(results) if standing.is_released else None]),
            *(untested.text for untested in find_untested(results)),
        ],
        "believed": [believed.to_json() for believed in find_believed(results)],
        "verified": {
            "page": WHY_BELIEVE,
            "says": list(verified_by(results)) if standing.is_released else [standing.figures],
        },
    }


def _operator(results: Results, operator: OperatorName, standing: SuiteStanding) -> dict[str, Any]:
    """What holds and what does not, for one operator version.

    Figures of what the suite reaches are stated of the released one alone: they are of its cases.
    """
    bound = standing.is_released
    cases = results.by_operator[operator]
    counts = summed_counts(cases)
    failing = [result for result in cases if result.fails]
    types = in_type_order(result.element_type for result in cases)
    return {
        "operator": str(operator),
        "holds": not failing and counts["pass"] > 0,
        "counts": counts,
        "elementTypes": {
            each: summed_counts(tuple(case for case in cases if case.element_type == each)) for each in types
        },
        "coverage": coverage_of(results, operator) if bound else None,
        "adequacy": adequacy_of(results, operator) if bound else None,
        "trust": trust_of(results, operator) if bound else None,
        "failing": [{"case": str(result.id), "verdict": result.verdict} for result in failing],
        "readings": [
            {
                "id": reading.id,
                "kind": reading.kind,
                "followed": {name: number for name, number in reading.told.items() if number},
                "either": reading.either,
                "consistent": not reading.faults
                and sum(1 for number in reading.told.values() if number) <= 1,
            }
            for reading in find_readings(results, operator)
        ],
    }


def coverage_of(results: Results, operator: OperatorName) -> dict[str, Any] | None:
    """How many feasible combinations of levels the suite has; None where it does not say."""
    coverage = mapping(results.operator_facts(operator).get("coverage"))
    names = ("strength", "feasible", "covered")
    return {name: coverage[name] for name in names} if coverage.keys() >= set(names) else None


def adequacy_of(results: Results, operator: OperatorName) -> dict[str, Any] | None:
    """How many planted faults cases find, and the digest of the cases that this was measured of.

    None where nobody measured it.
    """
    found = results.measured.get(operator)
    if found is None or not isinstance(found.adequacy.get("mutants"), Mapping):
        return None
    return {**found.adequacy["mutants"], "cases": found.adequacy.get("cases")}


def _profile(evaluated: ProfileResult) -> dict[str, Any]:
    is_restricted = evaluated.profile.restriction != "none"
    return {
        "name": evaluated.profile.profile,
        "demands": evaluated.profile.model_dump(
            mode="json", exclude={"waivers"} if is_restricted else {"waivers", "restriction"}
        ),
        "met": evaluated.met,
        "reasons": list(evaluated.reasons),
        "demandedCases": evaluated.demanded,
        **({"leftOut": _left_out(evaluated)} if is_restricted else {}),
        "waivers": [
            {
                **waiver.waiver.model_dump(mode="json"),
                "expired": waiver.expired,
                "covers": list(waiver.covered),
            }
            for waiver in evaluated.waivers
        ],
    }


def _left_out(evaluated: ProfileResult) -> dict[str, Any]:
    """What the profile's restriction leaves out: cases, and operator versions of which it leaves out all."""
    return {"cases": evaluated.left_out, "operators": list(evaluated.whole)}
