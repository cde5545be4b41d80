"""What shields.io endpoint badges read of a run and of a certificate: they state counts, and no score."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.judging.verdicts import HARNESS_ERROR, NOT_RUN, count_failing
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.whole_files import write_text
from reports.certificates.certificate import Certificate
from reports.certificates.profile_checks import is_ready_made
from reports.overview.headline import runtime_label
from reports.results.case_results import Results
from reports.results.standing import SuiteStanding
from reports.text.phrasing import count, plural

LABEL = "operator documents"


def render_run_badge(results: Results) -> str:
    """What a run comes to; where it is known whose the suite is, a part of the released one says so."""
    message, color = state_run(results)
    if results.standing is not None:
        message, color = _of_suite(results.standing, message, color)
    label = f"{LABEL}: {one_line(runtime_label(results.record), 40)}"
    return render_badge(label, message, color)


def render_badge(label: str, message: str, color: str) -> str:
    """The endpoint's JSON."""
    fields = {"schemaVersion": 1, "label": label, "message": message, "color": color}
    return json.dumps(fields, ensure_ascii=True) + "\n"


def write_certificate_badge(certificate: Certificate, folder: Path) -> Path:
    """Write `certificate-badge.json`; raises UserError where the folder cannot be written."""
    return write_text(folder / "certificate-badge.json", render_certificate_badge(certificate))


def render_certificate_badge(certificate: Certificate) -> str:
    """What a certificate says of its profile, or that none was demanded, and of which suite."""
    result = certificate.profile
    counts = certificate.statement["predicate"]["counts"]
    failing = count_failing(counts)
    if result is None:
        decided = plural(counts["pass"] + failing, "decided case")
        message = f"{count(failing)} of {decided} fail, nothing demanded"
        color = "lightgrey"
    else:
        met = "met" if result.met else "not met"
        waived = sum(len(waiver.covered) for waiver in result.waivers)
        whose = "profile" if is_ready_made(result.profile) else "own profile"
        message = f"{whose} {one_line(result.profile.profile, 40)} {met}"
        message += f", {count(waived)} waived" if waived else ""
        color = ("green" if waived else "brightgreen") if result.met else "red"
    return render_badge("opcert certificate", *_of_suite(certificate.standing, message, color))


def _of_suite(standing: SuiteStanding, message: str, color: str) -> tuple[str, str]:
    """The same, and of which suite: bright green is for the whole released one, green not for a part."""
    if standing.is_released:
        return message, color
    if color in ("brightgreen", "green"):
        color = "yellow" if standing.shared or standing.kind == "changed" else "green"
    return f"{message}, {standing.label}", color


def state_run(results: Results) -> tuple[str, str]:
    """The message and the colour of a run; a run that is not whole is never green."""
    counts = results.counts
    failing = sum(result.fails for result in results.cases)
    if counts[HARNESS_ERROR]:
        whose = "its worker" if results.record.failed_by_worker else "opcert"
        return f"not judged: a bug of {whose}", "lightgrey"
    if not failing and not counts["pass"] and not counts["observed"]:
        return "unsupported" if counts["unsupported"] else "nothing ran", "lightgrey"
    if failing or results.record.faults:
        faults = f", {plural(len(results.record.faults), 'fault')}" if results.record.faults else ""
        verb = "fails" if failing == 1 else "fail"
        left = counts[NOT_RUN]
        there = plural(failing + counts["pass"], "decided case")
        return (
            f"{count(failing)} of {there} {verb}{faults}{f', {count(left)} not run' if left else ''}",
            "red",
        )
    verb = "passes" if counts["pass"] == 1 else "pass"
    passing = f"{plural(counts['pass'], 'decided case')} {verb}"
    if not results.complete:
        return f"{passing}, {count(counts[NOT_RUN])} not run", "lightgrey"
    if counts["unsupported"]:
        return f"{passing}, {count(counts['unsupported'])} unsupported", "green"
    return passing, "brightgreen"
