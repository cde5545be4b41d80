"""References of operators with variadic inputs, one tensor given twice, and outputs not asked for."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import numpy as np

from conformance.suite.cases import Case
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from tests.generator.declared import write_operator

FACTS = """\
operator: {{domain: test, name: Made, since_version: 1}}
documents:
  d1: {{file: page.md, dialect: onnx-markdown, sha256: {sha}, identity: stated}}
arity: {{inputs: {inputs}, outputs: {outputs}}}
attributes: {{}}
inputs:
{given}
outputs:
{made}
type_constraints:
  T: {{types: [float, int32], src: [d1, 9]}}
"""


def made(folder: Path, declaration: str, reference: str, **facts: str) -> list[Case]:
    """The cases of an operator with these facts, declaration and reference."""
    operator = write_operator(
        folder, declaration + "reference: reference.py\n", FACTS.format(**facts, sha="a" * 64)
    )
    (folder / "test" / "Made" / "reference.py").write_text(dedent(reference), encoding="utf-8")
    cases = generate_operator(operator, Options(), (folder,)).cases
    return [each for each in cases if each.demand == "answer"]


def parameter(name: str, option: str = "single") -> str:
    return f"  - {{name: {name}, type: T, option: {option}, homogeneous: true, src: [d1, 5]}}"


def test_one_tensor_that_is_given_twice_is_there_under_both_names(tmp_path: Path) -> None:
    cases = made(
        tmp_path,
        'shapes: {A: "*S", B: "*S"}\nextents: {S: 0..2}\n',
        """\
        from opcert.vocabulary.tensors import Tensor
        from reference.answers import Answer
        from reference.registry import reference_operator

        @reference_operator("test::Made-1")
        def second(A: Tensor, B: Tensor) -> Answer:
            return Answer(B)
        """,
        inputs="[2, 2]", outputs="[1, 1]", given=f"{parameter('A')}\n{parameter('B')}", made=parameter("Y"),
    )  # fmt: skip
    (twice,) = [each for each in cases if each.id.word == "one_tensor_twice"]
    assert len(twice.inputs) == 1
    assert twice.expectations[0].outputs[0].expected == twice.inputs[0][1]


def test_a_variadic_input_is_all_its_tensors(tmp_path: Path) -> None:
    cases = made(
        tmp_path,
        'shapes: {X: "*S"}\nextents: {S: 0..2}\ncounts: {X: 1..3}\n',
        """\
        from opcert.vocabulary.tensors import Tensor
        from reference.answers import Answer
        from reference.registry import reference_operator

        @reference_operator("test::Made-1")
        def last(X: tuple[Tensor, ...]) -> Answer:
            return Answer(X[-1])
        """,
        inputs="[1, 2147483647]", outputs="[1, 1]", given=parameter("X", "variadic"), made=parameter("Y"),
    )  # fmt: skip
    assert {len(each.inputs) for each in cases if not each.slots} == {1, 2, 3, 5, 9, 17}
    for case in cases:
        if not case.slots:
            assert case.expectations[0].outputs[0].expected == case.inputs[-1][1]


def test_a_function_is_told_how_many_outputs_there_are_and_answers_all(tmp_path: Path) -> None:
    cases = made(
        tmp_path,
        'shapes: {X: "*S"}\nextents: {S: 0..2}\ncounts: {Y: 1..3}\n',
        """\
        from typing import Annotated

        import numpy as np

        from opcert.vocabulary.tensors import Tensor
        from reference.answers import Answer
        from reference.registry import OutputCount, reference_operator

        @reference_operator("test::Made-1")
        def copies(X: Tensor, *, outputs: Annotated[int, OutputCount]) -> tuple[Answer, ...]:
            return tuple(Answer(X) for _ in range(outputs))
        """,
        inputs="[1, 1]", outputs="[1, 3]", given=parameter("X"), made=parameter("Y", "variadic"),
    )  # fmt: skip
    assert {len(each.expectations[0].outputs) for each in cases} == {1, 2, 3}
    for case in cases:
        assert [output.name for output in case.expectations[0].outputs] == list(case.output_names)


def test_an_output_that_is_not_asked_for_is_not_expected(tmp_path: Path) -> None:
    cases = made(
        tmp_path,
        'shapes: {X: "*S"}\nextents: {S: 0..2}\n',
        """\
        import numpy as np

        from opcert.vocabulary.tensors import Tensor
        from reference.answers import Answer
        from reference.registry import reference_operator

        @reference_operator("test::Made-1")
        def both(X: Tensor) -> tuple[Answer, ...]:
            return Answer(X), Answer(X), Answer(Tensor(X.element_type, np.zeros_like(X.array)))
        """,
        inputs="[1, 1]", outputs="[1, 3]", given=parameter("X"),
        made=f"{parameter('Y')}\n{parameter('Z', 'optional')}\n{parameter('W', 'optional')}",
    )  # fmt: skip
    asked = {case.output_names for case in cases}
    assert ("Y", "", "W") in asked
    for case in cases:
        wanted = [output_name for output_name in case.output_names if output_name]
        assert [output.name for output in case.expectations[0].outputs] == wanted
        for output in case.expectations[0].outputs:
            assert np.any(output.expected.array) or output.name == "W" or not np.any(case.inputs[0][1].array)  # type: ignore[union-attr]
