"""What is expected of exported cases, for judges that read no ONNX and no JSON: text and plain bytes.

`goldens.txt` begins with its format and the suite; words are apart by one blank:

    case FOLDER DEMAND VALID MAY_REFUSE     answer, refuse or survive; the folder of the valid case, or -;
                                            no, open (a refusal is observed) or contradicted (document)
    expectation SAYS                        text, or contradicted (who follows it is told `document`)
    output TYPE SHAPE EXPECTED ALLOWED      shape 2,3 or -; files of elements, and of doubles, or -
    alternatives INDEX:HEX,HEX ...          further values of single elements of the output before
    skip FOLDER WHY                         a case that needs more than these lines say
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from conformance.running.returned_files import case_folder
from conformance.suite.cases import Case, Expectation, ExpectedOutput
from opcert.vocabulary.tensors import tensor
from opcert.vocabulary.whole_files import write_bytes, write_text

FORMAT = "opcert-goldens/1"
GOLDENS = "goldens.txt"


def write_goldens(cases: Sequence[Case], suite: str, folder: Path) -> int:
    """Write what is expected of cases; returns of how many the lines cannot hold it."""
    lines = [f"{FORMAT} {suite}"]
    skipped = 0
    for case in cases:
        reason = _beyond(case)
        if reason is None:
            lines += _lines(case, folder)
        else:
            skipped += 1
            lines.append(f"skip {case_folder(str(case.id))} {reason}")
    write_text(folder / GOLDENS, "\n".join(lines) + "\n")
    return skipped


def _beyond(case: Case) -> str | None:
    if case.properties:
        return "demands that are no values"
    if any(expectation.unordered for expectation in case.expectations):
        return "an open order"
    outputs = [output for expectation in case.expectations for output in expectation.outputs]
    kinds = {output.expected.element_type for output in outputs}
    if any(kind.kind in ("complex", "string") for kind in kinds):
        return "elements that are no numbers"
    return None


def _lines(case: Case, folder: Path) -> Iterator[str]:
    place = case_folder(str(case.id))
    valid = "-" if case.valid_case is None else case_folder(case.valid_case)
    refusal = "no"
    if case.may_refuse is not None or case.refusal_contradicted:
        refusal = "contradicted" if case.refusal_contradicted else "open"
    yield f"case {place} {case.demand} {valid} {refusal}"
    if case.demand == "answer":
        for number, expectation in enumerate(case.expectations):
            yield from _expectation(expectation, folder, f"{place}/{number}")


def _expectation(expectation: Expectation, folder: Path, begin: str) -> Iterator[str]:
    yield f"expectation {'contradicted' if expectation.contradicted else 'text'}"
    for number, output in enumerate(expectation.outputs):
        yield from _output(output, folder, f"{begin}_{number}")


def _output(output: ExpectedOutput, folder: Path, begin: str) -> Iterator[str]:
    wanted, expected, allowed = output.expected, f"{begin}.expected", "-"
    write_bytes(folder / expected, wanted.to_bytes())
    if output.allowed is not None:
        allowed = f"{begin}.allowed"
        write_bytes(folder / allowed, tensor(np.asarray(output.allowed, np.float64)).to_bytes())
    shape = ",".join(map(str, wanted.shape)) or "-"
    yield f"output {wanted.element_type.name} {shape} {expected} {allowed}"
    told = []
    for alternative in output.alternatives:
        values = np.empty(len(alternative.values), dtype=wanted.element_type.storage)
        values[:] = alternative.values
        size = tensor(values, wanted.element_type).to_bytes()
        step = len(size) // max(1, len(values))
        words = [size[at : at + step].hex() for at in range(0, len(size), step)]
        told.append(f"{alternative.index}:{','.join(words)}")
    if told:
        yield f"alternatives {' '.join(told)}"
