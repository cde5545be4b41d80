"""Forgeries of suites, statements, profiles and signatures, and of what lies beside a certificate."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any, Final

import numpy as np

from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case
from conformance.suite.suites import open_suite
from opcert.vocabulary.element_types import ELEMENT_TYPES
from reports.certificates.certificate_files import load_private_key, sign
from reports.results.standing import SuiteStanding
from tests.conformance.samples import make_case, sample
from tests.reports.certified import DAY, Row
from tests.reports.forging import FIGURES, Forged, Forgery

DAMAGED: Final = "does not hold"
RELEASED = SuiteStanding("released", "The suite is the one that opcert 0.1.0 carries.", (), 15, 15)
Predicate = dict[str, Any]


def only_what_passes(forged: Forged) -> None:
    """The suite is made of the cases that pass, and honestly certified."""
    _keep_what_passes(forged)
    forged.make()


def part_called_released(forged: Forged) -> None:
    """The same, called the released suite, in every word of the certificate."""
    _keep_what_passes(forged)
    forged.make(standing=RELEASED)


def part_in_kind_words(forged: Forged) -> None:
    """The same; the sentence about the suite says nothing of a part."""
    _keep_what_passes(forged)
    forged.claim_suite(lambda suite: suite.update(says="The suite is the one that opcert carries."))


def figures_of_the_whole(forged: Forged) -> None:
    """The same, with the planted faults that the whole suite finds."""
    _keep_what_passes(forged)
    forged.make()
    _restate(forged, lambda found: found["operators"][0].update(adequacy=FIGURES))


def part_called_adopted(forged: Forged) -> None:
    """The same; the suite says of itself that it was adopted from ONNX."""
    _keep_what_passes(forged)
    forged.forge_suite(options=lambda options: options.update(adopted="ONNX 1.23.2"))
    forged.make()


def part_with_a_case_of_its_own(forged: Forged) -> None:
    """The same, with one case of the forger's own, so that it is no part."""
    _keep_what_passes(forged)
    own = make_case("echo", seed=77)
    forged.forge_suite(lambda cases: [*cases, own])

    def change(rows: list[Row]) -> list[Row]:
        with open_suite(forged.suite) as suite:
            position = {case_id: number for number, case_id in enumerate(suite.case_ids)}
        like = next(row for row in rows if row["levels"] == {"do": "echo"} and not row["readings"])
        more = [{**row, "case": str(own.id)} for row in rows if row["case"] == like["case"]]
        return sorted([*rows, *more], key=lambda row: position[row["case"]])

    forged.forge_rows(change)


def part_with_the_released_options(forged: Forged) -> None:
    """The same, with the generator's options of the released suite."""
    _keep_what_passes(forged, options=forged.lock.options)
    forged.make(standing=RELEASED)


def expectation_loosened(forged: Forged) -> None:
    """What is expected of the wrong answers is anything at all."""
    _loosen(forged)
    forged.make(standing=replace(RELEASED, kind="part"))


def expectation_loosened_in_silence(forged: Forged) -> None:
    """The same, with the manifest's digests of what is expected as they were."""
    with open_suite(forged.suite) as suite:
        before = {case_id: suite.entry(case_id)["expectation"] for case_id in suite.case_ids}

    def restore(manifest: Row) -> None:
        for entry in manifest["cases"]:
            entry["expectation"] = before[entry["id"]]

    _loosen(forged, restore)
    forged.make(standing=replace(RELEASED, kind="part"))


def other_call_of_the_same_name(forged: Forged) -> None:
    """A case that fails has the input of one that passes, under its own name."""

    def change(cases: list[Case]) -> list[Case]:
        return [
            replace(each, inputs=(("X", sample(99)),)) if each.levels == {"do": "zero"} else each
            for each in cases
        ]

    forged.forge_suite(change, options=_other_options)
    forged.make(standing=replace(RELEASED, kind="part"))


def case_made_survival(forged: Forged) -> None:
    """A case that fails demands nothing but survival, in a family of that name."""

    def change(cases: list[Case]) -> list[Case]:
        return [
            replace(each, id=replace(each.id, family="survival"), demand="survive", expectations=())
            if each.levels == {"do": "ulp"}
            else each
            for each in cases
        ]

    forged.forge_suite(change, options=_other_options)
    names: dict[str, str] = {}
    with open_suite(forged.suite) as suite:
        order = {case_id: number for number, case_id in enumerate(suite.case_ids)}
        names = {
            case_id.replace("/survival/", "/cover/"): case_id
            for case_id in suite.case_ids
            if "/survival/" in case_id
        }

    def rows(found: list[Row]) -> list[Row]:
        from tests.reports.forging import bare

        made = []
        for row in found:
            if row["case"] in names and row["levels"] == {"do": "ulp"}:
                more = {"verdict": "observed", "reason": "answered", "outputs": row["outputs"]}
                row = bare({**row, "case": names[row["case"]], "family": "survival"}, **more)
            made.append(row)
        return sorted(made, key=lambda each: order[each["case"]])

    forged.forge_rows(rows, standing=replace(RELEASED, kind="own"))


def case_of_another_type(forged: Forged) -> None:
    """A case that fails is called one of a type that the profile does not demand."""

    def change(cases: list[Case]) -> list[Case]:
        other = ELEMENT_TYPES["uint4"]
        return [replace(each, element_type=other) if each.levels == {"do": "ulp"} else each for each in cases]

    forged.forge_suite(change, options=_other_options)

    def rows(found: list[Row]) -> list[Row]:
        return [
            {**each, "element_type": "uint4"} if each["levels"] == {"do": "ulp"} else each for each in found
        ]

    forged.forge_rows(rows, standing=replace(RELEASED, kind="part"))


def own_figures(forged: Forged) -> None:
    """The suite's manifest says that it finds every planted fault."""

    def change(facts: Row) -> None:
        facts["adequacy"] = {fact: {"mutants": {**FIGURES, "killed": 190}} for fact in facts["operators"]}

    forged.forge_suite(facts=change, options=_other_options)
    forged.make()
    _restate(forged, lambda found: found["operators"][0].update(adequacy={**FIGURES, "killed": 190}))


def cases_on_the_certificate(forged: Forged) -> None:
    """The certificate's counts are better than the record's."""
    _restate(forged, lambda found: found["counts"].update({"pass": 99}))


def passed_by_word(forged: Forged) -> None:
    """A failing case stands among those that pass."""
    _restate(forged, lambda found: found["passedTests"].append(found["failedTests"].pop()))


def met_by_word(forged: Forged) -> None:
    """The profile is not met, for want of waivers, and the certificate says that it is."""
    forged.make(profile={**forged.profile, "waivers": []})

    def change(found: Predicate) -> None:
        found["result"] = "PASSED"
        found["profile"].update(met=True, reasons=[])

    _restate(forged, change)


def nothing_untested(forged: Forged) -> None:
    """What was not tested is left out."""
    _restate(forged, lambda found: found.update(notTested=[]))


def nothing_believed(forged: Forged) -> None:
    """What is believed of the rows is left out."""
    _restate(forged, lambda found: found.update(believed=[]))


def issued_before_the_run(forged: Forged) -> None:
    """The certificate is dated before the run that it is of."""
    _restate(forged, lambda found: found.update(issued="2001-01-01"))


def issued_tomorrow(forged: Forged) -> None:
    """The certificate is dated on a day that has not come."""
    forged.make(on=date(2100, 1, 2))


def another_version(forged: Forged) -> None:
    """The certificate says that another opcert made it, and states counts of its own."""

    def change(found: Predicate) -> None:
        found["verifier"]["version"] = "0.0.9"
        found["counts"].update({"pass": 99})

    _restate(forged, change)


def key_of_the_forgers_own(forged: Forged) -> None:
    """The certificate says in a key of its own who approved of it."""
    _restate(forged, lambda found: found.update(approvedBy="the ONNX project"))


def another_name_of_the_runtime(forged: Forged) -> None:
    """The statement's subject is another runtime than the record's."""
    forged.restate(lambda statement: statement["subject"][0].update(name="runtime onnxruntime 1.20.1"))


def record_with_a_title(forged: Forged) -> None:
    """The record's name is a sentence that a reader takes for a verdict."""
    forged.restate(lambda statement: statement["subject"][2].update(name="approved by the ONNX project"))


def key_twice_in_the_certificate(forged: Forged) -> None:
    """The certificate states its result twice: `FAILED` first, and then `PASSED`."""
    raw = forged.certificate.read_bytes()
    forged.certificate.write_bytes(
        raw.replace(b'"result":"PASSED"', b'"result":"FAILED","result":"PASSED"', 1)
    )


def nan_in_the_certificate(forged: Forged) -> None:
    """A count of the certificate is the literal NaN."""
    raw = forged.certificate.read_bytes()
    forged.certificate.write_bytes(
        raw.replace(b'"timed out":', b'"timed out":NaN,"x":').replace(
            b'"demandedCases":', b'"x":NaN,"demandedCases":', 1
        )
    )


def onnx_with_a_waiver_for_everything(forged: Forged) -> None:
    """The profile is called `onnx`, and waives whatever fails."""
    forged.make(profile={**forged.profile, "profile": "onnx", "waivers": [_waiver("*")]})


def onnx_of_fewer_operators(forged: Forged) -> None:
    """The profile is called `onnx`, and demands what the forger likes."""
    forged.make(profile={**forged.profile, "profile": "onnx"})


def onnx_in_capitals(forged: Forged) -> None:
    """The profile is called `ONNX `, with a space that nobody sees."""
    forged.make(profile={**forged.profile, "profile": "ONNX "})


def waiver_for_everything(forged: Forged) -> None:
    """An own profile waives `*`: it is met, and all that fails is waived."""
    forged.make(profile={**forged.profile, "waivers": [_waiver("*")]})


def waiver_prolonged(forged: Forged) -> None:
    """A waiver holds for fifty years more than in the profile that the reader has."""
    waivers = [{**each, "expires": "2150-06-01"} for each in forged.profile["waivers"]]
    forged.make(profile={**forged.profile, "waivers": waivers})


def waiver_widened(forged: Forged) -> None:
    """A waiver covers more than in the profile that the reader has."""
    waivers = [{**each, "conditions": {}} for each in forged.profile["waivers"]]
    forged.make(profile={**forged.profile, "waivers": waivers})


def demand_dropped(forged: Forged) -> None:
    """The profile demands fewer families than the one that the reader has."""
    forged.make(profile={**forged.profile, "families": ["survival", "invalid", "cover"]})


def no_profile_at_all(forged: Forged) -> None:
    """The certificate demands no profile, where the reader has one."""
    from conformance.recording.records import read_record
    from opcert.commands.suite_standing import find_standing
    from reports.certificates.certificate import make_certificate
    from reports.certificates.certificate_files import write_certificate
    from reports.results.case_results import put_together

    with open_suite(forged.suite) as suite:
        results = put_together(suite, read_record(forged.record))
        made = make_certificate(results, None, DAY, find_standing(suite, forged.lock))
    write_certificate(made, forged.certificate)
    (forged.folder / "certificate.html").unlink()
    (forged.folder / "certificate-badge.json").unlink()


def own_profile(forged: Forged) -> None:
    """The profile is the certifier's own, and nobody gave it to the reader."""
    forged.make(profile={**forged.profile, "description": "what all of our products do"})


def waiver_that_had_expired(forged: Forged) -> None:
    """A waiver that had expired is said to cover what it covered."""
    old = [{**each, "expires": "2099-12-31"} for each in forged.profile["waivers"]]
    good = json.loads(forged.certificate.read_text())["predicate"]
    forged.make(profile={**forged.profile, "waivers": old})

    def change(found: Predicate) -> None:
        found["result"] = "PASSED"
        found["profile"].update(met=True, reasons=[])
        for mine, theirs in zip(found["profile"]["waivers"], good["profile"]["waivers"], strict=True):
            mine.update(expired=False, covers=theirs["covers"])

    _restate(forged, change)


def dated_back_for_a_waiver(forged: Forged) -> None:
    """Run and certificate are dated to when a waiver held that has expired since."""
    old = [{**each, "expires": "2099-06-30"} for each in forged.profile["waivers"]]
    profile = {**forged.profile, "waivers": old}

    def header(found: Row) -> None:
        found["started"] = "2099-06-01T00:00:00Z"

    def footer(found: Row) -> None:
        found["finished"] = "2099-06-01T00:10:00Z"

    forged.forge_rows(header=header, footer=footer, profile=profile, on=date(2099, 6, 2))


def signature_of_noise(forged: Forged) -> None:
    """The signature is 64 bytes of noise, in the name of somebody's key."""
    _sign(forged, lambda document: document["signatures"][0].update(sig=_base64(bytes(range(64)))))


def signature_of_noise_with_the_key(forged: Forged) -> None:
    """The same, and the reader has the key."""
    signature_of_noise(forged)


def signature_of_another_key(forged: Forged) -> None:
    """The certificate is signed with the forger's key, in the name of the key that the reader has."""
    from tests.reports.certified import make_key

    make_key(forged.folder / "other.pem", forged.folder / "other.pub")
    forged.make(key=forged.key)
    name = json.loads(forged.certificate.read_text())["signatures"][0]["keyid"]
    payload = base64.b64decode(json.loads(forged.certificate.read_text())["payload"])
    envelope = sign(payload, load_private_key(forged.folder / "other.pem"))
    forged.certificate.write_bytes(replace(envelope, key_id=name).to_bytes())


def signature_left_out(forged: Forged) -> None:
    """The statement stands there without its signature, and the reader has the key."""


def signature_of_nothing(forged: Forged) -> None:
    """The signature is empty."""
    _sign(forged, lambda document: document["signatures"][0].update(sig=""))


def signature_cut_short(forged: Forged) -> None:
    """The signature has 63 bytes."""
    _sign(forged, lambda document: document["signatures"][0].update(sig=_base64(bytes(63))))


def signature_of_no_base64(forged: Forged) -> None:
    """The signature is no base64."""
    _sign(forged, lambda document: document["signatures"][0].update(sig="approved!"))


def signatures_of_two(forged: Forged) -> None:
    """A second signature is added."""
    _sign(forged, lambda document: document["signatures"].append(document["signatures"][0]))


def signature_of_a_name(forged: Forged) -> None:
    """The key is named by a person instead of its digest."""
    _sign(forged, lambda document: document["signatures"][0].update(keyid="the ONNX project"))


def payload_of_another_statement(forged: Forged) -> None:
    """Under a good signature lies another statement than the signed one."""

    def change(document: Row) -> None:
        statement = json.loads(base64.b64decode(document["payload"]))
        statement["predicate"]["counts"]["pass"] = 99
        document["payload"] = _base64(canonical_json(statement))

    _sign(forged, change)


def badge_brightened(forged: Forged) -> None:
    """The badge beside the certificate is bright green and says that nothing fails."""
    path = forged.folder / "certificate-badge.json"
    badge = {**json.loads(path.read_text()), "message": "profile echo met", "color": "brightgreen"}
    path.write_text(json.dumps(badge) + "\n")


def page_edited(forged: Forged) -> None:
    """The page beside the certificate leaves out what fails."""
    path = forged.folder / "certificate.html"
    path.write_text(path.read_text().replace("do not", "do too"))


def run_badge_brightened(forged: Forged) -> None:
    """The badge of the run beside the certificate says that everything passes."""
    badge = {"schemaVersion": 1, "label": "operator documents", "message": "all pass", "color": "brightgreen"}
    (forged.folder / "badge.json").write_text(json.dumps(badge) + "\n")


def report_edited(forged: Forged) -> None:
    """The report and the JUnit file beside the certificate say that nothing fails."""
    (forged.folder / "index.html").write_text("<title>0 failures</title>")
    (forged.folder / "junit.xml").write_text("<testsuites failures='0'/>")


STATEMENTS = (
    Forgery(only_what_passes, "told", "holds; part of the suite: "),
    Forgery(part_called_released, DAMAGED, "suite.standing: stated released, found part"),
    Forgery(part_in_kind_words, DAMAGED, "suite.says: stated The suite is the one"),
    Forgery(figures_of_the_whole, DAMAGED, "operators[0].adequacy: stated"),
    Forgery(part_called_adopted, "told", "holds; own suite: "),
    Forgery(part_with_a_case_of_its_own, "told", "holds; own suite: 4 cases", real=False),
    Forgery(part_with_the_released_options, DAMAGED, "local changes"),
    Forgery(expectation_loosened, DAMAGED, "local changes"),
    Forgery(expectation_loosened_in_silence, DAMAGED, "local changes"),
    Forgery(other_call_of_the_same_name, DAMAGED, "local changes", real=False),
    Forgery(case_made_survival, DAMAGED, "local changes", real=False),
    Forgery(case_of_another_type, DAMAGED, "local changes", real=False),
    Forgery(own_figures, DAMAGED, "operators[0].adequacy: stated"),
    Forgery(cases_on_the_certificate, DAMAGED, "counts.pass: stated 99"),
    Forgery(passed_by_word, DAMAGED, "passedTests: stated a list of"),
    Forgery(met_by_word, DAMAGED, "profile.met: stated True, found False"),
    Forgery(nothing_untested, DAMAGED, "notTested: stated a list of 0"),
    Forgery(nothing_believed, DAMAGED, "believed: stated a list of 0"),
    Forgery(issued_before_the_run, DAMAGED, "before the run ended"),
    Forgery(issued_tomorrow, DAMAGED, "which is not yet"),
    Forgery(another_version, "another version", "cannot be verified by this version: take opcert 0.0.9"),
    Forgery(key_of_the_forgers_own, DAMAGED, "approvedBy: stated the ONNX project, found nothing"),
    Forgery(another_name_of_the_runtime, DAMAGED, "subject[0].name: stated runtime onnxruntime 1.20.1"),
    Forgery(record_with_a_title, DAMAGED, "subject[2].name: no name of a record's file"),
    Forgery(key_twice_in_the_certificate, "no certificate", "the key 'result' stands twice in an object"),
    Forgery(nan_in_the_certificate, "no certificate", "NaN is no JSON"),
    Forgery(onnx_with_a_waiver_for_everything, DAMAGED, "named onnx, but not the ready-made one"),
    Forgery(onnx_of_fewer_operators, DAMAGED, "named onnx, but not the ready-made one: operators"),
    Forgery(onnx_in_capitals, DAMAGED, "named onnx, but not the ready-made one"),
    Forgery(waiver_for_everything, "told", "the waiver for * alone covers them all"),
    Forgery(
        waiver_prolonged,
        DAMAGED,
        "another profile than the one given: waivers[0].expires",
        with_profile=True,
    ),
    Forgery(
        waiver_widened,
        DAMAGED,
        "another profile than the one given: waivers[0].conditions",
        with_profile=True,
        real=False,
    ),
    Forgery(demand_dropped, DAMAGED, "another profile than the one given: families", with_profile=True),
    Forgery(
        no_profile_at_all,
        DAMAGED,
        "no profile was demanded, and echo was given",
        with_profile=True,
        real=False,
    ),
    Forgery(own_profile, "stated", "the profile echo is the certifier's own", real=False),
    Forgery(waiver_that_had_expired, DAMAGED, "profile.met: stated True, found False"),
    Forgery(dated_back_for_a_waiver, DAMAGED, "no longer so: the waiver for"),
    Forgery(signature_of_noise, "stated", "claims to be signed by the key"),
    Forgery(
        signature_of_noise_with_the_key,
        DAMAGED,
        "the signature is not of the public key",
        with_key=True,
    ),
    Forgery(signature_of_another_key, DAMAGED, "the signature is not of the public key", with_key=True),
    Forgery(signature_left_out, DAMAGED, "is not signed, and a public key was given", with_key=True),
    Forgery(signature_of_nothing, "no certificate", "has 64 bytes, and here 0"),
    Forgery(signature_cut_short, "no certificate", "has 64 bytes, and here 63"),
    Forgery(signature_of_no_base64, "no certificate", "the envelope is not base64"),
    Forgery(signatures_of_two, "no certificate", "an envelope has exactly one signature"),
    Forgery(signature_of_a_name, "no certificate", "the keyid is no SHA-256 of a key"),
    Forgery(
        payload_of_another_statement,
        DAMAGED,
        "the signature is not of the public key",
        with_key=True,
    ),
    Forgery(
        badge_brightened,
        DAMAGED,
        "certificate-badge.json beside it is not what the certificate gives",
    ),
    Forgery(page_edited, DAMAGED, "certificate.html beside it is not what the certificate gives"),
    Forgery(run_badge_brightened, DAMAGED, "badge.json beside it is not what the certificate gives"),
    Forgery(report_edited, "stated", "not looked at, beside the certificate: index.html and junit.xml"),
)


def _restate(forged: Forged, change: Callable[[Predicate], None]) -> None:
    forged.restate(lambda statement: change(statement["predicate"]))


def _other_options(options: Row) -> None:
    options["size"] = "small"


def _keep_what_passes(forged: Forged, options: Any = None) -> None:
    """A suite and a record of the passing cases alone; each file by itself is whole."""
    rows = [json.loads(line) for line in forged.record.read_text().splitlines()[1:-1]]
    failing = {row["case"] for row in rows if row["verdict"] != "pass"}
    wanted = {row["case"] for row in rows} - failing

    def change(found: Row) -> None:
        found.update(options or {**found, "size": "small"})

    forged.forge_suite(lambda cases: [each for each in cases if str(each.id) in wanted], options=change)
    forged.forge_rows(lambda found: [each for each in found if each["case"] in wanted], certify=False)


def _loosen(forged: Forged, manifest: Callable[[Row], None] | None = None) -> None:
    """Let every case that must be answered accept any value, and judge what was recorded by that."""
    from conformance.judging.judge import judge
    from conformance.judging.responses import Answered
    from conformance.recording.outputs import restore_output
    from conformance.recording.records import read_record
    from conformance.recording.rows import make_result

    def loose(case: Case) -> Case:
        if case.demand != "answer" or case.element_type.name != "float":
            return case
        outputs = tuple(
            replace(output, allowed=np.full(output.expected.shape, np.inf))
            for output in case.expectations[0].outputs
        )
        first = replace(case.expectations[0], outputs=outputs)
        return replace(case, expectations=(first, *case.expectations[1:]))

    answers: dict[tuple[str, str, int], Any] = {}
    with open_suite(forged.suite) as suite:
        for row in read_record(forged.record).results:
            if row.verdict == "mismatch":
                case = suite.case(row.case)
                answers[row.case, row.form, row.repeat] = tuple(
                    restore_output(entry, position, case, forged.record)
                    for position, entry in enumerate(row.outputs)
                )
    forged.forge_suite(lambda cases: map(loose, cases), options=_other_options, manifest=manifest)

    def rows(found: list[Row]) -> list[Row]:
        made = []
        with open_suite(forged.suite) as suite:
            for row in found:
                given = answers.get((row["case"], row["form"], row["repeat"]))
                if given is not None:
                    case, response = suite.case(row["case"]), Answered(given)
                    judged = make_result(
                        case,
                        row["form"],
                        row["repeat"],
                        response,
                        judge(case, response),
                        tuple(row["outputs"]),
                    )
                    row = {**judged.to_json(), "seconds": row["seconds"]}
                made.append(row)
        return made

    forged.forge_rows(rows, certify=False)


def _waiver(cases: str) -> dict[str, Any]:
    return {"cases": cases, "reason": "known", "link": "https://example.org/1", "expires": "2100-06-01"}


def _sign(forged: Forged, change: Callable[[Row], None]) -> None:
    forged.make(key=forged.key)
    document = json.loads(forged.certificate.read_text())
    change(document)
    forged.certificate.write_bytes(canonical_json(document) + b"\n")


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
