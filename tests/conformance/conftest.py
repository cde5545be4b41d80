"""What the tests of adapters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.conversation import Conversation
from tests.conformance.runtime_checks import converse


@pytest.fixture(scope="module")
def runtime(request: pytest.FixtureRequest) -> Iterator[Conversation]:
    """A conversation with the worker of the runtime that a module's ADAPTER names."""
    with converse(request.module.ADAPTER) as conversation:
        yield conversation
