"""Whatever stands in a certificate or a record, `verify` answers; it never breaks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.suite.canonical import sha256
from opcert.vocabulary.errors import UserError
from reports.certificates.certificate import statement_digest
from tests.reports.certified import Certified

MANY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
DEEP: Any = 0
for _ in range(400):
    DEEP = [DEEP]
ODD = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**30, "", "x", "NaN", "\x00\u202e", [], [[]], [None], {}, {"x": {}}, [5], DEEP]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every part of a JSON value, the first of each list alone."""
    found = [path] if path else []
    if isinstance(value, dict):
        for name, each in value.items():
            found += places(each, (*path, name))
    elif isinstance(value, list) and value:
        found += places(value[0], (*path, 0))
    return found


def put(value: Any, path: tuple[Any, ...], odd: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = odd


@pytest.mark.slow
@MANY
@given(data=st.data(), odd=ODD)
def test_an_odd_certificate_is_answered(steady: Certified, data: st.DataObject, odd: Any) -> None:
    raw = steady.certificate.read_bytes()
    statement = json.loads(raw)
    path = data.draw(st.sampled_from(places(statement)))
    put(statement, path, odd)
    try:
        if isinstance(statement.get("predicate"), dict) and odd is not DEEP:
            statement["predicate"]["digest"] = {"sha256": statement_digest(statement)}
        steady.certificate.write_bytes(json.dumps(statement, sort_keys=True).encode() + b"\n")
        assert not steady.verify().holds
    except UserError:
        pass
    finally:
        steady.certificate.write_bytes(raw)


@pytest.mark.slow
@MANY
@given(data=st.data(), odd=ODD)
def test_an_odd_record_is_answered(steady: Certified, data: st.DataObject, odd: Any) -> None:
    raw = steady.record.read_bytes()
    lines = [json.loads(line) for line in raw.splitlines()]
    number = data.draw(st.sampled_from([0, 1, 3, 5, 11, len(lines) - 1]))
    path = data.draw(st.sampled_from(places(lines[number])))
    put(lines[number], path, odd)
    written = [json.dumps(line, sort_keys=True, separators=(",", ":")).encode() + b"\n" for line in lines]
    if isinstance(lines[-1], dict) and path != ("digest",):
        lines[-1]["digest"] = sha256(b"".join(written[1:-1]))
        written[-1] = json.dumps(lines[-1], sort_keys=True, separators=(",", ":")).encode() + b"\n"
    if b"".join(written) == raw:  # it stood there before
        return
    try:
        steady.record.write_bytes(b"".join(written))
        found = steady.verify()
        assert found.problems
    except UserError:
        pass
    finally:
        steady.record.write_bytes(raw)


def test_an_honest_record_has_its_shape(steady: Certified) -> None:
    from conformance.recording.records import read_record
    from reports.certificates.record_shape import check_shape

    check_shape(read_record(steady.record))


@pytest.mark.parametrize("name", ["οnnx", "onnx\u200b", "", " onnx", "o" * 65])
def test_names_of_profiles_are_plain(name: str) -> None:
    from pydantic import ValidationError

    from reports.gates.profiles import Profile

    with pytest.raises(ValidationError):
        Profile.model_validate({"profile": name, "description": "", "operators": ["ai.onnx::Pad-1"]})
