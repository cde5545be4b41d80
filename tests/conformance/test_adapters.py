"""What holds for every built-in runtime's adapter, without the runtime."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from conformance.runtimes.adapter import WORKERS, Adapter, UnsupportedRule, list_adapters, load_adapter
from tests.conformance.conversation import Conversation, RuntimeRefused

ADAPTERS = [load_adapter(name) for name in list_adapters()]
RULES = [(adapter, rule) for adapter in ADAPTERS for rule in adapter.unsupported]


def test_the_built_in_runtimes_are_found_by_their_files() -> None:
    assert {"onnxruntime", "onnx", "openvino", "tensorflow", "backend"} <= set(list_adapters())
    assert [adapter.name for adapter in ADAPTERS] == list_adapters()


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda each: each.name)
def test_a_worker_that_an_adapter_names_is_there(adapter: Adapter) -> None:
    assert not adapter.worker or (WORKERS / adapter.worker).is_file()
    assert "\n" not in adapter.first_line


@pytest.mark.parametrize(("adapter", "rule"), RULES, ids=lambda each: getattr(each, "name", ""))
def test_a_rule_matches_its_own_example_and_no_rule_before_it_does(
    adapter: Adapter, rule: UnsupportedRule
) -> None:
    kind, _, message = rule.example.partition(": ")
    assert adapter.find_rule(kind, message, rule.error_class or "rejected") is rule


def test_older_versions_get_what_they_were_built_for() -> None:
    adapter = load_adapter("onnxruntime")
    assert adapter.requirements_of(None) == ("onnxruntime",)
    assert adapter.requirements_of("1.20.1") == ("onnxruntime==1.20.1",)
    assert adapter.requirements_of("1.19.0") == ("onnxruntime==1.19.0",)
    assert adapter.requirements_of("1.18.1") == ("onnxruntime==1.18.1", "numpy<2")
    assert adapter.requirements_of("1.9.0") == ("onnxruntime==1.9.0", "numpy<2")


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda each: each.name)
def test_no_rule_takes_just_any_refusal(adapter: Adapter) -> None:
    for kind in (
        "RuntimeError",
        "ValueError",
        "InvalidArgument",
        "Fail",
        "InvalidArgumentError",
        "TypeError",
    ):
        assert adapter.find_rule(kind, "the shapes of the inputs do not fit") is None
        assert adapter.find_rule(kind, "") is None


@pytest.mark.parametrize(("adapter", "rule"), RULES, ids=lambda each: getattr(each, "name", ""))
def test_a_rule_says_what_it_matches(adapter: Adapter, rule: UnsupportedRule) -> None:
    re.compile(rule.kind)
    re.compile(rule.message)
    assert rule.kind != ".*" or rule.message or rule.error_class == "unsupported"


_BROKEN = """
import os
__version__ = "0"
def get_available_providers(): return ["CPUExecutionProvider"]
def set_default_logger_severity(level): pass
class GraphOptimizationLevel: ORT_ENABLE_ALL = 99
class SessionOptions: pass
class InferenceSession:
    def __init__(self, model, options, providers): pass
    def run(self, names, inputs): """


@pytest.mark.parametrize(
    ("run", "error", "said"),
    [
        ("os.abort()", EOFError, "status -6"),
        ("raise RuntimeError('no such kernel')", RuntimeRefused, "no such kernel"),
        ("return [inputs['x'] * 2]", RuntimeRefused, "this installation answers"),
    ],
)
def test_an_installation_that_cannot_run_anything_does_not_start(
    tmp_path: Path, run: str, error: type[Exception], said: str
) -> None:
    (tmp_path / "onnxruntime.py").write_text(_BROKEN + run + "\n")
    with pytest.raises(error, match=said):
        Conversation(
            [sys.executable, str(WORKERS / "onnxruntime_worker.py")],
            environment={"PYTHONPATH": str(tmp_path)},
        )
