"""Parts of suites that were made before: taken where nothing that they depend on changed, and whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.suite import kept_parts
from conformance.suite.kept_parts import MOST_KEPT, keep_part, kept_part, parts_of
from conformance.suite.suite_parts import SuitePart, make_part, part_bytes, read_part
from conformance.suite.suites import open_suite, write_suite
from generator.making.operators.sources import sources_digest
from generator.making.operators.workshop import Options
from generator.making.suites import part_making
from generator.making.suites.operator_cases import generate_operator
from generator.making.suites.part_making import make_part_once, part_key
from generator.making.suites.suite_making import Made, write_generated
from generator.measured import kept as keeping
from opcert.commands.operator_facts import find_measured
from opcert.vocabulary.errors import InternalError
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import declaration_path
from specs.files.spec_folders import OWN_FOLDER, facts_path, room_of

pytestmark = pytest.mark.slow

PAD = OperatorName.parse("com.microsoft::Pad-1")
CROP = OperatorName.parse("ai.onnx::CenterCropPad-18")
PATCHES = OperatorName.parse("org.openvino::ExtractImagePatches-3")
BOTH = [CROP, PAD]
SMALL = Options.of("small")
KEY = "0" * 63


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own; returns the folder of its parts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "opcert" / "parts"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of specs with two operators that ship, to change."""
    for each in BOTH:
        shutil.copytree(room_of(each, OWN_FOLDER), room_of(each, tmp_path / "specs"))
    return tmp_path / "specs"


def small_part(**facts: object) -> SuitePart:
    made = generate_operator(PAD, SMALL)
    return make_part(PAD, made.cases[:3], {**made.facts, **facts})


def write(path: Path, operators: list[OperatorName], folders: list[Path]) -> tuple[str, list[str]]:
    """The digest of a suite that takes what is kept, and what was told."""
    lines: list[Made | str] = []
    digest = write_generated(path, operators, SMALL, folders, 1, lines.append, keep=True)
    return digest, [str(line) for line in lines]


@pytest.mark.nightly
def test_a_suite_of_parts_has_the_bytes_of_one_of_cases(tmp_path: Path) -> None:
    made = [generate_operator(operator, SMALL) for operator in BOTH]
    write_generated(tmp_path / "parts", BOTH, SMALL)
    with open_suite(tmp_path / "parts") as suite:
        manifest = suite.manifest
    cases = [case for operator_cases in reversed(made) for case in operator_cases.cases]
    write_suite(tmp_path / "cases", cases, manifest["facts"], manifest["options"])
    parts = files_of(tmp_path / "parts")
    assert parts.pop("known.json")  # what is known of causes stands beside the suite
    assert parts == files_of(tmp_path / "cases")


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.nightly
def test_what_is_kept_makes_the_same_suite(tmp_path: Path) -> None:
    fresh = write_generated(tmp_path / "fresh", BOTH, SMALL)
    first, told = write(tmp_path / "first", BOTH, [])
    assert [each.partition(" cases ")[2][:3] for each in told] == ["in ", "in "]
    second, told = write(tmp_path / "second", BOTH, [])
    assert [each.partition(" cases ")[2][:17] for each in told] == ["kept from before;"] * 2
    assert first == second == fresh
    assert files_of(tmp_path / "fresh") == files_of(tmp_path / "first") == files_of(tmp_path / "second")


def change_declaration(specs: Path) -> None:
    path = declaration_path(CROP, specs)
    path.write_text(path.read_text() + "\n# another remark\n")


def change_imported(specs: Path) -> None:
    path = facts_path(CROP, specs)
    path.write_text(path.read_text() + "\n# another remark\n")


def change_what_was_learned(specs: Path) -> None:
    (room_of(CROP, specs) / "searched.yaml").write_text(
        "confirmed_by: {searches: 20, candidates: 20000}\ncores: []\n"
    )


def test_what_a_room_has_of_other_versions_changes_nothing(own: Path) -> None:
    before = part_key(CROP, SMALL, [own])
    room = room_of(CROP, own)
    (room / "imported-17.yaml").write_text(facts_path(CROP, own).read_text())
    (room / "disagreements.yaml").write_text("cases: []\n")
    (room / "regressions").mkdir()
    for call in (OWN_FOLDER / "ai.onnx").glob("*/regressions/*.json"):
        shutil.copy(call, room / "regressions")
    assert list((room / "regressions").iterdir())
    assert part_key(CROP, SMALL, [own]) == before


@pytest.mark.parametrize(
    "change",
    [
        change_declaration,
        pytest.param(change_imported, marks=pytest.mark.nightly),
        pytest.param(change_what_was_learned, marks=pytest.mark.nightly),
    ],
)
def test_editing_one_operator_makes_one_operator_again(
    tmp_path: Path, own: Path, change: Callable[[Path], None]
) -> None:
    write(tmp_path / "before", BOTH, [own])
    change(own)
    _, told = write(tmp_path / "after", BOTH, [own])
    made = [each for each in told if "kept from before" not in each]
    assert [each.partition(":")[0] + each.partition(":")[2][:1] for each in made] == ["ai.onnx:"]
    assert len(told) == 2


def test_a_key_follows_each_thing_that_a_part_depends_on(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [part_key(PAD, SMALL, [own])]

    def changed() -> bool:
        keys.append(part_key(PAD, SMALL, [own]))
        return keys[-1] not in keys[:-1]

    assert not changed()
    assert part_key(PAD, Options(), [own]) != keys[0]
    assert part_key(PAD, Options("small", 2), [own]) != keys[0]
    assert part_key(CROP, SMALL, [own]) != keys[0]
    change_declaration(own)
    assert not changed()
    (own / "readings.yaml").write_text("subnormals: {question: q, options: {kept: k, flushed: f}, why: w}\n")
    assert changed()
    keeping.kept_path(PAD, own).write_text("{}")
    whole = part_key(PAD, Options(), [own])
    assert changed()
    keeping.kept_path(PAD, own).unlink()
    # The size default takes nothing from it.
    assert part_key(PAD, Options(), [own]) == whole


def test_figures_of_adequacy_are_no_part_of_a_suite(own: Path, tmp_path: Path) -> None:
    """Nor is how far it is trusted: who measures anew has the suite of before, under its name."""
    case = generate_operator(PAD, Options(), [own]).cases[0]
    ((name, expectation),) = keeping.expectations_of([case]).items()
    chosen = keeping.Selected(name, 1, expectation)
    digests: list[str] = []
    told: list[Made | str] = []
    sources: list[str] = []
    for killed in (1, 2):
        figures = {"mutants": {"killed": killed, "score": 1.0}}
        keeping.write_kept(keeping.MeasuredOperator(str(PAD), "0" * 64, (chosen,), figures), own)
        path = tmp_path / str(killed)
        digests.append(write_generated(path, [PAD], Options(), [own], progress=told.append, keep=True))
        sources.append(sources_digest([own]))
        with open_suite(path) as suite:
            (measured,) = find_measured(suite, folders=(own,)).values()
        assert measured.adequacy["mutants"]["killed"] == killed
        assert measured.adequacy["cases"] == "0" * 64
        assert "adequacy" not in suite.facts
        assert "trust" not in suite.facts
    assert "kept from before" in str(told[1])
    assert digests[0] == digests[1]
    assert sources[0] == sources[1]


def spoil_first(raw: bytes) -> bytes:
    return b"0" + raw[1:] if raw[:1] != b"0" else b"1" + raw[1:]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda raw: b"", marks=pytest.mark.nightly),
        lambda raw: raw[:-1],
        pytest.param(lambda raw: raw + b"\0", marks=pytest.mark.nightly),
        pytest.param(lambda raw: raw[:200] + bytes([raw[200] ^ 1]) + raw[201:], marks=pytest.mark.nightly),
        spoil_first,
        pytest.param(lambda raw: part_bytes(small_part())[:-100], marks=pytest.mark.nightly),
        pytest.param(lambda raw: b"\xff" * 100, marks=pytest.mark.nightly),
    ],
)
def test_a_part_that_is_damaged_is_told_and_made_again(
    tmp_path: Path, cache: Path, damage: Callable[[bytes], bytes]
) -> None:
    fresh, _ = write(tmp_path / "fresh", [PAD], [])
    (path,) = (each for each in cache.rglob("*") if each.is_file())
    raw = path.read_bytes()
    path.write_bytes(damage(raw))
    again, told = write(tmp_path / "again", [PAD], [])
    assert again == fresh
    assert f"the kept cases of {PAD} are damaged and are made again" in told[0]
    assert str(path) in told[0]
    assert len(told) == 2
    assert path.read_bytes() == raw


def test_a_part_of_another_operator_or_form_is_damaged(cache: Path) -> None:
    part = small_part()
    keep_part(part, KEY + "0")
    shutil.copytree(parts_of(PAD).folder, parts_of(CROP).folder)
    with pytest.raises(kept_parts.DamagedPart, match=r"it is of com\.microsoft::Pad-1"):
        kept_part(CROP, KEY + "0")
    assert kept_part(PAD, KEY + "1") is None
    (parts_of(PAD).folder / (KEY + "1")).mkdir()
    with pytest.raises(kept_parts.DamagedPart, match="cannot be read"):
        kept_part(PAD, KEY + "1")


def test_a_part_comes_back_from_its_bytes() -> None:
    part = small_part(infinite=float("inf"), pair=(1, 2))
    found = read_part(part_bytes(part))
    assert (found.operator, found.golden, found.entries) == (part.operator, part.golden, part.entries)
    assert found.facts == part.facts
    assert found.facts["infinite"] == "Infinity"
    assert found.digest == part.digest != small_part().digest
    with pytest.raises(InternalError, match="two cases have one id"):
        make_part(PAD, [*generate_operator(PAD, SMALL).cases[:1]] * 2, {})


def test_of_an_operator_those_stay_that_were_used_last(cache: Path) -> None:
    part = small_part()
    for number in range(MOST_KEPT + 3):
        keep_part(part, f"{number:064x}")
        os.utime(parts_of(PAD).folder / f"{number:064x}", ns=(number, number))
        if number == MOST_KEPT - 1:
            assert kept_part(PAD, f"{0:064x}") is not None  # used: it is the newest now
    assert kept_part(PAD, f"{0:064x}") is not None
    assert kept_part(PAD, f"{1:064x}") is None
    assert len(list(parts_of(PAD).folder.iterdir())) == MOST_KEPT


_MAKING = """
import sys
from pathlib import Path
import generator.making.suites.part_making as making
from generator.making.operators.workshop import Options
from opcert.vocabulary.names import OperatorName
plain = making.make_part_anew
def noting(*words):
    with Path(sys.argv[1]).open("a") as file:
        file.write("made\\n")
    return plain(*words)
making.make_part_anew = noting
print(making.make_part_once(OperatorName.parse(sys.argv[2]), Options.of("small")).part.digest)
"""


def test_two_processes_that_make_the_same_part_make_it_once(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _MAKING, str(tmp_path / "made"), str(PATCHES)]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    digests = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(digests) == 1
    assert (tmp_path / "made").read_text() == "made\n"
    assert [path.name for path in parts_of(PATCHES).folder.iterdir()] == [part_key(PATCHES, SMALL)]


def test_a_maker_that_is_killed_keeps_nobody_waiting(tmp_path: Path) -> None:
    code = (
        "import os; from conformance.suite.kept_parts import one_maker\n"
        "from opcert.vocabulary.names import OperatorName\n"
        f"with one_maker(OperatorName.parse('{PAD}'), '{KEY}0'): os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert [path.suffix for path in parts_of(PAD).folder.iterdir()] == [".lock"]
    with kept_parts.one_maker(PAD, f"{KEY}0"):
        pass
    assert list(parts_of(PAD).folder.iterdir()) == []


def test_locks_that_killed_makers_left_go_with_the_next_part() -> None:
    parts_of(PAD).folder.mkdir(parents=True)
    (parts_of(PAD).folder / f"{KEY}1.lock").touch()
    with kept_parts.one_maker(PAD, f"{KEY}0"):
        keep_part(small_part(), f"{KEY}0")
        # One's own is held, though by the same process.
        assert sorted(path.name for path in parts_of(PAD).folder.iterdir()) == [f"{KEY}0", f"{KEY}0.lock"]
    assert [path.name for path in parts_of(PAD).folder.iterdir()] == [f"{KEY}0"]


def test_what_changes_while_a_part_is_made_is_not_kept(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = part_making.make_part_anew

    def changing(*words: object) -> object:
        made = plain(*words)  # type: ignore[arg-type]
        change_declaration(own)
        return made

    monkeypatch.setattr(part_making, "make_part_anew", changing)
    assert not make_part_once(CROP, SMALL, [own]).kept
    assert [path for path in parts_of(CROP).folder.iterdir() if path.is_file()] == []


def test_code_that_changed_since_it_was_loaded_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _begin_at(1, monkeypatch)
    assert not make_part_once(PAD, SMALL).kept
    assert not make_part_once(PAD, SMALL).kept


def _begin_at(moment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that began at this nanosecond, whose clock nobody set meanwhile."""
    monkeypatch.setattr(part_making, "_COUNTED_NS", time.monotonic_ns() - (time.time_ns() - moment))
    monkeypatch.setattr(part_making, "_BEGUN_NS", moment)


def test_under_a_clock_that_was_set_meanwhile_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that changed since may bear a time of before."""
    for hours in (-5, 5):
        with monkeypatch.context() as patch:
            patch.setattr(part_making, "_BEGUN_NS", part_making._BEGUN_NS + hours * 3600 * 10**9)
            assert not make_part_once(PAD, SMALL).kept
            assert not make_part_once(PAD, SMALL).kept


def test_code_of_times_to_come_was_written_before(own: Path) -> None:
    """Under a clock that was set back; its files are not made again and again until that time."""
    for path in own.rglob("*"):
        os.utime(path, (4 * 10**9, 4 * 10**9))
    assert not make_part_once(CROP, SMALL, [own]).kept
    assert make_part_once(CROP, SMALL, [own]).kept


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "opcert").write_text("in the way")
    digest, told = write(tmp_path / "suite", [PAD], [])
    assert digest == write_generated(tmp_path / "fresh", [PAD], SMALL)
    assert len(told) == 1


def test_what_is_not_asked_to_be_kept_is_made_anew(tmp_path: Path, cache: Path) -> None:
    """Whoever plants a mistake in a reference must not find what was made before."""
    write_generated(tmp_path / "suite", [PAD], SMALL)
    assert not cache.exists()
