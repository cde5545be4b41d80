"""What is kept of a task for the next run: the requests of its case, and the row of the answer to them.

What a case is sent as and how an answer is judged depend on the case, the answer and our code alone. Who
gets the same answer to the same case as before knows the row.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.recording.rows import Result
from conformance.running.ready_requests import ReadyRequest
from conformance.running.responses import Answered, NotOffered, NotTensor, Refused, Response
from opcert.vocabulary.seals import SEAL_BYTES, is_sealed, seal

_HEAD = struct.Struct("<IIIQ")
_SECONDS = b'"seconds":'
_REFUSE, _AGAIN, _OFFERED = 1, 2, 4


@dataclass(frozen=True, eq=False)
class KeptTask:
    """`request` is what is sent, or why nothing is. `valid_case` is the id of the case that one that
    `must_be_refused` was made from. `answer` is the digest of the answer that led to `row`, without its
    seconds: before and behind them. Both are empty where there was none that says anything of the next run.
    `size` is how many bytes of outputs stand in the row.
    """

    request: ReadyRequest | NotOffered
    must_be_refused: bool
    valid_case: str | None
    answer: bytes = b""
    row: tuple[bytes, bytes] = (b"", b"")
    size: int = 0

    def row_of(self, seconds: float) -> tuple[Result, bytes]:
        """The row of the answer, which took so long, and its line."""
        line = b"%b%b%b" % (self.row[0], repr(seconds).encode("ascii"), self.row[1])
        return Result.from_json(json.loads(line)), line

    def pack(self, name: str) -> bytes:
        """The same as bytes, with a seal: kept under this name by this user's opcert (`seals.py`)."""
        flags = _REFUSE * self.must_be_refused
        told = (self.valid_case or "").encode()
        if isinstance(self.request, NotOffered):
            pieces: Sequence[bytes] = (self.request.reason.encode(), b"")
            loaded: tuple[bytes, ...] = ()
        else:
            flags |= _OFFERED | _AGAIN * self.request.again
            loaded = self.request.load_blobs
            pieces = (self.request.load, self.request.run, *loaded, *self.request.run_blobs)
        pieces = (told, self.answer, *self.row, *pieces)
        lengths = struct.pack(f"<{len(pieces)}I", *map(len, pieces))
        body = b"".join((lengths, *pieces))
        packed = _HEAD.pack(flags, len(pieces), len(loaded), self.size) + body
        return seal(name, packed) + packed


def unpack_task(name: str, sealed: bytes) -> KeptTask | None:
    """The inverse of `KeptTask.pack`; None of bytes that have not its seal."""
    raw = sealed[SEAL_BYTES:]
    if not is_sealed(name, raw, sealed[:SEAL_BYTES]):
        return None
    flags, count, loaded, size = _HEAD.unpack_from(raw)
    lengths = struct.unpack_from(f"<{count}I", raw, _HEAD.size)
    at = _HEAD.size + 4 * count
    pieces = []
    for length in lengths:
        pieces.append(raw[at : at + length])
        at += length
    valid, answer, before, behind, first, second, *blobs = pieces
    request = (
        ReadyRequest(first, tuple(blobs[:loaded]), second, tuple(blobs[loaded:]), bool(flags & _AGAIN))
        if flags & _OFFERED
        else NotOffered(first.decode())
    )
    refuse = bool(flags & _REFUSE)
    return KeptTask(request, refuse, valid.decode() or None, answer, (before, behind), size)


def split_row(line: bytes) -> tuple[bytes, bytes]:
    """A row's line without its seconds: what stands before them and behind them."""
    # Nothing that has a name or a text of others in it comes behind this key in what JSON escapes.
    before, key, rest = line.rpartition(_SECONDS)
    return before + key, rest[rest.index(b",") :]


def answer_digest(response: Response, valid_case_answered: bool) -> bytes | None:
    """A digest of all of an answer but its seconds, and of what else the judge is told; None of no answer."""
    if isinstance(response, Refused | NotOffered):
        said = {**vars(response), "seconds": type(response).__name__, "valid": valid_case_answered}
        return hashlib.sha256(json.dumps(said).encode()).digest()
    if not isinstance(response, Answered):
        return None
    digest = hashlib.sha256(b"answered")
    for each in response.outputs:
        if isinstance(each, NotTensor):
            return None
        raw = each.to_bytes()
        digest.update(f"{each.element_type.name} {each.array.shape} {len(raw)}:".encode())
        digest.update(raw)
    return digest.digest()
