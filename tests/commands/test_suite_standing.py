"""Whose suite a certificate is about: the released one, somebody's own, or one with local changes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.suite.canonical import canonical_json
from conformance.suite.cases import Case
from conformance.suite.distributions import Distributed
from conformance.suite.kept_parts import keep_part
from conformance.suite.manifests import manifest_digest
from conformance.suite.properties import HasType, InRange
from conformance.suite.suite_parts import SuitePart, make_part
from conformance.suite.suites import Suite, open_suite, write_suite
from generator.making.suites.lock import Lock, LockedVersion
from opcert.commands.suite_standing import find_standing
from opcert.vocabulary.element_types import ELEMENT_TYPES
from reports.certificates.certificate import statement_digest
from reports.gates.profiles import list_profiles, load_profile
from reports.results.standing import Departure, SuiteStanding
from tests.commands.command_line import call, identity_suite
from tests.conformance.samples import IDENTITY, expect, make_case, sample

CASES = [make_case(operator=IDENTITY, seed=each) for each in range(3)]
OPTIONS = {"size": "default", "strength": 2, "operators": [str(IDENTITY)]}


def standing(
    folder: Path, cases: Iterable[Case], lock: Lock | None = None, **options: object
) -> SuiteStanding:
    path = folder / f"suite-{len(list(folder.iterdir()))}"
    facts: dict[str, object] = {"operators": {str(IDENTITY): {}}}
    write_suite(path, cases, facts, {**OPTIONS, **options})
    with open_suite(path) as suite:
        return find_standing(suite, lock or lock_like(suite))


def lock_like(suite: Suite) -> Lock:
    """The lock of a suite, whose operator has no reference; the cache keeps the part that it names."""
    return lock_of(released_part(suite), suite)


def released_part(suite: Suite) -> SuitePart:
    return make_part(IDENTITY, suite.cases(), suite.facts["operators"][str(IDENTITY)])


def lock_of(part: SuitePart, suite: Suite) -> Lock:
    keep_part(part, part.digest)
    line = LockedVersion(part.digest, len(part.entries))
    return Lock(suite.digest, suite.manifest["options"], {str(IDENTITY): line})


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def released(tmp_path: Path) -> Lock:
    write_suite(tmp_path / "released", CASES, {"operators": {str(IDENTITY): {}}}, OPTIONS)
    with open_suite(tmp_path / "released") as suite:
        return lock_like(suite)


def test_the_released_suite_is_known_by_its_digest(tmp_path: Path, released: Lock) -> None:
    assert standing(tmp_path, CASES, released).kind == "released"


def test_the_same_options_with_another_digest_are_local_changes(tmp_path: Path, released: Lock) -> None:
    found = standing(tmp_path, CASES[:2], released)
    assert found.kind == "changed"
    assert "generate --check" in found.text


def test_cases_of_which_something_else_is_expected_are_local_changes(tmp_path: Path, released: Lock) -> None:
    changed = replace(CASES[0], expectations=(expect(sample(99)),))
    found = standing(tmp_path, [changed], released, size="small")
    assert found.kind == "changed"
    assert "1 case expects something else." in found.text
    assert found.departures == (Departure(str(IDENTITY), otherwise=1, left_out=2, beyond=0),)
    whole = standing(tmp_path, [changed, *CASES[1:]], released)
    assert whole.kind == "changed"
    assert "carries, 1 case expects something else. Its digest is" in whole.text


def test_nobody_knows_the_released_cases_where_they_are_not_kept_and_not_made(tmp_path: Path) -> None:
    lock = Lock("0" * 64, OPTIONS, {str(IDENTITY): LockedVersion("0" * 64, 5)})
    found = standing(tmp_path, CASES, lock, size="small")
    assert found.kind == "changed"
    assert found.departures == (Departure(str(IDENTITY), otherwise=3, left_out=2, beyond=0),)


def test_what_a_case_expects_is_read_from_its_own_bytes(tmp_path: Path, released: Lock) -> None:
    changed = replace(CASES[0], expectations=(expect(sample(99)),))
    write_suite(tmp_path / "own", [changed, *CASES[1:]], {"operators": {str(IDENTITY): {}}}, OPTIONS)
    manifest = tmp_path / "own" / "manifest.json"
    content = json.loads(manifest.read_text())
    with open_suite(tmp_path / "released") as suite:
        for each in content["cases"]:
            each["expectation"] = suite.entry(each["id"])["expectation"]
    del content["digest"]
    manifest.write_bytes(canonical_json({**content, "digest": manifest_digest(content)}) + b"\n")
    with open_suite(tmp_path / "own") as suite:
        found = find_standing(suite, released)
    assert found.departures == (Departure(str(IDENTITY), otherwise=1, left_out=0, beyond=0),)


@given(
    changed=st.sets(st.integers(0, 3)),
    left=st.sets(st.integers(0, 3), max_size=3),
    beyond=st.integers(0, 3),
)
@settings(max_examples=25, deadline=None)
def test_departures_are_counted(changed: set[int], left: set[int], beyond: int) -> None:
    cases = [make_case(operator=IDENTITY, seed=each) for each in range(4)]
    others = [replace(each, expectations=(expect(sample(99)),)) for each in cases]
    kept = [others[each] if each in changed else cases[each] for each in range(4) if each not in left]
    kept += [make_case(operator=IDENTITY, seed=50 + each) for each in range(beyond)]
    with tempfile.TemporaryDirectory() as folder:
        facts: dict[str, object] = {"operators": {str(IDENTITY): {}}}
        write_suite(Path(folder, "released"), cases, facts, OPTIONS)
        with open_suite(Path(folder, "released")) as suite:
            lock = lock_like(suite)
        found = standing(Path(folder), kept, lock, size="small")
    wanted = Departure(str(IDENTITY), len(changed - left), len(left), beyond)
    assert found.departures == (() if not (changed - left or left or beyond) else (wanted,))
    assert (found.kind == "changed") == bool(changed - left)


def test_a_part_of_the_released_suite_is_told_to_be_one(tmp_path: Path, released: Lock) -> None:
    own = make_case(operator=IDENTITY, seed=77)
    found = standing(tmp_path, [CASES[0], own], released, size="small")
    assert found.kind == "own"
    assert "1 case of it" in found.text
    assert "1 do not, and 2 of its operators are left out" in found.text


def test_demands_on_a_distribution_are_the_released_ones(tmp_path: Path) -> None:
    """Their numbers may have been integers where they were made, and the output's type is no input's."""
    demands = (
        HasType("Y", ELEMENT_TYPES["uint8"]),
        InRange("Y", 0, 1),
        Distributed("Y", "uniform", (0, 1), 1e-9),
    )
    drawn = replace(CASES[0], element_type=ELEMENT_TYPES["uint8"], expectations=(), properties=demands)
    write_suite(tmp_path / "drawn", [drawn], {"operators": {str(IDENTITY): {}}}, OPTIONS)
    with open_suite(tmp_path / "drawn") as suite:
        lock = lock_like(suite)
    assert standing(tmp_path, [drawn], lock, size="small").departures == ()


def test_an_adopted_suite_is_told_to_be_one(tmp_path: Path, released: Lock) -> None:
    found = standing(tmp_path, CASES, released, adopted="ONNX 1.23.2")
    assert found.kind == "own"
    assert "says that it was adopted from ONNX 1.23.2, expectations included. 3 cases of it" in found.text


@pytest.fixture
def changed_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of two cases, one of which expects something else than the released suite does."""
    import opcert.commands.suite_standing as module

    suite = identity_suite(tmp_path, 2)
    with open_suite(suite) as opened:
        first, *others = opened.cases()
        changed = replace(first, expectations=(expect(sample(99)),))
        lock = replace(lock_of(make_part(IDENTITY, [changed, *others], {}), opened), digest="0" * 64)
    monkeypatch.setattr(module, "read_lock", lambda: lock)
    return suite


def test_a_changed_suite_is_certified_as_what_it_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, changed_suite: Path
) -> None:
    out = tmp_path / "out"
    answer = call(capsys, "certify", "fake_backends:Good", "-s", changed_suite, "-o", out)
    assert answer.code == 0, answer.err
    assert "The suite has local changes: " in answer.err
    assert "suite: The suite has local changes: " in answer.out
    assert {"index.html", "junit.xml", "run.jsonl", "certificate.html", "certificate.json"} <= {
        path.name for path in out.iterdir()
    }
    stated = json.loads((out / "certificate.json").read_text())["predicate"]["suite"]
    assert stated["standing"] == "changed"
    assert "1 case expects something else" in stated["says"]
    assert stated["departures"] == [
        {"operator": str(IDENTITY), "otherwise": 1, "leftOut": 0, "beyond": 0},
    ]
    assert "1 case expects something else" in (out / "certificate.html").read_text()
    verified = call(capsys, "verify", out / "certificate.json", "-s", changed_suite)
    assert verified.code == 0, verified.out
    assert "suite: The suite has local changes: " in verified.out


@pytest.mark.parametrize(("demanded", "code"), [("any", 0), ("released", 1)])
def test_a_profile_that_demands_the_released_suite_is_not_met_by_a_changed_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, changed_suite: Path, demanded: str, code: int
) -> None:
    profile = tmp_path / "identity.yaml"
    profile.write_text(
        f"profile: identity\ndescription: ''\noperators: ['{IDENTITY}']\nsuite: {demanded}\n",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    words = ("fake_backends:Good", "-s", changed_suite, "-o", out, "--profile", profile)
    answer = call(capsys, "certify", *words)
    assert answer.code == code, answer.err
    said = f"{IDENTITY}: its cases are not those of the released suite: 1 case expects something else"
    assert (said in answer.out) == (code == 1)
    assert (out / "certificate.json").exists()
    verified = call(capsys, "verify", out / "certificate.json", "-s", changed_suite)
    assert verified.code == code, verified.out


def test_a_changed_suite_cannot_be_called_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, changed_suite: Path
) -> None:
    out = tmp_path / "out"
    call(capsys, "certify", "fake_backends:Good", "-s", changed_suite, "-o", out)
    path = out / "certificate.json"
    honest = json.loads(path.read_text())
    changes: tuple[dict[str, Any], ...] = (
        {"standing": "own"},
        {"departures": []},
        {"standing": "released", "departures": []},
    )
    for change in changes:
        forged = json.loads(json.dumps(honest))
        forged["predicate"]["suite"].update(change)
        forged["predicate"]["digest"] = {"sha256": statement_digest(forged)}
        path.write_bytes(canonical_json(forged) + b"\n")
        assert call(capsys, "verify", path, "-s", changed_suite).code == 1, change


def test_every_ready_made_profile_demands_the_released_suite() -> None:
    assert {load_profile(profile).suite for profile in list_profiles()} == {"released"}
