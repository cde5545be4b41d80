"""A fake runtime on another machine: on its way some of what a case asks for is lost.

The first argument is the port of a server of the test, which says for each case that `asks` what happens.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "conformance" / "workers"))

if TYPE_CHECKING:
    from conformance.workers import worker_protocol
    from tests.conformance.fakes import echo_worker
else:
    import echo_worker
    from echo_worker import worker_protocol

PORT = int(sys.argv[1])
NUMBERS: list[int] = []


class Session(worker_protocol.Session):
    def answer(self, header: dict[str, Any], blobs: Any) -> None:
        NUMBERS.append(header["id"])
        super().answer(header, blobs)


def ask() -> str:
    with socket.create_connection(("127.0.0.1", PORT)) as server:
        return server.makefile().readline().strip()


class Distant(echo_worker.Echo):
    def run(self, model: Any, inputs: Any) -> Any:
        do, form = model
        said = ask() if do == "asks" else do
        if said == "cut":
            os.killpg(0, signal.SIGKILL)
        if said == "hang":
            time.sleep(600)
        if said.startswith("wait"):
            with os.fdopen(echo_worker.protocol_descriptor(), "wb", closefd=False) as outgoing:
                seconds: Any = said.removeprefix("wait ")
                frame = {"type": "wait", "id": NUMBERS[-1], "seconds": float(seconds), "why": "71 degrees"}
                worker_protocol.write_frame(outgoing, frame)
            time.sleep(1.2)
        if said in echo_worker.SIGNALS or said.startswith("exit"):
            return echo_worker.act(said, form, 1, None)
        return super().run(("echo", form), inputs)


if __name__ == "__main__":
    vars(worker_protocol)["Session"] = Session
    worker_protocol.serve(Distant)
