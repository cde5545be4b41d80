"""Installed packages as documents: dumps are read back whole, and differ from documents where they should."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import specs.documents.packages
from conformance.processes.worker_process import Launch
from opcert.commands import packages
from opcert.commands.import_command import command
from opcert.commands.import_table import print_contradictions
from opcert.commands.packages import PACKAGES, package_document
from opcert.vocabulary.errors import RuntimeUnavailable, UserError
from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import Text, decode, read_document
from specs.files.layers import merge_layers
from specs.files.library import load_imported
from specs.importers import import_text
from specs.importers.onnx_markdown import read as read_markdown
from specs.importers.package_schemas import IMPORTERS
from specs.importing.importing import Import
from specs.model.spec import Finding, Spec
from specs.rules.several_documents import find_differences
from tests.documents.gathering import Documents
from tests.specs.emitters.onnx_schemas import fixture_version, microsoft_schemas, onnx_schemas
from tests.specs.schema_differences import Prints, differences

pytestmark = pytest.mark.slow

_RESIZE = OperatorName.parse("ai.onnx::Resize-19")
ONNX = IMPORTERS[0]
_SCRIPTS = Path(specs.documents.packages.__file__).parent


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Text:
    """The dump of the onnx package that opcert itself runs with."""
    file = tmp_path_factory.mktemp("dump") / "onnx.jsonl"
    script = _SCRIPTS / "dump_schemas.py"
    subprocess.run([sys.executable, "-I", str(script), "onnx", str(file)], check=True)
    return read_document(file)


@pytest.fixture(scope="module")
def versions(dump: Text) -> dict[OperatorName, Spec]:
    return {each.operator: each for each in ONNX.read(dump, None)}


@pytest.mark.nightly
def test_every_schema_is_read_back(versions: dict[OperatorName, Spec]) -> None:
    schemas = onnx_schemas()
    names = [
        OperatorName(schema.domain or "ai.onnx", schema.name, schema.since_version) for schema in schemas
    ]
    assert sorted(versions) == sorted(names)
    found = [
        difference
        for name, schema in zip(names, schemas, strict=True)
        for difference in differences(versions[name], schema, Prints())
    ]
    # The text of Concat-1 gives a default that its schema does not have.
    assert [(difference.operator, difference.field) for difference in found] == [
        ("ai.onnx::Concat-1", "attributes.axis.default")
    ]


def test_the_dump_is_recognised_and_its_rules_see_words(dump: Text) -> None:
    (spec,) = import_text(dump, _RESIZE)
    assert spec.documents[0].dialect == "onnx-package"
    assert spec.documents[0].release is not None
    assert spec.documents[0].release.startswith("onnx ")
    assert {finding.source.line for finding in spec.findings} <= set(range(1, dump.content.count("\n") + 1))
    line = dump.content.split("\n")[spec.attributes["mode"].origin.sources[0].line - 1]
    assert json.loads(line)["name"] == "mode"
    assert spec.attributes["mode"].allowed == ("nearest", "linear", "cubic")
    assert spec.origins["attributes.mode.default"].rule == "schema"
    assert any(example.printed for example in spec.examples)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["Operators.md", "Changelog.md"])
def test_documents_and_their_package_agree(
    documents: Documents, versions: dict[OperatorName, Spec], name: str
) -> None:
    layers = read_markdown(read_document(documents.find("onnx") / name), None)
    assert len(layers) > 200
    for layer in layers:
        package = versions[layer.operator]
        if not layer.deprecated:
            allowed = {attribute.name: attribute.allowed for attribute in package.attributes.values()}
            assert {attribute.name: attribute.allowed for attribute in layer.attributes.values()} == allowed
    found = [
        (layer.operator.short, difference.message, difference.evidence)
        for layer in layers
        for difference in find_differences(layer, versions[layer.operator], "the package")
    ]
    assert found == []


def _document(spec: Spec) -> Spec:
    """The same facts as if a page had stated them."""
    return replace(spec, documents=(replace(spec.documents[0], file="page.md", dialect="onnx-markdown"),))


def _found(document: Spec, package: Spec) -> list[Finding]:
    merged = merge_layers([package, document])
    codes = ("document-vs-package", "documents-disagree")
    return [finding for finding in merged.findings if finding.code in codes]


def test_what_a_document_says_otherwise_is_found(versions: dict[OperatorName, Spec]) -> None:
    package = versions[_RESIZE]
    same = _document(package)
    assert _found(same, package) == []
    mode = replace(same.attributes["mode"], default="linear")
    assert [(finding.code, finding.message, finding.evidence) for finding in
            _found(replace(same, attributes={**same.attributes, "mode": mode}), package)] == [
        ("document-vs-package", f"attribute mode: default differs from {package.documents[0].release}",
         "linear in the document, nearest in the package")
    ]  # fmt: skip
    lost = {name: attribute for name, attribute in same.attributes.items() if name != "axes"}
    (found,) = _found(replace(same, attributes=lost), package)
    assert found.evidence == "absent in the document, present in the package"
    t1 = replace(same.type_constraints["T1"], types=same.type_constraints["T1"].types[1:])
    assert len(_found(replace(same, type_constraints={**same.type_constraints, "T1": t1}), package)) == 1
    assert len(_found(replace(same, inputs=same.inputs[::-1]), package)) == 1
    assert len(_found(replace(same, deprecated=True), package)) == 1


def test_contradictions_are_printed_with_their_places(
    versions: dict[OperatorName, Spec], capsys: pytest.CaptureFixture[str]
) -> None:
    package = versions[_RESIZE]
    mode = replace(package.attributes["mode"], default="linear")
    layer = _document(replace(package, attributes={**package.attributes, "mode": mode}))
    print_contradictions(Import({_RESIZE: [package, layer]}), False)
    line = mode.origin.sources[0].line
    release = package.documents[0].release
    assert capsys.readouterr().out.splitlines() == [
        f"ai.onnx::Resize-19: page.md:{line}: attribute mode: default differs from {release} "
        "(linear in the document, nearest in the package)",
        "1 contradiction between documents: document-vs-package 1",
    ]
    print_contradictions(Import({_RESIZE: [package]}), False)
    assert capsys.readouterr().out == ""


def test_a_document_comes_first_and_a_package_fills_what_it_leaves_open(
    versions: dict[OperatorName, Spec],
) -> None:
    package = versions[_RESIZE]
    same = _document(package)
    open_ones = {
        name: replace(attribute, kind=None, default=None, has_default=False)
        for name, attribute in same.attributes.items()
        if name != "axes"
    }
    merged = merge_layers([package, replace(same, attributes=open_ones)])
    assert "axes" not in merged.attributes
    assert (merged.attributes["mode"].kind, merged.attributes["mode"].default) == ("string", "nearest")
    asserted = replace(same, documents=(replace(same.documents[0], identity="asserted"),), attributes={})
    assert merge_layers([package, asserted]).attributes.keys() == package.attributes.keys()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_dump_is_refused(dump: Text, data: st.DataObject) -> None:
    lines = dump.content.split("\n")
    start = next(number for number, line in enumerate(lines) if '"name": "Abs"' in line)
    small = [lines[0], *lines[start : start + 12]]
    whole = "\n".join([*small, json.dumps({"is": "end", "lines": len(small) + 1})]) + "\n"
    assert ONNX.read(decode(whole.encode(), "dump.jsonl"), None)
    cut = whole[: data.draw(st.integers(0, len(whole) - 3))]
    with pytest.raises(UserError):
        ONNX.read(decode(cut.encode(), "dump.jsonl"), None)


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"is": "attribute"}',
        '{"is": 3}',
        "nonsense",
        '{"is": "attribute", "name": [], "type": 1}',
    ],
)
def test_lines_that_are_none_are_named(dump: Text, line: str) -> None:
    lines = dump.content.split("\n")
    start = next(number for number, each in enumerate(lines) if '"is": "attribute"' in each)
    small = [*lines[:start], line]
    end = json.dumps({"is": "end", "lines": len(small) + 1})
    text = decode("\n".join([*small, end]).encode(), "dump.jsonl")
    with pytest.raises(UserError) as caught:
        ONNX.read(text, None)
    assert str(caught.value).startswith(f"dump.jsonl:{len(small)}: ")


@pytest.mark.parametrize("text", ["numpy", "onnxruntime[optimization=none]", "", "../onnx"])
def test_other_packages_are_refused(text: str) -> None:
    with pytest.raises(UserError) as caught:
        package_document(text, print)
    assert "onnx, onnxruntime, openvino, tensorflow" in str(caught.value)


def test_a_package_that_cannot_be_read_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = SimpleNamespace(
        launch=Launch((sys.executable, "worker.py")), facts={"packages": {"openvino": "1"}}
    )
    monkeypatch.setattr(packages, "install", lambda runtime, announce: installed)
    monkeypatch.setitem(packages._SCRIPTS, "openvino", "no_such_script.py")
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(specs.documents.packages, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "no_such_script.py").write_text("raise SystemExit('cannot be read: nothing there')")
    with pytest.raises(RuntimeUnavailable) as caught:
        package_document("openvino", print, tmp_path / "cache")
    assert "nothing there" in str(caught.value)
    assert list((tmp_path / "cache").rglob("*.jsonl")) == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("package", "operator"),
    [
        pytest.param("onnx", "ai.onnx::Resize-19", marks=pytest.mark.runtimes("onnx")),
        pytest.param("onnxruntime", "com.microsoft::Pad-1", marks=pytest.mark.runtimes("onnxruntime")),
        pytest.param("openvino", "org.openvino::Pad-12", marks=pytest.mark.runtimes("openvino")),
        pytest.param("tensorflow", "org.tensorflow::MirrorPad-1", marks=pytest.mark.runtimes("tensorflow")),
    ],
)
def test_every_package_can_be_imported(tmp_path: Path, package: str, operator: str) -> None:
    arguments = ["--from-package", package, "--operator", f"{package}-*={operator}", "-o", str(tmp_path)]
    run = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert (run.exception, run.return_value) == (None, 0)
    name = OperatorName.parse(operator)
    assert [path.name for path in tmp_path.glob(f"*/{name.name}/*.yaml")] == [
        f"imported-{name.since_version}.yaml"
    ]
    spec = load_imported(name, [tmp_path])
    assert spec.attributes["mode" if package != "openvino" else "pad_mode"].kind == "string"
    assert len(spec.inputs) >= 2
    if package == "openvino":
        again = CliRunner().invoke(command, [*arguments, "--check"], standalone_mode=False)
        assert (again.exception, again.return_value) == (None, 0)


@pytest.mark.nightly
@pytest.mark.runtimes("onnxruntime")
def test_every_schema_of_onnxruntime_is_read_back() -> None:
    path = package_document("onnxruntime", print)
    versions = {each.operator: each for each in import_text(read_document(path))}
    if not path.name.startswith(f"onnxruntime-{fixture_version()}"):
        pytest.skip("the schemas beside the tests are of another version")
    for schema in microsoft_schemas():
        spec = versions[OperatorName(schema.domain, schema.name, schema.since_version)]
        for difference in differences(spec, schema, Prints(differentiable=False)):
            # Where a schema has no default, the text may give one.
            assert difference.field.endswith(".default")
            assert difference.schema is None


def test_the_packages_are_those_of_the_help() -> None:
    run = CliRunner().invoke(command, ["--help"])
    assert all(package in run.output for package in PACKAGES)
