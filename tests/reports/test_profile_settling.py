"""Profiles by opsets, domains, types or a model: what they come to, and each mistake with its place."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from conformance.judging.responses import Answered
from conformance.suite.suites import open_suite
from generator.asking.named_operators import referenced_operators
from opcert.commands.profile_argument import demanded_profile
from opcert.vocabulary.errors import InternalError, SeveralErrors, UserError
from opcert.vocabulary.names import OperatorName
from reports.certificates.profile_checks import read_stated_profile
from reports.gates.profile_evaluation import evaluate
from reports.gates.profile_settling import check_names
from reports.gates.profiles import Profile, opsets_in, read_profile
from reports.results.case_results import put_together
from tests.commands.command_line import call, identity_suite
from tests.conformance.samples import FAKES
from tests.reports.sample import CROP_PAD, PAD, Maker, make_case

HEAD = "profile: mine\ndescription: d\n"


def settled(folder: Path, text: str) -> Profile:
    path = folder / "mine.yaml"
    path.write_text(HEAD + text)
    profile = demanded_profile(str(path))
    assert profile is not None
    return profile


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(UserError) as caught:
        settled(folder, text)
    found = caught.value
    return [str(error) for error in found.errors] if isinstance(found, SeveralErrors) else [str(found)]


def model(
    path: Path, *nodes: tuple[str, str], opset: int = 17, more: tuple[onnx.OperatorSetIdProto, ...] = ()
) -> Path:
    """A chain of nodes of one input each, by domain and operator."""
    chain = [
        helper.make_node(name, [f"x{number}"], [f"x{number + 1}"], domain=domain)
        for number, (domain, name) in enumerate(nodes)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x0", f"x{len(chain)}")]
    graph = helper.make_graph(chain, "g", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *more], ir_version=8)
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.parametrize(("first", "last"), [(7, 7), (13, 21), (27, 28)])
def test_opsets_are_the_versions_that_onnx_has_in_force_in_one_of_them(
    tmp_path: Path, first: int, last: int
) -> None:
    """The schemas of the onnx package say which these are."""
    known = set(referenced_operators())
    wanted = {
        operator
        for opset in range(first, last + 1)
        for schema in onnx.defs.get_all_schemas()
        if schema.domain == "" and onnx.defs.has(schema.name, opset, "")
        if (
            operator := OperatorName(
                "ai.onnx", schema.name, onnx.defs.get_schema(schema.name, opset, "").since_version
            )
        )
        in known
    }
    found = settled(tmp_path, f"opsets: {first}..{last}\n")
    assert found.is_settled
    assert set(found.named_operators) == wanted
    assert len(wanted) > 80


def test_a_single_opset_is_a_range_of_one() -> None:
    assert list(opsets_in("17")) == [17]
    assert list(opsets_in("13..15")) == [13, 14, 15]
    assert read_profile((HEAD + "opsets: 17\n").encode(), "p").opsets == "17"


def test_domains_are_whole_and_onnx_in_the_versions_of_the_opsets(tmp_path: Path) -> None:
    assert settled(tmp_path, "domains: [ai.onnx, com.microsoft]\n").operators == (
        "ai.onnx::*",
        "com.microsoft::*",
    )
    found = settled(tmp_path, "opsets: 17\ndomains: [ai.onnx, com.microsoft]\n")
    assert "com.microsoft::*" in found.operators
    assert "ai.onnx::*" not in found.operators
    assert {
        named_operator.since_version
        for named_operator in found.named_operators
        if named_operator.name == "Resize"
    } == {13}
    starred = settled(tmp_path, 'opsets: 17\noperators: ["ai.onnx::*", "com.microsoft::*"]\n')
    assert starred.operators == found.operators


def test_operators_without_versions_have_those_of_the_opsets(tmp_path: Path) -> None:
    found = settled(
        tmp_path, "opsets: 13..18\noperators: [ai.onnx::Resize, ai.onnx::Gemm-7]\ntypes: [float, int8]\n"
    )
    assert set(found.operators) == {"ai.onnx::Resize-13", "ai.onnx::Resize-18", "ai.onnx::Gemm-7"}
    assert found.element_types == ("float", "int8")
    assert found.demands(OperatorName.parse("ai.onnx::Resize-13"), "cover", "int8")
    assert not found.demands(OperatorName.parse("ai.onnx::Resize-13"), "cover", "double")


def test_a_model_demands_the_versions_that_it_uses_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    model(tmp_path / "models" / "m.onnx", ("", "Relu"), ("", "Neg"), ("", "Relu"), opset=13)
    found = settled(tmp_path, "model: models/m.onnx\n")
    assert found.operators == ("ai.onnx::Neg-13", "ai.onnx::Relu-13")
    again = settled(tmp_path, f"model: models/m.onnx\nmodel_sha256: {found.model_sha256}\n")
    assert again.operators == found.operators
    model(tmp_path / "models" / "m.onnx", ("", "Relu"), opset=14)
    (said,) = mistakes(tmp_path, f"model: models/m.onnx\nmodel_sha256: {found.model_sha256}\n")
    assert "mine.yaml:4:15 at model_sha256: the model is another one than the profile names" in said
    assert settled(tmp_path, "model: models/m.onnx\n").operators == ("ai.onnx::Relu-14",)


def test_what_nobody_has_cases_of_is_told_and_left_out_by_name_alone(tmp_path: Path) -> None:
    own = (helper.make_opsetid("org.own", 3),)
    model(tmp_path / "m.onnx", ("", "Relu"), ("org.own", "Fold"), more=own)
    (said,) = mistakes(tmp_path, "model: m.onnx\n")
    assert "mine.yaml:3:8 at model: the model uses operators that there are no cases of" in said
    assert "org.own::Fold-3" in said
    for name in ("org.own::Fold", "org.own::Fold-3"):
        found = settled(tmp_path, f"model: m.onnx\nuntested: ['{name}']\n")
        assert found.operators == ("ai.onnx::Relu-14",)
        assert found.untested == (name,)
    assert settled(tmp_path, "model: m.onnx\ndomains: [ai.onnx]\n").operators == ("ai.onnx::Relu-14",)
    (said,) = mistakes(tmp_path, "model: m.onnx\nuntested: ['org.own::Fodl-3']\n")
    assert "mine.yaml:4:12 at untested[0]: the model uses no such operator" in said
    assert "perhaps org.own::Fold-3" in said
    (said,) = mistakes(tmp_path, "model: m.onnx\nuntested: ['org.own::Fold', 'ai.onnx::Relu']\n")
    assert "at untested[1]: there are cases of this operator" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("opsets: 6..13\n", ["mine.yaml:3:9 at opsets", "an opset without cases", "opsets from 7 to 28"]),
        ("opsets: 13..99\n", ["mine.yaml:3:9 at opsets", "an opset without cases"]),
        ("opsets: 21..13\n", ["mine.yaml:3:9 at opsets", "such as 13..21"]),
        ("opsets: new\n", ["mine.yaml:3:9 at opsets", "an opset, or a range of them, such as 13..21"]),
        ("opsets: [13]\n", ["mine.yaml:3:9 at opsets"]),
        (
            "opsets: 13\noperators: [ai.onnx::Resiz]\n",
            ["mine.yaml:4:13 at operators[0]", "perhaps ai.onnx::Resize"],
        ),
        ("opsets: 13\noperators: [ai.onnx::Resize-13]\n", ["mine.yaml:3:9 at opsets", "say nothing here"]),
        ("operators: [ai.onnx::Resize]\n", ["mine.yaml:3:12 at operators", "a version lacks, or opsets"]),
        (
            "domains: [ai.onx]\n",
            ["mine.yaml:3:11 at domains[0]", "no cases of this domain", "perhaps ai.onnx"],
        ),
        ("domains: [ai onnx]\n", ["mine.yaml:3:11 at domains[0]", "name of a domain"]),
        ("opset: 13\n", ["mine.yaml:3:8 at opset", "unknown key", "Perhaps opsets is meant"]),
        ("opsets: 13\ntypes: [flot]\n", ["mine.yaml:4:8 at types", "perhaps float"]),
        ("opsets: 13\ntypes: [float]\nelement_types: all\n", ["at types", "stands here twice"]),
        ("", ["mine.yaml:1:1 at operators", "or opsets, domains or a model"]),
        ("operators: []\n", ["mine.yaml:3:12 at operators", "or opsets, domains or a model"]),
        (
            "model: none.onnx\n",
            ["mine.yaml:3:8 at model", "cannot be read", "begins at the profile's folder"],
        ),
        ("model: mine.yaml\n", ["mine.yaml:3:8 at model", "no ONNX model"]),
        ("model: m.onnx\nopsets: 13\n", ["mine.yaml:4:9 at opsets", "the model has its opsets"]),
        (
            "model: m.onnx\noperators: [ai.onnx::Relu-14]\n",
            ["mine.yaml:4:12 at operators", "has its operators"],
        ),
        ("model: m.onnx\ndomains: [ai.onx]\n", ["mine.yaml:4:11 at domains[0]", "perhaps ai.onnx"]),
        ("opsets: 13\nuntested: ['a::b']\n", ["mine.yaml:4:11 at untested", "about a model"]),
        (f"opsets: 13\nmodel_sha256: {'a' * 64}\n", ["mine.yaml:4:15 at model_sha256", "about a model"]),
    ],
)
def test_each_mistake_names_file_line_key_and_what_may_be_meant(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    model(tmp_path / "m.onnx", ("", "Relu"))
    said = mistakes(tmp_path, text)
    assert any(all(word in each for word in words) for each in said), said
    assert len(said) == 1 + text.startswith("opset:")  # nothing is demanded then


def test_several_mistakes_are_told_together(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "opsets: 13\noperators: [ai.onnx::Resiz]\ndomains: [com.microsofd]\n")
    assert ["operators[0]" in found[0], "domains[0]" in found[1]] == [True, True]


def test_a_profile_that_is_not_settled_is_met_by_nothing(tmp_path: Path) -> None:
    case = make_case(CROP_PAD, "cover", {"extent": "same"})
    made = Maker(tmp_path).make([case], lambda one: Answered((one.expectations[0].outputs[0].expected,), 0.1))
    profile = read_profile((HEAD + "opsets: 13\n").encode(), "p")
    with pytest.raises(InternalError, match="not settled"):
        evaluate(profile, put_together(made.suite, made.record), date(2026, 11, 20))
    stated = {"demands": profile.model_dump(mode="json", exclude={"waivers"}), "waivers": []}
    with pytest.raises(ValueError, match="does not say all"):
        read_stated_profile(stated)


@pytest.mark.slow
def test_a_whole_certification_of_a_model_says_which_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    suite, out = identity_suite(tmp_path), tmp_path / "out"
    model(tmp_path / "m.onnx", ("", "Identity"), opset=13)
    profile = tmp_path / "mine.yaml"
    profile.write_text(HEAD + "model: m.onnx\ntypes: [float]\n")
    answer = call(capsys, "certify", "fake_backends:Good", "-s", suite, "--profile", profile, "-o", out)
    assert answer.code == 0, answer.err
    stated = json.loads((out / "certificate.json").read_text())["predicate"]["profile"]["demands"]
    assert stated["operators"] == ["ai.onnx::Identity-13"]
    assert stated["model"] == "m.onnx"
    assert len(stated["model_sha256"]) == 64
    words = ("verify", out / "certificate.json", "--suite", suite)
    assert call(capsys, *words, "--profile", profile).code == 0
    model(
        tmp_path / "m.onnx", ("", "Identity"), ("", "Identity"), opset=13
    )  # another model of the same operators
    answer = call(capsys, *words, "--profile", profile)
    assert answer.code == 1
    assert "model_sha256" in answer.out + answer.err
    answer = call(capsys, "certify", "fake_backends:Raises", "-s", suite, "--profile", profile, "-o", out)
    assert answer.code == 1


def test_a_suite_without_what_the_profile_means_is_told(tmp_path: Path) -> None:
    model(tmp_path / "m.onnx", ("", "Relu"), opset=13)
    profile = settled(tmp_path, "model: m.onnx\n")
    with open_suite(identity_suite(tmp_path, 1)) as suite, pytest.raises(UserError) as caught:
        check_names(profile, suite)
    said = str(caught.value)
    for each in (
        "mine.yaml:3:8 at model",
        "lacks 1 operator that the profile means",
        "Relu-13",
        str(suite.path),
    ):
        assert each in said


def test_cases_of_other_versions_than_the_profile_means_are_not_demanded(tmp_path: Path) -> None:
    cases = [make_case(operator, "cover", {"extent": "same"}) for operator in (CROP_PAD, PAD)]
    made = Maker(tmp_path).make(cases, lambda one: Answered((one.expectations[0].outputs[0].expected,), 0.1))
    profile = settled(tmp_path, "opsets: 18\noperators: [ai.onnx::CenterCropPad]\n")
    found = evaluate(profile, put_together(made.suite, made.record), date(2026, 11, 20))
    assert (found.met, found.demanded) == (True, 1)
