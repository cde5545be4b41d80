"""A certificate as a page for people: what was tested, and as plainly what was not; the files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.judging.verdicts import GROUPS, WORST_FIRST, word
from conformance.runtimes.processor import processor_text
from opcert.vocabulary.whole_files import write_text
from reports.certificates.badges import render_certificate_badge, render_run_badge
from reports.certificates.certificate import Certificate
from reports.certificates.profile_checks import is_ready_made
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, text
from reports.text.pages_alone import render_page
from reports.text.phrasing import count, listed, moment, plural


@dataclass(frozen=True)
class CertifiedOperator:
    """One operator version in a certificate: a sentence, its counts, and how far the suite reaches."""

    operator: str
    holds: bool
    says: str
    counts: tuple[tuple[str, str, int], ...]
    cases: int
    reach: str


class CertificatePage:
    """What the page of a certificate says."""

    def __init__(self, certificate: Certificate, key_id: str | None) -> None:
        self.statement = certificate.statement
        self.predicate = certificate.statement["predicate"]
        self.profile = certificate.profile
        self.standing = certificate.standing
        self.key_id = key_id
        self.digest = certificate.digest
        self.runtime = text(self.statement["subject"][0]["name"]).removeprefix("runtime ")
        self.record = text(self.statement["subject"][2]["name"])

    @property
    def headline(self) -> str:
        """What it comes to, in words that no reader takes for more than it is."""
        counts = self.predicate["counts"]
        failing = len(self.predicate["failedTests"])
        decided = counts["pass"] + failing
        said = f"{count(counts['pass'])} of {plural(decided, 'decided case')} do what the documents say"
        said += f", {count(failing)} do not" if failing else ", none does anything else"
        beside = (
            ("inexact", "less exact"),
            ("document", "open in the documents"),
            ("unsupported", "not offered"),
        )
        told = [f"{count(counts.get(each, 0))} {words}" for each, words in beside if counts.get(each)]
        said += f"; beside these, {', '.join(told)}" if told else ""
        asked = self.standing.label
        return f"{said}. What was tested: {asked}." if asked else f"{said}."

    @property
    def demand(self) -> str:
        """Whether a profile was demanded and met."""
        if self.profile is None:
            return "No profile was demanded: this states what was seen, and passes nothing."
        name = self.profile.profile.profile
        what = "is met" if self.profile.met else "is not met"
        whose = "The profile" if is_ready_made(self.profile.profile) else "The certifier's own profile"
        return f"{whose} {name} ({self.profile.profile.description}) {what}.{self._restriction}"

    @property
    def _restriction(self) -> str:
        """What a profile's restriction comes to, in a sentence behind a space; empty without one."""
        if self.profile is None or self.profile.profile.restriction == "none":
            return ""
        whole = self.profile.whole
        said = f" It demands {plural(self.profile.demanded, 'case')}, which name every attribute that has a "
        said += "default, to one node of tensors alone, in models that declare each type and the shapes of "
        said += f"inputs; {count(self.profile.left_out)} that do not are left out"
        return f"{said}, of {listed(list(whole))} all." if whole else f"{said}."

    @property
    def facts(self) -> list[tuple[str, str, str]]:
        """Names, texts and digests of what it is about."""
        run = self.predicate["run"]
        platform = mapping(run["platform"])
        machine = " ".join(text(platform.get(each)) for each in ("system", "release", "machine")).strip()
        subjects = {each["name"]: each["digest"]["sha256"] for each in self.statement["subject"]}
        return [
            ("issued", text(self.predicate["issued"]), ""),
            ("run", f"{moment(text(run['started']))}, on {machine or text(run['platform'])}", ""),
            *self._processor,
            ("runtime", self.runtime, text(self.statement["subject"][0]["digest"]["sha256"])),
            ("suite", text(self.predicate["suite"]["says"]), subjects["suite"]),
            ("record", self.record, text(self.statement["subject"][2]["digest"]["sha256"])),
            ("certificate", "signed" if self.key_id else "not signed", self.digest),
            *([("key", "names the key, and vouches for nothing", self.key_id)] if self.key_id else []),
        ]

    @property
    def _processor(self) -> list[tuple[str, str, str]]:
        """The processor, and the build of the runtime; nothing of a run whose record does not say it."""
        processor = mapping(self.predicate["run"].get("processor"))
        said = processor_text(processor)
        build = mapping(mapping(mapping(self.predicate["runtime"]).get("environment")).get("build"))
        digest = text(build.get("contents") or build.get("integrity"))
        return [
            *([("processor", said, "")] if said else []),
            *([("build", text(build.get("file")), digest)] if build else []),
        ]

    @property
    def ledger(self) -> list[tuple[str, list[tuple[str, str, int]]]]:
        counts = self.predicate["counts"]
        return [
            (group.heading, [(verdict, word(verdict), counts.get(verdict, 0)) for verdict in group.verdicts])
            for group in GROUPS
        ]

    @property
    def operators(self) -> list[CertifiedOperator]:
        stated = self.predicate["operators"]
        measured = any(mapping(each["adequacy"]) for each in stated)
        return [_operator(each, measured=measured) for each in stated]

    @property
    def not_tested(self) -> list[str]:
        """What was not tested, what was not asked, and what a reader may not conclude."""
        loaded = self.predicate["loaded"]
        more = [] if loaded is not None else ["Which files the runtime loaded was not recorded."]
        names = {each["operator"] for each in self.predicate["operators"]}
        return [
            *items(self.predicate["notTested"]),
            *more,
            f"Any operator version but {plural(len(names), 'one', 'these')}: {', '.join(sorted(names))}.",
            "Speed, memory, models of several nodes, other machines and other versions of the runtime.",
        ]

    @property
    def believed(self) -> list[str]:
        """What nobody can see again, whoever verifies."""
        recorded = (
            "The process that certified ran the suite itself, as it says."
            if self.predicate["run"]["recorded"] == "here"
            else "The outputs were recorded elsewhere: who certified judged them again, and saw none of it "
            "happen."
        )
        return [recorded, *(f"{each['says']}." for each in self.predicate["believed"])]

    @property
    def verified(self) -> list[str]:
        """What the expected outputs are verified by, and the page that explains it."""
        told = self.predicate["verified"]
        release = f"opcert {text(self.predicate['verifier']['version'])}"
        return [*items(told["says"]), f"Why to believe them says {text(told['page'])} of {release}."]

    @property
    def verify_command(self) -> str:
        key = " --public-key KEY" if self.key_id else ""
        return f"opcert verify certificate.json{key}"


def _operator(stated: dict[str, Any], *, measured: bool) -> CertifiedOperator:
    """The line of an operator version; `measured` is whether any has a mutation score."""
    counts = stated["counts"]
    seen = tuple((verdict, word(verdict), counts[verdict]) for verdict in WORST_FIRST if counts.get(verdict))
    says = "holds" if stated["holds"] else "does not hold" if stated["failing"] else "nothing was learnt"
    coverage, adequacy = mapping(stated["coverage"]), mapping(stated["adequacy"])
    reach = []
    if coverage:
        covered, feasible = coverage["covered"], coverage["feasible"]
        reach.append(f"{covered} of {feasible} combinations of {coverage['strength']} levels")
    if "killed" in adequacy and "made" in adequacy:
        made = adequacy["made"] - adequacy.get("equivalent", 0)
        reach.append(f"finds {adequacy['killed']} of {made} planted faults")
    elif coverage and not measured:
        reach.append("mutation score not measured here")
    if stated.get("trust") is not None:
        reach.append(text(stated["trust"]))
    return CertifiedOperator(
        text(stated["operator"]), stated["holds"], says, seen, counts["sum"], "; ".join(reach) or "not stated"
    )


def write_certificate_page(certificate: Certificate, folder: Path, key_id: str | None = None) -> Path:
    """Write `certificate.html` by rename; raises UserError where the folder cannot be written."""
    return write_text(folder / "certificate.html", render_certificate_page(certificate, key_id))


def render_certificate_page(certificate: Certificate, key_id: str | None = None) -> str:
    """The page; the same for the same certificate and key."""
    return render_page("certificate.html.j2", page=CertificatePage(certificate, key_id))


NOT_LOOKED_AT = (
    "index.html",
    "junit.xml",
    "report.md",
    "report.json",
    "cases.csv",
    "explanations.json",
)
"""What `certify` and `report` write that hangs on more than the certificate does."""
_LARGEST = 64 << 20


def find_wrong_files(
    folder: Path, results: Results, certificate: Certificate, key_id: str | None
) -> Iterator[tuple[str, bool]]:
    """Each file that the certificate gives and that is there, and whether it has the bytes it must have."""
    made: dict[str, Callable[[], str]] = {
        "certificate-badge.json": lambda: render_certificate_badge(certificate),
        "certificate.html": lambda: render_certificate_page(certificate, key_id),
        "badge.json": lambda: render_run_badge(results),
    }
    for name, render in made.items():
        path = folder / name
        if path.is_file():
            wanted = render().encode("utf-8", "backslashreplace")
            yield name, path.stat().st_size <= _LARGEST and path.read_bytes() == wanted


def list_others(folder: Path) -> list[str]:
    """The files of ours that lie there and that are not looked at."""
    return [each for each in NOT_LOOKED_AT if (folder / each).exists()]
