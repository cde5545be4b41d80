"""A fake runtime whose every word tries to do something to the terminal that shows it.

Its first argument names the place in which it does so; it answers with its input, and refuses every other
case with a message of the same kind.
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

SHOUT = (
    "\x1b]0;owned\x07\x1b[2J\x1b[1A\x9b31m\u202egnp\u2066\u200b\x08\x7f\rpass\n::set-env name=A::b\n"
    "forged: a line of its own\n##[error]x"
)
PLACE = sys.argv[1] if len(sys.argv) > 1 else ""


def told(plain: str, place: str) -> str:
    return f"{plain}{SHOUT}" if place == PLACE else plain


class Shouting(worker_protocol.Worker):
    def __init__(self, options: dict[str, str]) -> None:
        self.asked = 0
        if PLACE == "start":
            raise RuntimeError(SHOUT)
        if PLACE == "death":
            os.write(2, SHOUT.encode())
            os._exit(3)

    def hello(self) -> dict[str, Any]:
        return {
            "runtime": {"name": told("loud", "name"), "version": told("1.0", "version")},
            "platform": {told("python", "platform"): told("3", "platform")},
            "devices": [told("CPU", "devices")],
            "element_types": [told("float", "element types")] if PLACE == "element types" else None,
            "domains": {"org.example": "node", "ai.onnx": "onnx"},
            "forms": ["inputs"],
        }

    def load(self, request: worker_protocol.LoadRequest) -> Any:
        self.asked += 1
        if PLACE in ("message", "kind") and self.asked % 2 == 0:
            raise type(told("Refusal", "kind"), (Exception,), {})(told("no", "message"))
        if PLACE == "last words" and self.asked % 2 == 0:
            os.write(2, SHOUT.encode())
            os._exit(3)
        return None

    def run(self, model: Any, inputs: Any) -> Any:
        if PLACE == "no tensor":
            return [worker_protocol.NotTensor(type(SHOUT.replace("\0", ""), (), {})())]
        return list(inputs.values())


if __name__ == "__main__":
    worker_protocol.serve(Shouting)
