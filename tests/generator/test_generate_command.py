"""The command `generate`, the cache and the lock, on one quick operator."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.suite.kept_parts import keep_part
from conformance.suite.kept_suites import suites_folder
from conformance.suite.suite_parts import SuitePart
from conformance.suite.suites import open_suite
from generator.making.operators.discovery import select_operators
from generator.making.operators.workshop import Options
from generator.making.suites import cache, lock
from generator.making.suites.lock import Lock, LockedVersion, write_lock
from generator.making.suites.lock_making import read_lock_of
from generator.making.suites.part_making import make_part_once
from generator.making.suites.suite_making import Made, write_generated
from opcert.commands import generate_command
from opcert.commands.command_progress import generation_progress
from opcert.vocabulary.errors import ExitCode, UserError
from opcert.vocabulary.names import OperatorName

NAME = "com.microsoft::Pad-1"
QUICK = OperatorName.parse("com.microsoft::Pad-1")


def test_names_of_operators_may_be_short_and_unknown_ones_are_answered_with_near_ones() -> None:
    assert select_operators(["Pad-1"])[-1] == QUICK
    assert select_operators(["com.microsoft/Pad-1"]) == [QUICK]
    assert list(map(str, select_operators(["Resize"]))) == ["ai.onnx::Resize-19"]
    # In each domain that has an operator of that name.
    assert select_operators(["Pad"]) == [OperatorName.parse("ai.onnx::Pad-25"), QUICK]
    with pytest.raises(UserError) as caught:
        select_operators(["Rezise-18"])
    assert "ai.onnx::Resize-18" in str(caught.value)


def test_the_command_writes_a_zip_and_tells_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "pad.zip"
    ran = CliRunner().invoke(generate_command.command, [NAME, "--size", "small", "-o", str(path)])
    assert ran.exception is None
    with open_suite(path) as suite:
        assert suite.digest in ran.stdout
    assert "com.microsoft::Pad-1" in ran.stderr
    again = CliRunner().invoke(generate_command.command, [NAME, "--size", "small", "-o", str(path)])
    assert again.stdout == ran.stdout
    assert again.stderr == "1 of 1 operator kept from before\n"


@pytest.mark.slow
def test_what_is_cheap_is_made_first_and_lines_and_suite_keep_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = select_operators(["CenterCropPad", "com.microsoft::Pad-1", "Xor"])
    dear, cheap, middling = chosen[0], chosen[1], chosen[2]
    assert (cheap.name, middling.name, dear.name) == ("Xor", "Pad", "CenterCropPad")
    told: list[Made] = []
    with generation_progress() as progress:

        def tell(made: Made | str) -> None:
            assert isinstance(made, Made)
            told.append(made)
            progress(made)

        write_generated(tmp_path / "suite", chosen, Options.of("small"), progress=tell)
    assert [made.operator for made in told] == [cheap, middling, dear]
    assert [made.left for made in told] == [(dear, middling), (dear,), ()]
    assert [made.part is not None and made.part.operator for made in told] == [cheap, middling, dear]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in lines] == list(map(str, chosen))
    with open_suite(tmp_path / "suite") as suite:
        there = [str(suite.case(case_id).id.operator) for case_id in suite.case_ids]
    assert list(dict.fromkeys(there)) == list(map(str, chosen))


def test_options_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    for arguments in (["--check", "--update"], ["--check", "--size", "small"], ["--update", NAME]):
        ran = CliRunner().invoke(generate_command.command, arguments)
        assert isinstance(ran.exception, UserError), arguments


@pytest.fixture
def lock_of_pad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lock:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_generated(tmp_path / "suite", [QUICK], Options())
    made = read_lock_of(tmp_path / "suite")
    write_lock(made, tmp_path / "suite.lock")
    monkeypatch.setattr(lock, "LOCK_FILE", tmp_path / "suite.lock")
    return made


@pytest.mark.slow
def test_check_holds_until_something_changes(lock_of_pad: Lock, tmp_path: Path) -> None:
    ran = CliRunner().invoke(generate_command.command, [NAME, "--check"], standalone_mode=False)
    assert ran.exception is None
    assert ran.return_value == ExitCode.HOLDS
    before = changed_part(QUICK)
    line = LockedVersion(before.digest, len(before.entries))
    write_lock(replace(lock_of_pad, versions={NAME: line}), tmp_path / "suite.lock")
    ran = CliRunner().invoke(generate_command.command, [NAME, "--check"], standalone_mode=False)
    assert ran.return_value == ExitCode.DOES_NOT_HOLD
    assert ran.stdout == f"changed expectation: {before.entries[0]['id']}\n"


def changed_part(operator: OperatorName) -> SuitePart:
    """The part of an operator as it would have been before an expectation changed, kept in the cache."""
    made = make_part_once(operator, Options()).part
    entries = ({**made.entries[0], "expectation": "0" * 64}, *made.entries[1:])
    before = replace(made, entries=entries)
    keep_part(before, "0" * 64)
    return before


@pytest.mark.slow
def test_check_names_a_version_whose_cases_as_they_were_are_not_kept(
    lock_of_pad: Lock, tmp_path: Path
) -> None:
    other = replace(lock_of_pad, versions={NAME: LockedVersion("0" * 64, 1)})
    write_lock(other, tmp_path / "suite.lock")
    ran = CliRunner().invoke(generate_command.command, [NAME, "--check"], standalone_mode=False)
    assert ran.return_value == ExitCode.DOES_NOT_HOLD
    now = lock_of_pad.versions[NAME].digest[:16]
    assert f"changed operator: {NAME} (the lock has {'0' * 16}, now it is {now};" in ran.stdout


@pytest.mark.slow
def test_the_default_suite_is_made_once_and_again_when_what_it_is_made_from_changes(
    lock_of_pad: Lock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "write_generated", partial(only_pad, options=Options()))
    lines: list[object] = []
    made = cache.default_suite(lines.append)
    assert made.name == lock_of_pad.digest
    assert [str(line).partition(":")[0] for line in lines] == ["generating the default suite"]
    assert cache.default_suite(lines.append) == made
    assert len(lines) == 1
    monkeypatch.setattr(cache, "sources_digest", lambda _folders: "changed")
    monkeypatch.setattr(cache, "write_generated", partial(only_pad, options=Options.of("small")))
    again = cache.default_suite(lines.append)
    assert again.name != made.name
    assert "not that of specs/suite.lock" in str(lines[-1])
    assert [path.name for path in made.parent.iterdir() if path.name.startswith(".")] == []
    with open_suite(again) as suite:
        assert suite.digest == again.name


def only_pad(path: Path, *_: object, options: Options, **__: object) -> str:
    return write_generated(path, [QUICK], options)


def test_a_place_that_cannot_be_written_is_told_before_anything_is_generated(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"):
        write_generated(tmp_path / "file" / "suite", [], Options())


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert suites_folder() == tmp_path / "opcert" / "suites"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert suites_folder() == Path.home() / ".cache" / "opcert" / "suites"


def test_a_cache_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "opcert").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UserError, match="cannot be written"):
        cache.cached_suite([QUICK], Options.of("small"), lambda line: None)
