"""The adapters of ONNX Runtime's npm packages against these packages: a worker that is no Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from conformance.models.case_models import FORMS, Form
from conformance.runtimes.adapter import WORKERS, Adapter, load_adapter
from opcert.vocabulary.tensors import tensor
from tests.conformance.conversation import Conversation, RuntimeRefused, make_case
from tests.conformance.onnxruntime_calls import REFUSED, UNSUPPORTED
from tests.conformance.runtime_checks import (
    assert_every_rule_is_met,
    assert_moved_unharmed,
    converse,
    environment_of,
    numbers,
    rule_of,
)

pytestmark = pytest.mark.runtimes("onnxruntime-node", "onnxruntime-web")
ADAPTERS = [load_adapter(name) for name in ("onnxruntime-node", "onnxruntime-web")]


@pytest.fixture(scope="module", params=ADAPTERS, ids=lambda each: each.name)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    found: Adapter = request.param
    return found


@pytest.fixture(scope="module")
def runtime(adapter: Adapter) -> Iterator[Conversation]:
    with converse(adapter) as conversation:
        yield conversation


def test_it_says_what_it_is(adapter: Adapter, runtime: Conversation) -> None:
    version = environment_of(adapter).packages[adapter.name]
    assert runtime.hello["runtime"] == {"name": adapter.name, "version": version}
    assert runtime.hello["platform"]["node"].startswith("v")


def test_every_rule_of_the_table_is_what_it_says(adapter: Adapter, runtime: Conversation) -> None:
    of_python = ("complex", "map to double")
    shared = [call for name, call in UNSUPPORTED.items() if name not in of_python]
    results = [
        make_case(
            "ai.onnx::BitCast-26",
            [("input", numbers((2,), before))],
            {"to": ("int", code)},
            numbers((2,), after),
        )
        for before, after, code in (("double", "complex64", 14), ("int16", "bfloat16", 16))
    ]
    assert_every_rule_is_met(adapter, runtime, [*shared, *results])


def test_other_refusals_are_its_own(adapter: Adapter, runtime: Conversation) -> None:
    for case in REFUSED:
        assert rule_of(adapter, runtime, case) is None


@pytest.mark.parametrize(
    "element_type",
    ["float", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
     "bool"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 7)])
def test_element_types_pass_unharmed(
    runtime: Conversation, element_type: str, shape: tuple[int, ...]
) -> None:
    assert element_type in runtime.hello["element_types"]
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-19", [("X", numbers(shape, element_type))]))


def test_float16_passes_where_the_package_can_take_it(adapter: Adapter, runtime: Conversation) -> None:
    case = make_case("ai.onnx::Identity-19", [("X", numbers((3, 7), "float16"))])
    if adapter.name == "onnxruntime-node" and int(runtime.hello["platform"]["node"][1:].split(".")[0]) >= 24:
        # The Float16Array that Node.js has since then is unknown to the package's native code, up to 1.30.
        assert rule_of(adapter, runtime, case) is None
    else:
        assert_moved_unharmed(runtime, case)


def test_strings_pass_as_the_package_passes_them(runtime: Conversation) -> None:
    texts = np.array(["", "a\u00e4\U0001f600", " x\n", "\ufeffy"], np.object_)
    assert_moved_unharmed(runtime, make_case("ai.onnx::Identity-19", [("X", tensor(texts))]))
    # Both packages end every string at its first NUL: the worker must not hide that.
    (cut,) = runtime.call(make_case("ai.onnx::Identity-19", [("X", tensor(np.array(["a\0b"], np.object_)))]))
    assert cut == tensor(np.array(["a"], np.object_))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken(runtime: Conversation, form: Form) -> None:
    inputs = [("input_data", numbers((5,), "int64")), ("shape", tensor([5]))]
    assert_moved_unharmed(runtime, make_case("ai.onnx::CenterCropPad-18", inputs), form)


def test_options_reach_the_session(adapter: Adapter) -> None:
    with converse(adapter, optimization="none") as conversation:
        assert conversation.hello["x_settings"]["graphOptimizationLevel"] == "disabled"
        assert_moved_unharmed(conversation, make_case("ai.onnx::Identity-19", [("X", numbers((2,)))]))


def test_an_option_that_the_worker_does_not_know_is_refused(adapter: Adapter) -> None:
    with pytest.raises(RuntimeRefused, match="options that this worker does not know"):
        converse(adapter, provider="CPU")


def test_the_worker_stays_small() -> None:
    assert len((WORKERS / ADAPTERS[0].worker).read_text("utf-8").splitlines()) < 250
