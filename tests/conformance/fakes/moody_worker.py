"""A fake runtime of ONNX models that refuses, dies and answers by the attribute `axis` of a model's node.

It refuses axes from 1 on, each in words of its own, and dies at an axis below -1; its answers are none.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance" / "workers"))

if TYPE_CHECKING:
    from conformance.workers import worker_protocol
else:
    import worker_protocol


class Moody(worker_protocol.Worker):
    """Takes every domain of ONNX models."""

    def __init__(self, options: dict[str, str]) -> None:
        del options

    def hello(self) -> dict[str, Any]:
        return {
            "runtime": {"name": "moody", "version": "3.1"},
            "domains": {"*": "onnx"},
            "forms": ["inputs"],
        }

    def load(self, request: worker_protocol.LoadRequest) -> Any:
        # A call with a model of its own is described by its model alone, in which a number is easy to find.
        raw = request.onnx or b""
        at = raw.find(b"axis\x18")
        axis = 0 if at < 0 else raw[at + 5]
        if 1 <= axis < 64:
            raise ValueError(f"axis {axis} of 'X' is beyond me")
        if at >= 0 and raw[at + 5 : at + 15].startswith(b"\xfe"):
            os._exit(7)
        return request.name

    def run(self, model: Any, inputs: Any) -> Any:
        return [next(iter(inputs.values()))] if inputs else []


if __name__ == "__main__":
    worker_protocol.serve(Moody)
