"""What a client of Dask reads of its scheduler's messages: plain values and bytes, and no pickle.

Whoever is a worker can send the scheduler, and through it the client, any message: Dask would unpickle what
stands in it and so run code here. While a client is connected, every message is read by `read_message`, and
nothing is unpickled anywhere in this process but what its own children say.
"""

from __future__ import annotations

import pickletools
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_LOCK = threading.Lock()
_open = 0
_is_guarded = False
_MOST_TEXTS = 10_000
_BYTES = ("bytes", "builtins.bytes")
_OWN_CHILDREN = ("multiprocessing.connection", "multiprocessing.queues")
"""The modules that unpickle what processes say which this one has started."""


class Unpicklable(TypeError):
    """Somebody wants to unpickle what came from elsewhere."""


class UnreadObject:
    """Stands in a message for what is not read: pickled objects, and bytes that are said to be objects."""

    def __repr__(self) -> str:
        return "something that is not read here"


UNREAD = UnreadObject()


@contextmanager
def reading_strictly() -> Iterator[None]:
    """Read messages of Dask as plain values, and unpickle nothing in this process, for so long."""
    global _open
    from distributed import protocol

    with _LOCK:
        _guard()
        _open += 1
        if _open == 1:
            _as_it_was.append(protocol.loads)
            protocol.loads = read_message
    try:
        yield
    finally:
        with _LOCK:
            _open -= 1
            if not _open:
                protocol.loads = _as_it_was.pop()


_as_it_was: list[Any] = []


def read_message(frames: Sequence[Any], **_: Any) -> Any:
    """A message of Dask's protocol, by its frames; what is serialized in it counts where it is bytes alone.

    Events and warnings, which a client would print as they are, are left out.

    Raises ValueError, or what msgpack raises, on frames that are no message.
    """
    import msgpack  # type: ignore[import-untyped] # msgpack ships no types

    def take(said: dict[Any, Any]) -> Any:
        place = said.get("__Serialized__")
        if type(place) is int and 0 < place < len(frames):
            header = msgpack.loads(frames[place], use_list=False, strict_map_key=False)
            return _bytes_of(header, frames[place + 1 :])
        if not said.keys().isdisjoint(("__Serialized__", "__Pickled__", "__Enum__")):
            return UNREAD
        if "__Set__" in said:
            return set(said["as-list"])
        if said.get("op") == "event":
            return {"op": "unread"}
        said.pop("warning", None)
        return said

    if not frames:
        raise ValueError("a message without frames")
    return msgpack.loads(frames[0], object_hook=take, use_list=False, strict_map_key=False)


def _bytes_of(header: Any, frames: Sequence[Any]) -> Any:
    """The bytes that are serialized in frames; something unread where it is another object."""
    if not isinstance(header, Mapping):
        return UNREAD
    if header.get("serializer") != "dask" or header.get("type") not in _BYTES:
        return UNREAD
    number = header.get("num-sub-frames")
    if type(number) is not int or not 0 <= number <= len(frames):
        return UNREAD
    own = list(frames[:number])
    if any(header.get("compression") or ()):
        from distributed.protocol.compression import decompress

        own = decompress(header, own)
    return b"".join(own)


def texts_of_pickle(raw: bytes) -> list[str]:
    """The texts that stand in a pickle, which is not unpickled: the names of its classes are among them."""
    found: list[str] = []
    try:
        for _, said, _ in pickletools.genops(raw):
            if isinstance(said, str):
                found += said.split(" ") if said.isascii() and len(said) < 200 else [said]
            if len(found) > _MOST_TEXTS:
                break
    except Exception:  # noqa: BLE001 - whatever else the bytes are, these are the texts before
        return found
    return found


def _guard() -> None:
    """Have Python ask whenever a pickle names a class or a function, without which it can run nothing."""
    global _is_guarded
    if not _is_guarded:
        _is_guarded = True
        sys.addaudithook(_refuse)


def _refuse(event: str, said: tuple[Any, ...]) -> None:
    if event != "pickle.find_class" or not _open:
        return
    if sys._getframe(1).f_globals.get("__name__") not in _OWN_CHILDREN:
        raise Unpicklable(f"nothing is unpickled while a cluster answers, and {said!a} was to be")
