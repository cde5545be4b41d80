"""Through how many files an operator's name goes while its cases are made: `python -m tools.operator_path`.

Prints the files with a function that is given the name as its `operator`, one entering after another, and how
many different steps from one of these files to another lead back to one that was there before.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType

from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import generate_operator
from opcert.vocabulary.names import OperatorName

OPERATOR = OperatorName.parse("ai.onnx::Compress-28")


def trace() -> tuple[int, int]:
    """The number of files, and that of different steps back to one of them."""
    seen: list[str] = []
    back: set[tuple[str, str]] = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not _takes_operator(frame.f_code):
            return
        file = frame.f_code.co_filename
        if frame.f_locals.get("operator") == OPERATOR and seen[-1:] != [file]:
            if file in seen:
                back.add((seen[-1], file))
            seen.append(file)

    sys.setprofile(enter)
    try:
        # What was kept of searches may be stale, and the way another one then.
        generate_operator(OPERATOR, Options("small", 1), afresh=True)
    finally:
        sys.setprofile(None)
    return len(set(seen)), len(back)


def _takes_operator(code: CodeType) -> bool:
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return "operator" in arguments


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__)
        sys.exit(0)
    print(*trace())
