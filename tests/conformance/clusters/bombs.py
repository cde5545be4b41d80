"""Preloaded by a worker or a scheduler of Dask, it becomes a hostile one: `BOMB` says how.

Whoever unpickles what it sends leaves a file with the number of its process in the folder `MARKERS`.
"""

from __future__ import annotations

import asyncio
import os
import pickle
from typing import Any

from distributed.protocol import ToPickle, to_serialize

HOW, MARKERS = os.environ["BOMB"], os.environ["MARKERS"]


class Bomb(Exception):
    """Executes itself where it is unpickled, and stays a pickle that Dask would take for an error."""

    def __reduce__(self) -> Any:
        return eval, (f"__import__('pathlib').Path({MARKERS!r}, str(__import__('os').getpid())).touch()",)


def said() -> bytes:
    return pickle.dumps(Bomb())


def explode(*_: Any, **__: Any) -> Any:
    raise Bomb


def a_bomb(*_: Any, **__: Any) -> Any:
    return Bomb()


async def dask_setup(service: Any) -> None:
    """Change what the service that preloads this sends."""
    handlers = service.handlers
    if HOW in ("result", "error"):
        # As whoever has the worker's machine can.
        from distributed import worker

        from conformance.clusters import worker_answers

        worker_answers.answer_in_bytes = a_bomb if HOW == "result" else explode
        told = {"status": "error", "exception_text": "", "traceback_text": ""}
        worker.error_message = lambda *_, **__: {
            **told,
            "exception": to_serialize(said()),
            "traceback": to_serialize(said()),
        }
    elif HOW == "probe":
        handlers["run"] = lambda **_: {"status": "OK", "result": to_serialize(Bomb())}
    elif HOW == "probe_error":
        handlers["run"] = lambda **_: {
            "status": "error",
            "exception": to_serialize(said()),
            "traceback": said(),
        }
    elif HOW == "probe_pickle":
        handlers["run"] = lambda **_: {"status": "OK", "result": ToPickle(Bomb())}
    elif HOW == "event":

        async def log() -> None:
            for _ in range(1000):
                service.log_event("warn", {"message": said(), "category": said()})
                service.log_event("print", {"args": (said(),), "kwargs": {}})
                await asyncio.sleep(0.05)

        service.bombing = asyncio.create_task(log())
    elif HOW == "name":
        service.metrics["bomb"] = lambda _: said()
        service.startup_information["bomb"] = lambda _: said()
    elif HOW in ("identity", "ncores", "gather"):
        handlers[HOW] = lambda *_, **__: ToPickle(Bomb())
    elif HOW == "register":
        service.bombing = asyncio.create_task(_bomb_clients(service, [ToPickle(Bomb())]))
    else:
        messages: dict[str, Any] = {
            "in_memory": {"op": "key-in-memory", "type": said(), "workers": ToPickle(Bomb())},
            "erred": {
                "op": "task-erred",
                "exception": to_serialize(said()),
                "traceback": to_serialize(said()),
            },
            "reported": {"status": "error", "exception": said(), "traceback": said(), "op": "x"},
            "scheduler_error": {"op": "error", "exception": ToPickle(Bomb())},
        }
        service.bombing = asyncio.create_task(_bomb_clients(service, [messages[HOW]]))


async def _bomb_clients(scheduler: Any, messages: list[Any]) -> None:
    while True:
        for comm in list(scheduler.client_comms.values()):
            for message in messages:
                for key in list(scheduler.tasks) or ["x"]:
                    told = (
                        {**message, "key": str(key)}
                        if isinstance(message, dict) and "status" not in message
                        else message
                    )
                    comm.send(told)
        await asyncio.sleep(0.02)
