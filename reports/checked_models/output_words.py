"""The outputs of a whole model, in words: in the model's own units."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.checked_models.output_distances import Apart
from conformance.checked_models.whole_model import OutputNumbers, OutputVerdict, WholeModelFacts
from opcert.vocabulary.harmless import one_line
from reports.page_making.phrasing import count, plural, ratio_text

VERDICTS: Mapping[OutputVerdict, str] = {
    "right": "right",
    "wrong": "wrong",
    "same": "the same",
    "near": "near",
    "far": "far away",
    "unknown": "not known",
}
_UNITS = {"ulp": ("ULP", "ULP"), "step": ("step", "steps"), "value": ("value", "values")}
_LONGEST = 500
_NAME = 120


def output_lines(numbers: WholeModelFacts) -> list[str]:
    """Each output beside each thing that it was held against, what speaks against the model first."""
    failing = numbers.failing
    rest = [each for each in numbers.outputs if each not in failing]
    return [output_text(each) for each in (*failing, *rest)]


def output_text(output: OutputNumbers) -> str:
    """`y, beside the references: wrong: 22 of 64 elements off by 21 steps, 42 x what is allowed`."""
    against = {
        "references": "beside the references run node by node",
        "unoptimised": "beside the runtime without its optimisation",
        "runtime": f"beside {output.beside} (weak evidence)",
    }[output.against]
    said = VERDICTS[output.verdict]
    told = [] if output.apart is None else [apart_text(output.apart)]
    if output.verdict == "wrong" and output.over_bound is not None and output.over_bound != float("inf"):
        told.append(f"{ratio_text(output.over_bound)} what is allowed")
    if output.against == "references" and output.verdict in ("same", "near", "far", "wrong"):
        total = 0 if output.apart is None else output.apart.of_elements
        if output.bounded < total:
            told.append(f"a bound is known of {count(output.bounded)} of {plural(total, 'element')}")
    told += [output.reason] if output.reason else []
    name = one_line(output.name, _NAME)
    return one_line(f"output {name}, {against}: {': '.join(filter(None, [said, '; '.join(told)]))}", _LONGEST)


def apart_text(apart: Apart) -> str:
    """`to the bit`, `1 of 512 elements off by 1 step`, `all 10 elements off by 3 to 40 ULP`."""
    if not apart.elements:
        return "to the bit"
    which = "all " if apart.elements == apart.of_elements else f"{count(apart.elements)} of "
    said = f"{which}{plural(apart.of_elements, 'element')}"
    if apart.unit == "value":
        return f"{said} have another value"
    if apart.least is not None and apart.most is not None:
        one, several = _UNITS[apart.unit]
        reach = count(apart.most)
        if apart.least != apart.most:
            reach = f"{count(apart.least)} to {reach}"
        said += f" off by {reach} {one if apart.most == 1 else several}"
    if apart.lost:
        said += f", {count(apart.lost)} of them NaN or infinite in one alone"
    if apart.rows:
        said += f"; the largest is another one in {count(apart.classes)} of {plural(apart.rows, 'row')}"
    return said
