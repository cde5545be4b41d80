"""A failing case whose call passes by itself: is its answer what the documents allow, and the case asks more?

Cases that somebody else wrote, such as ONNX's node tests, have expectations of their own: one result where
the documents allow several, or a tolerance of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from conformance.judging.judge import judge
from conformance.judging.verdicts import FAILING
from conformance.suite.cases import Case
from generator.asking.calls import Call
from generator.asking.expectations import expect
from generator.exploring.shrinking.judged_calls import Ask, case_of
from generator.exploring.shrinking.known_space import Attempt, CallValidity

Again = Literal["passes", "allowed", "fails"]


def asked_again(ask: Ask, space: CallValidity, call: Call, case: Case) -> Again:
    """What becomes of the case as it stands, model and all, when it is asked once more.

    `allowed`: it fails by what it expects itself, and passes by what the documents say of its call.
    """
    response = ask(case, None)
    if judge(case, response).verdict not in FAILING:
        return "passes"
    own = replace(case_of(space, Attempt(call)), expectations=expect(space.spec, space.reference, call))
    return "allowed" if judge(own, response).verdict == "pass" else "fails"
