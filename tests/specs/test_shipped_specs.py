"""The specs that ship: every operator version of their documents, as the documents say, facts only, small."""

from __future__ import annotations

import re
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx.defs
import pytest
from click.testing import CliRunner, Result

from generator.asking.named_operators import first_operators, referenced_operators
from generator.calls.declared.modelled import modelled_operators
from generator.making.suites.lock import read_lock
from generator.measured.kept import read_agreed
from opcert.commands import cli
from opcert.commands.packages import package_document
from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.regular_files import read_regular
from opcert.vocabulary.yaml_files import YamlDocument, load_file
from reference.registry import for_all_versions, implemented
from specs.files.declarations import find_declaration
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, facts_path, list_operators
from specs.importing.importing import find_drift, plan_files, read_documents, remembered_assertions, select
from tests.documents.gathering import Documents

pytestmark = pytest.mark.slow

PACKAGES = ("opcert", "specs", "reference", "generator", "conformance", "reports")
WHEEL_BYTES = 6_000_000
LONGEST_QUOTATION = 8
"""Words in a row that a fact may share with its document; names and lists of values are no words in a row."""


@pytest.fixture(scope="module")
def shipped() -> dict[OperatorName, list[YamlDocument]]:
    """The files as they are, for checks that do without the project's own reading of them."""
    return {operator: load_file(facts_path(operator, OWN_FOLDER)) for operator in list_operators()}


DOCSTRINGS = sorted(
    f"tensorflow/docstrings/{room.name}.txt" for room in (OWN_FOLDER / "org.tensorflow").iterdir()
)
PLACES = ("first-pages", "onnx", "onnxruntime", "openvino", *DOCSTRINGS)
"""What the README's command names."""


def test_they_are_what_their_documents_say(documents: Documents) -> None:
    remembered = remembered_assertions(OWN_FOLDER)
    result = read_documents([documents.find(place) for place in PLACES], remembered=remembered, processes=2)
    plan = plan_files(result, OWN_FOLDER, keep_declared=True)
    assert find_drift(result, plan, OWN_FOLDER) == []
    for operator in set(list_operators()) - set(plan):
        assert all(document.dialect.endswith("-package") for document in load_spec(operator).documents)


@pytest.mark.nightly
@pytest.mark.runtimes("onnx", "onnxruntime")
@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_they_are_what_their_packages_say(
    package: str, shipped: dict[OperatorName, list[YamlDocument]]
) -> None:
    document = package_document(package, print)
    if document.name not in {_document(layer)["file"] for layers in shipped.values() for layer in layers}:
        pytest.skip(f"the specs are not of {document.name}")
    result = select(read_documents([document]), ["ai.onnx*", "com.microsoft::*"])
    plan = plan_files(result, OWN_FOLDER, fill=True)
    assert find_drift(result, plan, OWN_FOLDER) == []


def _document(layer: YamlDocument) -> dict[str, Any]:
    """The one document that a layer is of."""
    (document,) = layer.value["documents"].values()
    return dict(document)


def test_every_schema_of_onnx_is_there() -> None:
    """The installed package may be of another version: what it has not, documents have."""
    known = set(list_operators())
    schemas = {
        OperatorName(schema.domain or "ai.onnx", schema.name, schema.since_version)
        for schema in onnx.defs.get_all_schemas_with_history()
    }
    if onnx.__version__ == "1.23.2":
        assert schemas <= known, sorted(schemas - known)
    assert len(schemas & known) >= 600


def _headings(path: Path, domain: str) -> Iterator[OperatorName]:
    """The operator versions that a page of ONNX's Markdown names, by its headings and sentences alone."""
    heading = r"^### .*\*\*([\w.]+?)(?:-(\d+))?\*\*"
    since = r"since version (\d+) of the"
    name: re.Match[str] | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.match(heading, line)
        name = found or name
        number = re.search(since, line)
        if name is not None and number:
            prefix, _, short = name[1].rpartition(".")
            yield OperatorName(prefix or domain, short, int(number[1]))
            name = None


def test_every_operator_version_of_the_documents_is_there(documents: Documents) -> None:
    known = set(list_operators())
    for file, least in (
        ("onnx/Operators.md", 200),
        ("onnx/Changelog.md", 600),
        ("onnxruntime/ContribOperators.md", 110),
    ):
        named = set(_headings(documents.find(file), "ai.onnx"))
        assert len(named) >= least
        assert named <= known, sorted(named - known)
    titles = [
        found
        for path in documents.find("openvino").rglob("*.md")
        for found in re.findall(
            r"\*\*Versioned name\*\*\s*:\s*\*(\w+)-(\d+)", path.read_text(encoding="utf-8")
        )
    ]
    assert len(titles) >= 120
    assert {OperatorName("org.openvino", name, int(version)) for name, version in titles} <= known


def test_every_one_can_be_loaded_and_says_something() -> None:
    empty = []
    for operator in list_operators():
        spec = load_spec(operator)
        assert spec.operator == operator
        if not (spec.outputs or spec.deprecated):
            empty.append(str(operator))
    # Documents that describe no output.
    assert len(empty) < 10, empty


def test_operators_with_references_of_their_own_are_declared() -> None:
    declared = [
        operator for operator in implemented() if find_declaration(operator, [OWN_FOLDER]) is not None
    ]
    assert declared == implemented()
    assert set(first_operators()) < set(declared)


def _run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, standalone_mode=False)


def test_list_reads_no_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files say which there are; opening each of them would take seconds."""
    opened = []

    def record(path: Path, most: int) -> bytes:
        opened.append(path)
        return read_regular(path, most)

    monkeypatch.setattr("opcert.vocabulary.yaml_files.read_regular", record)
    load_file(facts_path(implemented()[0], OWN_FOLDER))
    assert [each.name for each in opened] == [facts_path(implemented()[0], OWN_FOLDER).name]
    opened.clear()
    _run("list", "operators")
    assert [each for each in opened if each.name.startswith("imported-")] == []


def test_list_names_them_all_and_says_what_else_there_is() -> None:
    result = _run("list", "operators", "--all")
    rows = dict(line.partition("  ")[::2] for line in result.stdout.splitlines())
    assert sorted(rows) == sorted(str(operator) for operator in list_operators())
    common = for_all_versions()
    modelled = {str(modelled_operator) for modelled_operator in modelled_operators()}
    known = {
        str(modelled_operator)
        for modelled_operator in modelled_operators()
        if f"{modelled_operator.domain}::{modelled_operator.name}" in common
    }
    known |= set(map(str, (*implemented(), *referenced_operators())))
    assert len(known) > 300
    for name, words in rows.items():
        if name in known:
            assert re.fullmatch(r"(referenced|reviewed), [\d,]+ cases", words.strip()), name
        else:
            beginning = "declared" if name in modelled else "imported"
            assert words.strip().startswith(f"{beginning}, no cases: "), name


@pytest.mark.parametrize(
    "operator",
    [
        "ai.onnx::Add-1",
        "ai.onnx.preview.training::Gradient-1",
        "com.microsoft::BeamSearch-1",
        "org.openvino::DeformableConvolution-8",
    ],
)
def test_show_answers_for_each_domain(operator: str) -> None:
    result = _run("show", operator)
    assert result.exception is None
    assert "\n  imported, no cases\n" in result.stdout
    assert re.search(r"^inputs\.\w+\.type +\S+  \(imported: [\w.]+:\d+", result.stdout, re.MULTILINE)


def test_show_says_that_an_operator_is_deprecated() -> None:
    assert "\n  deprecated\n" in _run("show", "ai.onnx::Scatter-11").stdout


def test_show_says_what_else_there_is() -> None:
    assert re.search(r"  (referenced|reviewed), [\d,]+ cases\n", _run("show", "Resize-18").stdout)


def _strings(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _strings(each, (*path, key))
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, path)
    elif isinstance(value, str):
        yield path, value


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_no_sentence_of_a_document_is_in_them(
    documents: Documents, shipped: dict[OperatorName, list[YamlDocument]]
) -> None:
    """No row of words of a document, but in the evidence of a finding, which quotes a few."""
    texts = {
        path.name: f" {' '.join(_words(path.read_text(encoding='utf-8')))} "
        for folder in map(documents.find, PLACES)
        for path in ([folder] if folder.is_file() else folder.rglob("*.*"))
    }
    # What packages say is mostly what documents say, too.
    everything = "|".join(texts.values())
    for operator, layers in shipped.items():
        for layer in layers:
            document = _document(layer)
            for path, text in _strings(layer.value):
                words = _words(text)
                if path == ("findings", "evidence"):
                    assert len(text) < 500, (operator, text)
                    continue
                for start in range(len(words) - LONGEST_QUOTATION + 1):
                    row = words[start : start + LONGEST_QUOTATION]
                    plain = sum(each.isalpha() and len(each) > 1 for each in row)
                    if plain >= LONGEST_QUOTATION - 1:
                        text_of = texts.get(document["file"], everything)
                        assert f" {' '.join(row)} " not in text_of, (operator, path, text)


def test_the_wheel_stays_small_and_knows_every_measurement(repository: Path, tmp_path: Path) -> None:
    command = ["uv", "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(repository)]
    subprocess.run(command, check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < WHEEL_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        unpacked = re.compile(r"measured/|.*/(adequacy|agreement)-")
        assert not [name for name in names if unpacked.match(name)]
        files = ("suite.lock", "agreement.json.xz")
        assert "specs/small.json" in names
        archive.extractall(tmp_path, [f"specs/{name}" for name in files])
    own = read_lock()
    assert read_lock(tmp_path / "specs" / "suite.lock") == own
    operators = [OperatorName.parse(version) for version in own.versions]
    agreed = [read_agreed(operator, tmp_path / "specs") for operator in operators]
    assert agreed == [read_agreed(operator) for operator in operators]
    assert any(agreed)
    assert read_agreed(OperatorName("ai.onnx", "Unheard", 1), tmp_path / "specs") is None


def test_the_readme_names_each_document(shipped: dict[OperatorName, list[YamlDocument]]) -> None:
    readme = (OWN_FOLDER / "README.md").read_text(encoding="utf-8")
    pages: Counter[str] = Counter()
    for operator, layers in shipped.items():
        for layer in layers:
            document = _document(layer)
            if document["dialect"] in ("openvino-markdown", "tensorflow-docstring"):
                pages[operator.domain] += 1
                continue
            row = next((line for line in readme.splitlines() if f"| {document['file']} |" in line), "")
            package = document["dialect"].endswith("-package")
            assert row.endswith("| in each spec |" if package else f"| {document['sha256'][:16]} |"), document
    assert set(pages) == {"org.openvino", "org.tensorflow"}
