"""The whole model in words: whether it loads, and what came of it with actual inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from conformance.checked_models.model_loading import LoadFacts
from conformance.checked_models.output_distances import Apart
from conformance.checked_models.whole_model import (
    EndEffect,
    GivenInput,
    NodeNumbers,
    OutputNumbers,
    OutputVerdict,
    WholeModelFacts,
)
from conformance.judging.verdicts import NOT_RUN
from opcert.vocabulary.harmless import one_line
from reports.text.phrasing import count, plural, ratio_text

PASSED_OVER: Mapping[str, str] = {
    "unknown": "name no operator version",
    "unread": "have an attribute that could not be read",
    "no_tensors": "take or give what is no tensor",
    "no_reference": "have no reference that says what is right",
    "not_valid": "break a rule of their documents, so that nothing is owed",
    "undefined": "have a result that no document defines",
    "too_costly": "would take exact arithmetic too long",
    "not_seen": "took or gave what the runtime did not show",
    "together": "differ in the model and are right by themselves: the runtime computes them with others",
    "inside": "stand in the graph of another node",
    NOT_RUN: "were not run",
    "failed": "could not be judged, which is a mistake in opcert",
}
VERDICTS: Mapping[OutputVerdict, str] = {
    "right": "right",
    "wrong": "wrong",
    "same": "the same",
    "near": "near",
    "far": "far away",
    "unknown": "not known",
}
_UNITS = {"ulp": ("ULP", "ULP"), "step": ("step", "steps"), "value": ("value", "values")}
_LONGEST_OUTPUT = 500
_LONGEST = 300
_NAME = 120
_SHORT = 200
_WHOLE = 8192
"""More than a message of a worker can hold."""


def load_text(load: LoadFacts) -> str:
    """`loads`, or `does not load: ` with all that the runtime says."""
    said = one_line(load.message, _WHOLE)
    if load.verdict == "unknown":
        return f"not known whether it loads: {said}"
    if load.fails:
        return f"does not load: {said}"
    return "loads, and runs with inputs drawn by what it declares" if load.by_run else "loads"


def numbers_line(numbers: WholeModelFacts) -> str:
    """`with these inputs 85 of 90 nodes are right, 2 wrong, 3 passed over`."""
    verdicts = Counter(each.verdict for each in numbers.nodes)
    if numbers.how == NOT_RUN:
        return "the whole model does not run with these inputs"
    right, wrong, left = (verdicts[each] for each in ("right", "wrong", "passed_over"))
    total = plural(len(numbers.nodes), "node")
    said = f"with these inputs {count(right)} of {total} right, {count(wrong)} wrong"
    if left:
        said += f", {count(left)} passed over"
    told = [said]
    if numbers.how == "nodes":
        told.append("each node was run by itself")
    if numbers.does_not_run:
        told.append("the model as it is does not run")
    else:
        told += [_outputs(numbers)] if numbers.outputs else []
    return "; ".join(told)


def _outputs(numbers: WholeModelFacts) -> str:
    """`its outputs 1 right, 1 wrong`, beside the references; and how many are far from other runs."""
    counted = Counter(each.verdict for each in numbers.outputs if each.against == "references")
    told = [f"{count(counted[each])} {VERDICTS[each]}" for each in VERDICTS if counted[each]]
    said = f"its {'output' if sum(counted.values()) == 1 else 'outputs'} {', '.join(told)}"
    for against, words in (("unoptimised", "itself unoptimised"), ("runtime", "other runtimes")):
        far = sum(each.against == against for each in numbers.failing)
        said += f", {count(far)} far from {words}" if far else ""
    return said


def not_running_text(numbers: WholeModelFacts) -> str:
    """That the model does not run, and all that the runtime says."""
    drawn = any(each.source.startswith("drawn") for each in numbers.inputs)
    which = "inputs that were drawn by what it declares; give others in files" if drawn else "its inputs"
    return f"the model as it is does not run with {which}: {one_line(numbers.does_not_run, _WHOLE)}"


def passed_over_lines(numbers: WholeModelFacts) -> list[str]:
    """How many nodes were not judged, one line for each reason."""
    found = sorted(numbers.passed_over.items(), key=lambda each: -each[1])
    return [f"{plural(number, 'node')} {PASSED_OVER.get(why, why)}" for why, number in found]


def wrong_text(node: NodeNumbers) -> str:
    """What a wrong node gave: `y[0, 3]: expected 1.5, got 1.25, 3.1 × the allowed error; 2 of 8 elements`."""
    place = f"{node.output or 'output'}{list(node.index) if node.index is not None else ''}"
    said = f"{place}: expected {node.expected or '?'}, got {node.got or '?'}"
    if node.over_bound is not None and node.over_bound != float("inf"):
        said += f", {ratio_text(node.over_bound)} the allowed error"
    return one_line(f"{said}; {node.reason}" if node.reason else said, _LONGEST)


def input_text(given: GivenInput) -> str:
    """An input of the whole model: its name, type and shape, and where its values are from."""
    return one_line(f"{given.name}: {given.element_type} {list(given.shape)}, {given.source}", _SHORT)


def note_text(note: str) -> str:
    """A note on the whole model, as a page has room for it."""
    return one_line(note, _SHORT)


def right_text(node: NodeNumbers) -> str:
    """How far the values of a node that is right are off at most."""
    return "right" if not node.ulps else f"right, within {plural(node.ulps, 'ulp', 'ulp')}"


def effect_text(effect: EndEffect) -> str:
    """`output y moves by 0.25 at most, of 3.5 at most (12 ulp)`."""
    output = one_line(effect.output, _NAME)
    if effect.distance is None:
        return one_line(
            f"what it does to {output} is not known: {effect.reason or 'no reason given'}", _LONGEST
        )
    said = f"with its right values {output} moves by {effect.distance:.4g} at most"
    if effect.largest is not None:
        said += f", where its largest value is {effect.largest:.4g}"
    return f"{said} ({plural(effect.ulps, 'ulp', 'ulp')})" if effect.ulps is not None else said


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
    return one_line(
        f"output {name}, {against}: {': '.join(filter(None, [said, '; '.join(told)]))}", _LONGEST_OUTPUT
    )


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
