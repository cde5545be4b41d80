"""A suite made by hand whose words are code: every report, script and annotation of it has them as words."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.suite.cases import Case, Expectation, ExpectedOutput, call_digest
from opcert.vocabulary.attributes import attribute
from opcert.vocabulary.names import OperatorName
from tests.commands.command_line import Answer, call
from tests.commands.forged_suites import forge_suite
from tests.commands.test_hostile_text import check
from tests.conformance.samples import echo_runtime, make_case, make_suite

pytestmark = pytest.mark.nightly

Capture = pytest.CaptureFixture[str]
WORDS = {
    "html": "</script></title><script>planted(1)</script><img src=x onerror=planted(2)>{{7*7}}${7*7}",
    "shell": "$(touch planted)`touch planted`';touch planted;'\"; touch planted #\n touch planted\n",
    "python": "'''+open('planted','w').name+'''\\\"\"\"\nopen('planted', 'w')\r\u2028open('planted', 'w')\n",
    "markdown": "\n# forged\n[x](javascript:planted()) ![x](x://y) | a | b |\n```\n<script>planted()",
    "terminal": "\x1b]0;planted\x07\x1b[2J\x9b31m\u202e\x00\x08\r",
    "csv": "=cmd|' /C planted'!A0\n+1,\"\n@x\t-1",
    "xml": "]]>\x00\ufffe<failure/>&x;<!--<?x?>",
    "ci": "\n::set-output name=x::y\n::error::planted\r::add-mask::x\n##[add-path]/x\n%0A::stop-commands::x",
}
NAMES = {
    "path": "../../planted",
    "absolute": "/planted",
    "dots": "..",
    "empty": "",
    "option": "-rf",
    "control": "a\x1b[31m\x07b",
    "nul": "a\0b",
    "right-to-left": "a\u202eb",
    "letters": "\u00e4\uff2e\u200b",
    "html": "<script>planted(1)</script>",
    "ci": "a\n::error::planted",
    "long": "a" * 101,
    "very-long": "a" * 5_000,
}
"""What no operator and no file of a suite may be called."""
ODD = {
    "device": "CON",
    "nothing": "NUL",
    "port": "COM1",
    "number": "0",
    "prototype": "__proto__",
    "full": "a" * 100,
}
"""What an operator may be called: it has a version behind it wherever a file is named after it."""
FORMATS = (
    "annotations", "badge", "csv", "html", "json", "junit", "markdown",
    "support", "support-csv", "support-json",
)  # fmt: skip


def _name(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)


def _coded(deed: str, seed: int, text: str) -> Case:
    """A case all of whose words that anybody may choose are code; names have one line of what prints."""
    name = _name(text)
    plain = make_case(deed, seed=seed)
    attributes = {**plain.attributes, "said": attribute("string", text)}
    ((_, given),) = plain.inputs
    assert given is not None
    output = ExpectedOutput(name, given, None)
    return replace(
        plain,
        id=replace(plain.id, digest=call_digest(plain.operator, attributes, plain.inputs)),
        attributes=attributes,
        output_names=(name,),
        expectations=(Expectation((output,), {"order": (name,)}),),
        rule=text,
        levels={"do": name, name: name},
        sources=((name, 1),),
    )


class _Elements(HTMLParser):
    """The scripts of a page, and what its attributes would run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.in_script, self.runs = False, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_script = tag == "script" and dict(attrs).get("type") in (None, "module", "text/javascript")
        for name, value in attrs:
            if name.startswith("on") or (value or "").strip().lower().startswith("javascript:"):
                self.runs.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self.in_script = False

    def handle_data(self, data: str) -> None:
        if self.in_script and "planted" in data:
            self.runs.append(data[:200])


def _check_files(folder: Path) -> None:
    for path in folder.rglob("*.html"):
        page = _Elements()
        page.feed(path.read_text("utf-8"))
        assert page.runs == [], path
    for path in folder.rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if re.match(r"\s*[=+@]|\s*-\D", cell)], path
    for path in folder.rglob("*.xml"):
        ElementTree.parse(path)
    for path in folder.rglob("annotations.txt"):
        assert not re.search(r"^(?!::(error|warning|notice) )", path.read_text("utf-8").rstrip("\n"), re.M)
    for path in folder.rglob("*.md"):
        text = re.sub(r"(`+)[^`].*?\1", "", path.read_text("utf-8"), flags=re.DOTALL)
        assert not re.search(r"^# forged|(?<!\\)<script|(?<!\\)\]\(javascript", text, re.MULTILINE), text
    assert not list(folder.rglob("planted"))


@pytest.mark.parametrize("kind", WORDS)
def test_words_that_are_code_stay_words(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = WORDS[kind]
    deeds = ("echo", "zero", "raise", "double")
    suite = make_suite(tmp_path, [_coded(deed, at, text) for at, deed in enumerate(deeds)])
    record, out = tmp_path / "run.jsonl", tmp_path / "out"
    ran = call(capsys, "run", echo_runtime(), "-s", suite, "-o", record)
    assert ran.code == 1, ran.err
    check(ran)
    wanted = [word for each in FORMATS for word in ("--format", each)]
    told = call(capsys, "report", record, "-s", suite, "-o", out, *wanted)
    assert told.code in (0, 1), told.err
    check(told)
    certified = call(capsys, "certify", echo_runtime(), "-s", suite, "-o", tmp_path / "certified")
    assert certified.code == 0, certified.err
    check(certified)
    compared = call(capsys, "compare", record, record, "-s", suite, "-o", tmp_path / "compared")
    assert compared.code in (0, 1), compared.err
    check(compared)
    rows = [line for line in record.read_text("utf-8").splitlines() if '"verdict":"mismatch"' in line]
    name = re.search(r'"case":"([^"]+)"', rows[0])
    assert name is not None
    shown = call(capsys, "repro", name[1], "-s", suite, "-o", tmp_path / "repro")
    assert shown.code == 0, shown.err
    check(shown)
    alone = subprocess.run(
        [sys.executable, str(tmp_path / "repro" / "reproduce.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert alone.returncode in (0, 1, 2), alone.stderr
    check(Answer(0, alone.stdout, alone.stderr))
    told_json = json.dumps(json.loads((out / "report.json").read_text("utf-8")), ensure_ascii=False)
    assert json.dumps(_name(text), ensure_ascii=False)[1:-1] in told_json
    _check_files(tmp_path)


def _answers(capsys: Capture, folder: Path, suite: Path, case: str) -> dict[str, Answer]:
    """What the commands say that read a suite, one after the other."""
    record, wanted = folder / "run.jsonl", [word for each in FORMATS for word in ("--format", each)]
    certificate = folder / "certified" / "certificate.json"
    commands = (
        ("run", echo_runtime(), "-s", suite, "-o", record),
        ("report", record, "-s", suite, "-o", folder / "out", *wanted),
        ("certify", echo_runtime(), "-s", suite, "-o", folder / "certified"),
        ("verify", certificate, "-s", suite),
        ("compare", record, record, "-s", suite, "-o", folder / "compared"),
        ("repro", case, "-s", suite, "-o", folder / "repro"),
        ("export", suite, "-o", folder / "exported"),
    )
    return {str(command): call(capsys, command, *words) for command, *words in commands}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("place", ["domain", "name"])
def test_an_odd_name_of_an_operator_is_a_name(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    domain, name = (ODD[kind], "Echo") if place == "domain" else ("org.example", ODD[kind])
    suite, cases = forge_suite(tmp_path, OperatorName(domain, name, 1))
    found = _answers(capsys, tmp_path, suite, str(cases[0].id))
    for answer in found.values():
        check(answer)
    codes = {command: answer.code for command, answer in found.items()}
    # The fake offers operators of one domain, and where nothing ran nothing is certified.
    ran = {"run": 1, "certify": 0, "verify": 0} if place == "name" else {"run": 5, "certify": 5, "verify": 2}
    assert codes == {**ran, "report": 0, "compare": 0, "repro": 0, "export": 0}, found
    _check_files(tmp_path)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("place", ["domain", "name", "file"])
def test_a_name_that_is_none_is_refused(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, place: str
) -> None:
    """Before anything is written, in a line that is harmless and not too long."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    folder, said = tmp_path / "here" / "made", NAMES[kind]
    if place == "file":
        suite, _ = forge_suite(folder, file=said)
    else:
        domain, name = (said, "Echo") if place == "domain" else ("org.example", said)
        suite, _ = forge_suite(folder, OperatorName(domain, name, 1))
    before = sorted(tmp_path.rglob("*"))
    for words in (
        ("run", echo_runtime(), "-s", suite, "-o", folder / "run.jsonl"),
        ("certify", echo_runtime(), "-s", suite, "-o", folder / "certified"),
        ("export", suite, "-o", folder / "exported"),
    ):
        answer = call(capsys, *words)
        check(answer)
        assert answer.code == 2, answer.err
        assert "manifest" in answer.err
        assert len(answer.err) < 1_500
    assert sorted(tmp_path.rglob("*")) == before
