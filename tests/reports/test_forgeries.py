"""Forged certificates, each as consistent as one who knows the formats can make it, and what is said of them.

Every forgery starts from a genuine certificate of a run. The table in docs/certificates.md is this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.recording.records import read_record
from conformance.suite.suites import Suite
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.names import CaseId, OperatorName
from reports.gates.profiles import Profile
from reports.results.standing import VersionTrust
from tests.reports import forging
from tests.reports.forgeries_of_records import RECORDS
from tests.reports.forgeries_of_statements import STATEMENTS
from tests.reports.forging import Forged, Forgery, make_fake, make_real

FORGERIES = (*RECORDS, *STATEMENTS)


@pytest.fixture(scope="module", autouse=True)
def _own_parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Parts of the suite that opcert carries here do not come into the user's cache."""
    folder = tmp_path_factory.mktemp("parts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.suite.kept_parts.cache_folder", lambda: folder)
        yield


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Forged:
    return make_fake(tmp_path_factory.mktemp("genuine") / "made")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Forged:
    return make_real(tmp_path_factory.mktemp("real"), "onnxruntime")


def answer(forged: Forged, forgery: Forgery) -> tuple[str, str]:
    """What `verify` answers, in a word, and all that it says of that kind."""
    key = forged.public_key if forgery.with_key else None
    profile = Profile.model_validate(forged.profile) if forgery.with_profile else None
    try:
        found = forged.look(key=key, profile=profile)
    except UserError as error:
        return "no certificate", str(error)
    match found.exit_code:
        case ExitCode.DOES_NOT_HOLD:
            return "does not hold", "\n".join(found.problems)
        case ExitCode.OTHER_VERSION:
            return "another version", found.answer
        case _:
            kind = forgery.answer if forgery.answer in ("stated", "told") else "holds"
            return kind, "\n".join(found.stated if kind == "stated" else [found.answer, *found.notes])


def table() -> str:
    """The table of docs/certificates.md."""
    rows = [
        f"| {number} | {forgery.what} | {forgery.answer} | {forgery.says.removeprefix('holds; ')} |"
        for number, forgery in enumerate(FORGERIES, start=1)
    ]
    return "\n".join(["| | what the forger does | `verify` answers | and says |", "|---|---|---|---|", *rows])


def test_the_page_prints_this_table(repository: Path) -> None:
    """`python -m tests.reports.test_forgeries` writes it."""
    page = (repository / "docs" / "certificates.md").read_text(encoding="utf-8")
    assert between(page)[1] == f"\n{table()}\n"
    assert len(FORGERIES) >= 40
    assert len({forgery.name for forgery in FORGERIES}) == len(FORGERIES)


def between(page: str) -> tuple[str, str, str]:
    """A page before its table, the table, and the rest."""
    before, begin, rest = page.partition("<!-- forgeries: begin -->")
    found, end, after = rest.partition("<!-- forgeries: end -->")
    return before + begin, found, end + after


def test_the_genuine_one_holds(genuine: Forged, tmp_path: Path) -> None:
    """Otherwise no forgery shows anything."""
    copied = genuine.copied(tmp_path / "copy")
    found = copied.look(profile=Profile.model_validate(copied.profile))
    assert found.holds, found.problems
    assert found.exit_code == ExitCode.HOLDS
    assert any("60 rows judged again" in each for each in found.checked), found.checked
    beside = [each for each in found.checked if "beside it is what the certificate gives" in each]
    assert len(beside) == 2
    assert any("the profile echo is the one that was given" in each for each in found.checked)


def test_a_certificate_that_was_made_before_it_said_what_verifies_the_outputs_holds(
    genuine: Forged, tmp_path: Path
) -> None:
    copied = genuine.copied(tmp_path / "copy")

    def as_before(statement: dict[str, Any]) -> None:
        del statement["predicate"]["verified"]

    copied.restate(as_before)
    found = copied.look(profile=Profile.model_validate(copied.profile))
    assert found.holds, found.problems


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda each: each.name)
def test_a_forgery_is_noticed_or_named(genuine: Forged, tmp_path: Path, forgery: Forgery) -> None:
    forged = genuine.copied(tmp_path / "forged")
    forgery.forge(forged)
    given, said = answer(forged, forgery)
    assert given == forgery.answer, said
    assert forgery.says in said


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime")
def test_the_real_one_holds(real: Forged, tmp_path: Path) -> None:
    found = real.copied(tmp_path / "copy").look()
    assert found.holds, found.problems
    verdicts = {result.verdict for result in read_record(real.record).results}
    assert {"pass", "mismatch", "unsupported", "rejected_valid", "observed"} <= verdicts


@pytest.mark.slow
@pytest.mark.runtimes("onnxruntime")
@pytest.mark.parametrize("forgery", [each for each in FORGERIES if each.real], ids=lambda each: each.name)
def test_a_forgery_of_a_real_record_is_noticed_or_named(
    real: Forged, tmp_path: Path, forgery: Forgery
) -> None:
    forged = real.copied(tmp_path / "forged")
    forgery.forge(forged)
    given, said = answer(forged, forgery)
    assert given == forgery.answer, said
    assert forgery.says in said


MEASURED = {
    "made": 200, "killed": 188, "equivalent": 10, "survived": 2, "by_node_tests": 90,
    "score": 188 / 190, "cases": "0" * 64,
}  # fmt: skip


def _known(figures: dict[str, Any]) -> Callable[[Suite], dict[OperatorName, VersionTrust]]:
    mutants = {name: figure for name, figure in figures.items() if name != "cases"}
    adequacy = {"mutants": mutants, "cases": figures["cases"]} if figures else {}
    return lambda suite: {
        CaseId.parse(case_id).operator: VersionTrust("reviewed", adequacy) for case_id in suite.case_ids
    }


def test_a_score_that_is_not_measured_here_is_what_the_certificate_states(
    genuine: Forged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = genuine.copied(tmp_path / "copy")
    monkeypatch.setattr(forging, "known_of", _known(MEASURED))
    forged.make()
    assert forged.look().holds
    monkeypatch.setattr(forging, "known_of", _known({}))
    found = forged.look()
    assert found.holds, found.problems
    assert any("mutation score was not measured here" in each for each in found.stated)
    # Who measured something else says so.
    monkeypatch.setattr(forging, "known_of", _known({**MEASURED, "killed": 187, "survived": 3}))
    assert not forged.look().holds


@pytest.mark.parametrize(
    "change",
    [
        {"killed": 190},
        {"killed": "188"},
        {"score": 1.0},
        {"made": -1},
        {"by_node_tests": 191},
        {"cases": "none"},
        {"more": 1},
        {"killed": True},
    ],
)
def test_a_score_that_does_not_add_up_is_refused_without_a_measurement(
    genuine: Forged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    forged = genuine.copied(tmp_path / "copy")
    monkeypatch.setattr(forging, "known_of", _known({}))
    forged.make()

    def restate(statement: dict[str, Any]) -> None:
        statement["predicate"]["operators"][0].update(adequacy={**MEASURED, **change})

    forged.restate(restate)
    assert any("operators[0].adequacy: stated" in problem for problem in forged.look().problems)
    page = (forged.folder / "certificate.html").read_text(encoding="utf-8")
    assert "mutation score not measured here" in page


if __name__ == "__main__":
    PAGE = Path(__file__).parents[2] / "docs" / "certificates.md"
    before, _, after = between(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(f"{before}\n{table()}\n{after}", encoding="utf-8")
