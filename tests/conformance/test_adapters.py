"""What holds for every built-in runtime's adapter, without the runtime."""

from __future__ import annotations

import re

import pytest

from conformance.adapter import WORKERS, Adapter, UnsupportedRule, list_adapters, load_adapter

ADAPTERS = [load_adapter(name) for name in list_adapters()]
RULES = [(adapter, rule) for adapter in ADAPTERS for rule in adapter.unsupported]


def test_the_built_in_runtimes_are_found_by_their_files() -> None:
    assert {"onnxruntime", "onnx", "openvino", "tensorflow", "backend"} <= set(list_adapters())
    assert [each.name for each in ADAPTERS] == list_adapters()


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
