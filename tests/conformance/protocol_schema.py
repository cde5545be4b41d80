"""Headers of the worker protocol held against its JSON Schema."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from conformance.schemas import load_schema

SCHEMA = load_schema("worker_protocol")


def check_request(header: dict[str, Any]) -> None:
    """Raises jsonschema's ValidationError where a request is not as the protocol has it."""
    _check(header, str(header.get("type")), "request")


def check_answer(header: dict[str, Any]) -> None:
    """Raises jsonschema's ValidationError where an answer is not as the protocol has it."""
    _check(header, "hello_answer" if header.get("type") == "hello" else str(header.get("type")), "answer")


def _check(header: dict[str, Any], name: str, side: str) -> None:
    # Of one kind the message says what is wrong; of several it would say that none fits.
    kinds = [each["$ref"].rpartition("/")[2] for each in SCHEMA["$defs"][side]["oneOf"]]
    chosen = name if name in kinds else side
    Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{chosen}"}]}).validate(header)
