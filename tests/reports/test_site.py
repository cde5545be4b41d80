"""The site: every run once, links that lead somewhere, the same bytes again, whatever strangers say."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import jsonschema
import pytest

from conformance.suite.suites import open_suite
from opcert.vocabulary.errors import NothingRan, UserError
from reports.causes.operator_use import counted_models
from reports.results.case_results import put_together
from reports.schemas import load_schema
from reports.sites.front_page import use_without_failure
from reports.sites.kept_runs import find_runs, newest
from reports.sites.site import write_site
from reports.sites.site_page import file_names
from tests.commands.command_line import call
from tests.reports.kept_samples import CASES, answer, crop_crashes, keep
from tests.reports.sample import CROP_PAD

HOSTILE = "<script>alert(1)</script>\u202e\x00/../../'\"&\n"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    keep(folder, "c", answer, "2026-03-01T00:00:00Z", version="1.2")
    keep(folder, "a", answer, "2026-01-01T00:00:00Z", version="1.0")
    keep(folder, "b", crop_crashes, "2026-02-01T00:00:00Z", version="1.1")
    keep(folder, "other", crop_crashes, "2026-02-02T00:00:00Z", "machine")
    return folder


def text_of(page: Path) -> str:
    text = re.sub(
        r"<style.*?</style>|<svg.*?</svg>|<script.*?</script>", " ", page.read_text(), flags=re.DOTALL
    )
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def pages_of(place: Path) -> list[Path]:
    """The pages of a site, not the reports of the runs in its folder."""
    return sorted(
        [*place.glob("*.html"), *(page for path in place.iterdir() for page in path.glob("*-*.html"))]
    )


def bytes_of(place: Path) -> dict[str, bytes]:
    return {
        path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()
    }


def test_runs_stand_by_version_and_not_by_the_clock(runs: Path) -> None:
    """The oldest version is run again last: what the newest one says stays what the site begins with."""
    keep(runs, "again", crop_crashes, "2026-05-01T00:00:00Z", version="1.0")
    keep(runs, "ten", answer, "2026-01-02T00:00:00Z", version="1.10")
    index, found = write_site([runs])
    assert [run.version for run in found.series["engine"]] == ["1.0", "1.0", "1.1", "1.2", "1.10"]
    assert list(found.series) == ["engine", "machine"]
    said = text_of(index)
    assert "What 2 runtimes make of 2 operators" in said
    assert "engine 1.10 machine 1.0" in said
    assert "CenterCropPad -18 of 2 2 of 2 1 of 2 1 crash" in said
    assert "6 runs, from 2026-01-01" in said


def test_a_run_has_an_address_that_stays(runs: Path) -> None:
    write_site([runs])
    page = runs / "runtimes" / "engine.html"
    found = re.findall(r'<tr id="([^"]+)"><th scope="row"><a href="#\1">([^<]+)</a>', page.read_text())
    assert [version for _, version in found] == ["1.2", "1.1", "1.0"]
    keep(runs, "later", answer, "2026-06-01T00:00:00Z", version="1.3")
    keep(runs, "again", crop_crashes, "2026-05-01T00:00:00Z", version="1.0")
    write_site([runs])
    assert all(f'<tr id="{address}">' in page.read_text() for address, _ in found)


def test_what_changed_is_told_by_cause_on_each_page(runs: Path) -> None:
    write_site([runs])
    worse, better = (text_of(runs / "changes" / f"engine-1.{each}.html") for each in (1, 2))
    assert "2 regressed. 4 cases ran in both" in worse
    assert "1 case of CenterCropPad-18 regressed: crashes: the worker died of SIGSEGV" in worse
    assert "1 case of com.microsoft Pad-1 fixed: crashes" in better
    changed = next(str(each.id) for each in CASES if each.levels["extent"] == "crop")
    assert changed in worse
    operator = text_of(runs / "operators" / "ai.onnx-CenterCropPad.html")
    assert "engine 1.1 to 1.2" in operator
    assert "1 case of CenterCropPad-18 fixed" in operator
    runtime = text_of(runs / "runtimes" / "engine.html")
    assert runtime.index("1.1 to 1.2 2 fixed") < runtime.index("1.0 to 1.1 2 regressed")
    assert "the first run that is kept" in runtime


def test_a_cause_has_a_page_with_who_has_it(runs: Path) -> None:
    write_site([runs])
    pages = [text_of(path) for path in (runs / "causes").iterdir()]
    assert len(pages) == 4  # two operators of two runtimes: a signal says nothing of another runtime
    for page in pages:
        assert ": crashes: the worker died of SIGSEGV" in page
        assert re.search(r"(engine 1.1|machine 1.0) 1 0 0 0 0 crash", page)
        assert "opcert repro" in page


def test_cases_that_were_not_run_again_are_told(runs: Path) -> None:
    keep(runs, "part", answer, "2026-05-01T00:00:00Z", version="1.3", skip=1)
    write_site([runs])
    assert "1 not run again" in text_of(runs / "runtimes" / "engine.html")


def test_every_link_leads_to_a_file_of_the_site_or_to_a_place_on_the_page(runs: Path, tmp_path: Path) -> None:
    for place in (runs, tmp_path / "public"):
        write_site([runs], place)
        seen = 0
        for page in pages_of(place):
            text = page.read_text()
            for link in re.findall(r'(?:href|src)="([^"]+)"', text):
                address, _, fragment = link.partition("#")
                if address.startswith("https://"):
                    continue
                target = page if not address else (page.parent / unquote(address)).resolve()
                assert target.is_relative_to(place.resolve()), (page, link)
                assert target.is_file(), (page, link)
                if fragment and not fragment.startswith("sign-"):
                    assert f'id="{fragment}"' in target.read_text(), (page, link)
                seen += 1
        assert seen > 100
    assert "a report" in (runs / "a" / "index.html").read_text()


def test_the_same_runs_make_the_same_bytes_whatever_their_folders_are_called(
    runs: Path, tmp_path: Path
) -> None:
    write_site([runs], tmp_path / "one")
    moved = tmp_path / "moved"
    for old, new in (("a", "z"), ("b", "c"), ("c", "b"), ("other", "0")):
        shutil.copytree(runs / old, moved / new)
    write_site([moved], tmp_path / "two")
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "two")
    apart = [tmp_path / "apart" / each for each in ("b", "c", "0", "z")]
    for path in apart:
        shutil.copytree(moved / path.name, path / "run")
    write_site(apart, tmp_path / "three")
    write_site(list(reversed([*apart, runs])), tmp_path / "four")  # and a run that is there twice counts once
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "three") == bytes_of(tmp_path / "four")


def test_what_is_no_run_is_left_out_and_named(runs: Path) -> None:
    """A runtime of which nothing ran is no row of zeros, and a damaged record no end of the site."""
    keep(runs, "dead", answer, "2026-04-01T00:00:00Z", "dead-engine", skip=4)
    (runs / "notes.jsonl").write_text('{"anything": 1}\n')
    lines = (runs / "a" / "run.jsonl").read_text().splitlines()
    (runs / "damaged.jsonl").write_text("\n".join([lines[0], "{}", *lines[1:]]) + "\n")
    index, found = write_site([runs])
    assert len(found.all) == 4
    assert {path for path, _ in found.left_out} == {"dead/run.jsonl", "damaged.jsonl"}
    said = text_of(index)
    assert "nothing ran on dead-engine 1.0, so nothing is known of it" in said
    assert "dead-engine" not in said.replace("nothing ran on dead-engine", "")


def test_a_part_of_a_run_is_told_to_be_one_and_hides_no_whole_run(runs: Path) -> None:
    record = runs / "c" / "run.jsonl"
    record.write_text("".join(record.read_text().splitlines(keepends=True)[:-1]))
    index, _ = write_site([runs])
    assert "a part of a run: its record has no footer" in text_of(runs / "runtimes" / "engine.html")
    assert "engine 1.2 a part of a run" in text_of(index)
    keep(runs, "whole", crop_crashes, "2026-01-05T00:00:00Z", version="1.2")
    index, _ = write_site([runs])
    assert "a part of a run" not in text_of(index)


def test_pages_of_before_go_and_nothing_else_does(runs: Path) -> None:
    write_site([runs])
    mine = runs / "changes" / "notes.html"
    mine.write_text("mine")
    shutil.rmtree(runs / "c")
    shutil.rmtree(runs / "b")
    write_site([runs])
    assert [path.name for path in (runs / "changes").iterdir()] == ["notes.html"]
    assert mine.read_text() == "mine"


def test_hostile_text_is_shown_and_not_executed(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    keep(folder, "a", answer, "2026-01-01T00:00:00Z", HOSTILE, version=HOSTILE)
    keep(folder, "b", crop_crashes, HOSTILE, HOSTILE, version=f"{HOSTILE}2")
    keep(folder, "c", crop_crashes, HOSTILE * 40, HOSTILE * 40, version=HOSTILE * 40)
    write_site([folder])
    before = {path.name for path in tmp_path.iterdir()}
    assert before == {"runs"}
    pages = pages_of(folder)
    assert len(pages) >= 10
    for page in pages:
        text = page.read_text()
        assert "<script>alert" not in text
        assert "\u202e" not in text
        assert "\x00" not in text
        scripted = [folder / name for name in ("index.html", "versions.html", "causes.html")]
        assert text.count("<script") == (page in scripted)
        assert "default-src 'none'" in text


@pytest.mark.parametrize("texts", [["a b", "a-b"], ["A", "a"], ["..", "", "/"], ["x" * 300, "x" * 301]])
def test_each_text_has_a_file_of_its_own(texts: list[str]) -> None:
    names = file_names(texts)
    assert len({name.lower() for name in names.values()}) == len(texts)
    assert names == file_names(reversed(texts))
    for name in names.values():
        assert re.fullmatch(r"\w[\w.-]{0,100}", name)


def test_the_folder_of_one_run_keeps_its_report(runs: Path) -> None:
    with pytest.raises(UserError, match="folder of one run"):
        write_site([runs / "a"])
    assert (runs / "a" / "index.html").read_text() == "a report"


def test_a_runtime_has_its_bar_and_says_where_its_badge_is(runs: Path) -> None:
    write_site([runs])
    front, page = ((runs / name).read_text() for name in ("index.html", "runtimes/engine.html"))
    assert re.findall('class="shares" .*? aria-label="([^"]+)"', front)[0].endswith("of 4 cases")
    (badge,) = re.findall(r'<a href="\.\./(badges/[^"]+)">', page)
    assert (runs / unquote(badge)).is_file()
    assert f"https://img.shields.io/endpoint?url=<b>SITE</b>/{badge})" in page


def test_a_later_run_of_fewer_operators_does_not_stand_for_its_version(tmp_path: Path) -> None:
    fewer = [each for each in CASES if each.operator == CROP_PAD]
    for name, version, cases in (("a", "1.0", CASES), ("b", "1.1", CASES), ("c", "1.1", fewer)):
        keep(tmp_path, name, answer, f"2026-01-0{ord(name) - 96}T00:00:00Z", cases=cases, version=version)
    runs = find_runs([tmp_path]).series["engine"]
    assert [len(run.verdicts) for run in runs] == [4, 4, 2]
    assert newest(runs) is runs[1]


def test_several_folders_need_a_place(runs: Path) -> None:
    with pytest.raises(UserError, match="several folders"):
        write_site([runs, runs])


def test_another_place_has_no_links_out_of_itself(runs: Path, tmp_path: Path) -> None:
    index, _ = write_site([runs], tmp_path / "public")
    assert index == tmp_path / "public" / "index.html"
    assert "its report" not in (tmp_path / "public" / "runtimes" / "engine.html").read_text()
    assert not (runs / "index.html").exists()


def test_the_command(capsys: pytest.CaptureFixture[str], runs: Path, tmp_path: Path) -> None:
    (runs / "odd.jsonl").write_text(json.dumps({"type": "header", "format": "opcert-run/1"}) + "\n{\n")
    done = call(capsys, "site", runs, runs, "-o", tmp_path / "public", "--address", "https://example.org/x")
    assert done.code == 0
    assert done.out.splitlines()[0] == "4 runs of 2 runtimes"
    assert "left out" in done.err
    assert "which is not kept here: causes are told by what was said alone" in done.err
    assert "https://example.org/x/changes/engine-1.2.html" in (tmp_path / "public" / "feed.xml").read_text()
    (tmp_path / "empty").mkdir()
    assert call(capsys, "site", tmp_path / "empty").code == 5
    assert call(capsys, "site", tmp_path / "none").code == 2


def test_with_its_suite_a_cause_has_the_call_that_shows_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    keep(tmp_path / "runs", "a", crop_crashes, "2026-01-01T00:00:00Z", suites=tmp_path / "suites")
    (suite,) = (tmp_path / "suites").iterdir()
    done = call(capsys, "site", tmp_path / "runs", "-s", suite)
    assert (done.code, done.err) == (0, "")
    pages = [text_of(path) for path in (tmp_path / "runs" / "causes").iterdir()]
    assert len(pages) == 2
    for page in pages:
        assert "expected" in page
        assert "float [" in page


def test_nothing_ran_anywhere(tmp_path: Path) -> None:
    keep(tmp_path / "runs", "a", answer, "2026-01-01T00:00:00Z", skip=4)
    with pytest.raises(NothingRan):
        write_site([tmp_path / "runs"])
    assert len(find_runs([tmp_path / "runs"]).left_out) == 1


def test_the_table_as_data_keeps_its_schema_and_says_what_the_pages_say(runs: Path) -> None:
    write_site([runs])
    data = json.loads((runs / "data.json").read_text())
    jsonschema.Draft202012Validator(load_schema("site")).validate(data)
    columns = [(each["runtime"], each["version"], each["newest"]) for each in data["columns"]]
    newest = [("engine", "1.2", True), ("engine", "1.1", False), ("engine", "1.0", False)]
    assert columns == [*newest, ("machine", "1.0", True)]
    crop = data["operators"]["ai.onnx::CenterCropPad"]
    assert (runs / crop["page"]).is_file()
    counts = [{"pass": 2}, {"crash": 1, "pass": 1}, {"pass": 2}, {"crash": 1, "pass": 1}]
    assert crop["cells"] == [{"versions": [18], "cases": each} for each in counts]
    for cause in data["causes"]:
        assert (runs / cause["page"]).is_file()
        assert cause["blames"] is True
    crashes = [each["cases"] for each in data["causes"] if each["operators"] == ["ai.onnx::CenterCropPad-18"]]
    assert sorted(crashes) == [[0, 0, 0, 1], [0, 1, 0, 0]]


def test_every_version_is_a_column_of_a_page_of_its_own(runs: Path) -> None:
    index, _ = write_site([runs])
    every = runs / "versions.html"
    assert index.read_text().count('<th scope="col" data-share') == 2
    assert every.read_text().count('<th scope="col" data-share') == 4
    assert "engine 1.2 engine 1.1 engine 1.0 machine 1.0" in text_of(every)
    assert "What 2 runtimes make of 2 operators" in text_of(every)


def test_badges_say_how_much_passes_and_go_with_their_runtime(runs: Path) -> None:
    write_site([runs])
    badges = {path.stem: json.loads(path.read_text()) for path in (runs / "badges").iterdir()}
    assert {name: (each["message"], each["color"]) for name, each in badges.items()} == {
        "engine": ("100.0 % of 4 decided cases pass", "blue"),
        "machine": ("50.0 % of 4 decided cases pass", "blue"),
    }
    assert badges["engine"]["label"] == "operator documents: engine 1.2"
    (runs / "badges" / "mine.json").write_text("{}")
    shutil.rmtree(runs / "other")
    record = keep(runs, "part", answer, "2026-05-01T00:00:00Z", "half") / "run.jsonl"
    record.write_text("".join(record.read_text().splitlines(keepends=True)[:-1]))  # without its footer
    write_site([runs])
    badges = {path.stem: json.loads(path.read_text()) for path in (runs / "badges").iterdir()}
    assert sorted(badges) == ["engine", "half", "mine"]
    assert badges["half"]["message"] == "100.0 % of 4 decided cases pass, a part of a run"
    assert badges["half"]["color"] == "lightgrey"


def test_use_weighs_operators_by_the_nodes_of_public_models(tmp_path: Path) -> None:
    """Of two operators one fails: with the nodes of the models it weighs what it weighs there."""
    used = counted_models().operators
    keep(tmp_path, "a", crop_crashes, "2026-01-01T00:00:00Z")
    _, found = write_site([tmp_path])
    (run,) = found.all
    assert "ai.onnx::CenterCropPad" not in used
    assert use_without_failure(run) == (0, 0)
    relu = replace(
        run,
        verdicts={
            f"ai.onnx/{name}-14/cover/{'0' * 12}": word
            for name, word in (("Relu", "pass"), ("Add", "mismatch"), ("Mul", "unsupported"))
        },
        types=defaultdict(lambda: "float"),
    )
    nodes = [used[f"ai.onnx::{name}"].nodes for name in ("Relu", "Add", "Mul")]
    assert use_without_failure(relu) == (nodes[0], sum(nodes))


def test_a_cause_of_a_runtime_with_a_tracker_opens_an_issue_with_its_call(tmp_path: Path) -> None:
    """Not without the suite, for then nobody knows the call; not for a runtime without a known tracker."""
    folder, suites = tmp_path / "runs", tmp_path / "suites"
    for runtime in ("tract", "engine"):
        keep(folder, runtime, crop_crashes, "2026-01-01T00:00:00Z", runtime, suites=suites)
    (suite,) = map(open_suite, suites.iterdir())
    with suite:
        write_site([folder], tmp_path / "public", lambda record: put_together(suite, record))
    pages = [path.read_text() for path in (tmp_path / "public" / "causes").iterdir()]
    links = {page: re.findall('<a class="issue" href="([^"]+)"', page) for page in pages}
    assert [len(links[page]) for page in pages] == ["tract 1.0: <code>" in page for page in pages]
    assert sum(map(len, links.values())) == 2
    (link,) = next(links[page] for page in pages if links[page] and "CenterCropPad-18" in page)
    address = urlsplit(unescape(link))
    assert address.netloc + address.path == "github.com/sonos/tract/issues/new"
    said = {name: values[0] for name, values in parse_qs(address.query, strict_parsing=True).items()}
    assert said["title"] == "CenterCropPad-18: crashes: the worker died of SIGSEGV"
    lines = said["body"].splitlines()
    assert lines[0] == "`CenterCropPad-18` in tract 1.0, 1 test case."
    assert "- X: `float [4, 4] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16`" in lines
    (crop,) = (each for each in CASES if each.levels["extent"] == "crop" and each.id.operator == CROP_PAD)
    assert f"`opcert repro {crop.id}" in lines[-1]
    write_site([folder], tmp_path / "bare")
    bare = [path.read_text() for path in (tmp_path / "bare" / "causes").iterdir()]
    assert not any('class="issue"' in page for page in bare)
