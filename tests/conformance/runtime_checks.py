"""What every runtime's tests ask: a conversation with its worker, and the class of its refusals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from conformance.models.case_models import Form
from conformance.runtimes.adapter import Adapter, UnsupportedRule
from conformance.runtimes.environments import Environment, prepare
from conformance.runtimes.runtimes import installer_of, worker_command
from conformance.suite.cases import Case
from opcert.vocabulary.element_types import ELEMENT_TYPES
from opcert.vocabulary.tensors import Tensor, tensor
from tests.conformance.conversation import Conversation, RuntimeRefused


def environment_of(adapter: Adapter) -> Environment:
    return prepare(adapter.requirements, installer_of(adapter))


def converse(adapter: Adapter, **options: str) -> Conversation:
    return Conversation(worker_command(adapter, environment_of(adapter)), options)


def numbers(shape: tuple[int, ...], element_type: str = "float") -> Tensor:
    """Elements as different as the type has them as bits, NaN among them for types stored as bits."""
    count = int(np.prod(shape, dtype=np.int64))
    if element_type == "string":
        texts = [("", "a", "ä\0b", " x\n")[each % 4] + "." * (each // 4) for each in range(count)]
        return tensor(np.array(texts, dtype=np.object_).reshape(shape), "string")
    kind = ELEMENT_TYPES[element_type]
    values = np.arange(count)
    if kind.name == "bool":
        values = values % 2
    elif kind.is_float and kind.storage in (np.uint8, np.uint16):
        values = values * 37 % (1 << kind.bits)
    elif kind.is_integer:
        least, greatest = kind.integer_range
        steps = [each % (greatest - least + 1) for each in range(count)]
        values = np.array(
            [(least, greatest)[step % 2] + (-1) ** (step % 2) * (step // 2) for step in steps],
            object,
        )
    return tensor(values.astype(kind.storage).reshape(shape), kind)


def refusal(conversation: Conversation, case: Case, form: Form = "inputs") -> RuntimeRefused:
    with pytest.raises(RuntimeRefused) as caught:
        conversation.call(case, form)
    return caught.value


def rule_of(
    adapter: Adapter, conversation: Conversation, case: Case, form: Form = "inputs"
) -> UnsupportedRule | None:
    found = refusal(conversation, case, form)
    assert found.error_class != "internal", found
    return adapter.find_rule(found.kind, found.message, found.error_class)


def assert_every_rule_is_met(
    adapter: Adapter, conversation: Conversation, cases: Iterable[Case | tuple[Case, Form]]
) -> None:
    """Each case, in a form where one is given, is refused under a rule of its own, and no rule is left."""
    met: list[UnsupportedRule] = []
    for each in cases:
        case, form = each if isinstance(each, tuple) else (each, "inputs")
        rule = rule_of(adapter, conversation, case, form)
        assert rule is not None, f"{case.operator} {case.attributes}: {refusal(conversation, case, form)}"
        met.append(rule)
    assert [unsupported_rule.example for unsupported_rule in met] == [
        unsupported_rule.example for unsupported_rule in adapter.unsupported
    ]


def assert_moved_unharmed(conversation: Conversation, case: Case, form: Form = "inputs") -> None:
    """A case that only moves its first input answers with it, bit for bit."""
    (returned,) = conversation.call(case, form)
    sent = case.inputs[0][1]
    assert isinstance(returned, Tensor), returned
    assert returned == sent
