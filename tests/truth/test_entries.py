"""`tools.entries`: what every entry of `disagreements.yaml` is worth, by what runtimes were asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from generator.trust.witnesses.truth_explanations import read_explanations
from opcert.vocabulary.errors import UserError
from reference.readings.disagreements import FILE_NAME, Disagreement
from specs.files.library import list_operators, load_spec
from specs.files.spec_folders import OWN_FOLDER, room_of
from tests.commands.command_line import Answer
from tests.documents.cited import assert_cited
from tests.documents.gathering import Documents
from tools import entries
from tools.disagreeing import Disagreeing
from tools.entries import ALIKE, Known, Standing, known_entries, standings
from tools.explained import Explained, Part, Use, read_explained, uses_in_run, write_explained

OPERATOR = "ai.onnx::Gather-13"


def known(
    name: str,
    place: str = "ai.onnx/Gather",
    part: Part = "cases",
    against: str = "some",
    versions: tuple[str, ...] = ("1.2.*",),
) -> Known:
    return Known(place, part, name, against, versions)


def asked(*uses: Use, calls: bool = True) -> Explained:
    parts: tuple[Part, ...] = ("cases", "calls") if calls else ("cases",)
    return Explained("made up", parts, {"some": "1.2.3"}, Counter(uses))


def one(found: list[Standing]) -> Standing:
    (standing,) = found
    return standing


def names(some: tuple[Known, ...]) -> list[str]:
    return [each.id for each in some]


def test_entries_explain_something_or_are_of_other_versions_or_are_silent() -> None:
    every = [known("used"), known("old", versions=("1.1.*", "1.0.*")), known("silent")]
    found = one(standings(every, [asked(Use("cases", "used", OPERATOR, "some"))]))
    assert (found.part, found.witness, found.version) == ("cases", "some", "1.2.3")
    assert names(found.explaining) == ["used"]
    assert names(found.of_other_versions) == ["old"]
    assert names(found.silent) == ["silent"]


def test_an_old_entry_that_still_explains_something_does_so() -> None:
    found = one(
        standings([known("old", versions=("1.1.*",))], [asked(Use("cases", "old", OPERATOR, "some"))])
    )
    assert names(found.explaining) == ["old"]


def test_what_one_folder_is_silent_about_another_may_use() -> None:
    used = asked(Use("cases", "used", OPERATOR, "some"))
    assert names(one(standings([known("used")], [asked(), used])).explaining) == ["used"]
    assert names(one(standings([known("used")], [asked(), asked()])).silent) == ["used"]


def test_a_case_is_explained_from_any_place_and_a_call_from_its_room() -> None:
    use = [asked(Use("cases", "used", OPERATOR, "some"))]
    assert names(one(standings([known("used", "ai.onnx/GatherND")], use)).explaining) == ["used"]
    use = [asked(Use("calls", "used", OPERATOR, "some"))]
    own, other = known("used", part="calls"), known("used", "ai.onnx/GatherND", part="calls")
    alike = known("used", ALIKE, part="calls")
    assert one(standings([own, other], use)).silent == (other,)
    assert one(standings([alike, other], use)).explaining == (alike,)


def test_another_witness_and_another_part_explain_nothing() -> None:
    for use in (Use("cases", "used", OPERATOR, "other"), Use("calls", "used", OPERATOR, "some")):
        assert names(one(standings([known("used")], [asked(use)])).silent) == ["used"]


def test_who_was_not_asked_is_told_as_that() -> None:
    assert one(standings([known("a", against="other")], [asked()])).version is None
    assert one(standings([known("a", part="calls")], [asked(calls=False)])).version is None
    whoever = known("a", part="calls", against="*", versions=("*",))
    assert names(one(standings([whoever], [asked()])).silent) == ["a"]
    assert one(standings([whoever], [asked(calls=False)])).version is None


def test_uses_are_counted_over_all_rows() -> None:
    stated = {"id": "used", "operator": "*", "against": "some", "cause": "reading"}
    entry = Disagreement.model_validate({**stated, "explanation": "made up", "evidence": "made up"})
    rows = [
        Disagreeing(f"case-{each}", OPERATOR, "mismatch", "", entry if each else None) for each in range(3)
    ]
    assert uses_in_run("some", rows) == {Use("cases", "used", OPERATOR, "some"): 2}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written = asked(Use("cases", "used", OPERATOR, "some"), Use("calls", "used", OPERATOR, "some"))
    write_explained(tmp_path, written)
    assert read_explained(tmp_path) == written


def test_a_folder_without_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--records"):
        read_explained(tmp_path)
    (tmp_path / "explained.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="--records"):
        read_explained(tmp_path)


def made_folder(folder: Path) -> Path:
    room = folder / "ai.onnx" / "Gather"
    room.mkdir(parents=True)
    (room / FILE_NAME).write_text(
        """calls:
- {id: told, against: some, reason: x, cause: limit, explanation: x}
cases:
- {id: two, operator: "*", against: [some, other], versions: 1.*, cause: reading, explanation: x, evidence: x}
- {id: printed, operator: "*", against: document, cause: finding, explanation: x, evidence: x}
""",
        encoding="utf-8",
    )
    (folder / FILE_NAME).write_text(
        "calls:\n- {id: alike, against: some, reason: x, cause: limit, explanation: x}\n"
    )
    return folder


def test_every_entry_is_known_once_for_each_witness(tmp_path: Path) -> None:
    assert known_entries(made_folder(tmp_path)) == [
        Known("ai.onnx/Gather", "calls", "told", "some", ("*",)),
        Known("ai.onnx/Gather", "cases", "two", "other", ("1.*",)),
        Known("ai.onnx/Gather", "cases", "two", "some", ("1.*",)),
        Known(ALIKE, "calls", "alike", "some", ("*",)),
    ]


def test_rooms_and_what_is_alike_share_no_id_of_calls() -> None:
    """An explanation is found again by its id, in the operator's room or beside all rooms."""
    of_calls = [each for each in known_entries() if each.part == "calls"]
    alike = {each.id for each in of_calls if each.place == ALIKE}
    assert alike
    assert not alike & {each.id for each in of_calls if each.place != ALIKE}


@pytest.mark.slow
def test_every_passage_that_blames_a_witness_stands_in_a_document(documents: Documents) -> None:
    rooms = {path.parent: path for path in OWN_FOLDER.glob(f"*/*/{FILE_NAME}")}
    cited = 0
    for room, path in {**rooms, OWN_FOLDER: OWN_FOLDER / FILE_NAME}.items():
        versions = [each for each in list_operators() if room in (room_of(each, OWN_FOLDER), OWN_FOLDER)]
        files = {each.file for version in versions for each in load_spec(version).documents}
        for told in read_explanations(path):
            for passage in told.passage:
                assert passage.partition(":")[0] in files, (told.id, passage)
                assert_cited(documents, passage)
                cited += 1
    assert cited > 5


def run(capsys: pytest.CaptureFixture[str], *folders: Path) -> Answer:
    code = entries.main([str(each) for each in folders])
    told = capsys.readouterr()
    return Answer(code, told.out, told.err)


def test_a_silent_entry_answers_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = [known("used"), known("old", versions=("1.1.*",)), known("elsewhere", against="other")]
    monkeypatch.setattr(entries, "known_entries", lambda: [*every, known("quiet")])
    write_explained(tmp_path, asked(Use("cases", "used", OPERATOR, "some")))
    found = run(capsys, tmp_path)
    assert found.code == 1
    assert "cases against some 1.2.3: 1 of 3 entries explain something, 1 are of other versions" in found.out
    assert "    nothing: ai.onnx/Gather: quiet (1.2.*)" in found.out
    assert "    other versions: ai.onnx/Gather: old (1.1.*)" in found.out
    assert "cases against other: not asked, 1 entry" in found.out
    monkeypatch.setattr(entries, "known_entries", lambda: every)
    assert run(capsys, tmp_path).code == 0
