"""Messages of runtimes without their particulars: what says the same is taken for one cause.

The same normalisation is used wherever messages are compared: across operators, versions and machines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from conformance.processes.worker_streams import find_last_words

_READ = 8192
_LONGEST = 600
_SAME = "#"
# Which node of the model it was about, and what that node looked like.
_NODE = re.compile(
    r"While validating (?:\w+ )?node '[^']*'(?: with friendly_name '[^']*')?:?"
    r"|\bName:\s*'[^']*'|^Shape inference input shapes .*$|\bnode \([^()]*\)|\bnode #\d+",
    re.MULTILINE,
)
# The kind of node: one check of a runtime serves many.
_OPERATOR = re.compile(r"\b(?<=running )\w+(?= node\b)|^-- \w+(?=-\d+ with a message)", re.MULTILINE)
_MANGLED = re.compile(r"\b(?:_Z|N\d)\w*E\w*\b")
_PATH = re.compile(
    r"(?:[\w.+-]*[/\\])+([\w.+-]+)(?::\d+)?(?::\d+)?|\b([\w-]+\.(?:cc|cpp|h|hpp|rs|py|cu|c)):\d+"
)
_QUOTED = re.compile(r"""(?<!\w)'([^']*)'(?!\w)|(?<!\w)"([^"]*)"(?!\w)|`([^`]*)`""")
# What a quoted text has that is a condition of the source, and no name or value.
_CODE = re.compile(r"[!=<>]=|&&|\|\||::|\w\(|[<>]")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|(?<![A-Za-z_])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\d+")
_LIST = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]")
_REPEATED = re.compile(r"#(?:\s*[,x*]?\s*#)+")
_FRAME = re.compile(r'File "(?:[^"]*[/\\])?([^"/\\]+)", line \d+ in (\S+)')


def signature(kind: str, message: str, names: Iterable[str] = ()) -> str:
    """What a refusal says, without mangled names, addresses, places, sizes, and names of nodes.

    `kind` is the class of the runtime's error; `names` are words of the call (its operator) that may stand in
    the message. Conditions of the runtime's source that it quotes are kept: they tell one check from another.
    """
    text = message[:_READ]
    for pattern in (_NODE, _OPERATOR):
        text = pattern.sub(_SAME, text)
    text = _PATH.sub(lambda found: found[1] or found[2], text)
    text = _MANGLED.sub(_SAME, text)
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = re.sub(rf"\b{re.escape(name)}\b", _SAME, text)
    text = _QUOTED.sub(_quoted, text)
    text = _until_it_stays(text, lambda now: _LIST.sub(_SAME, now))
    text = _NUMBER.sub(_SAME, text)
    text = _REPEATED.sub(_SAME, " ".join(text.split()))
    return f"{kind}: {text}"[:_LONGEST]


def crash_signature(signal: str | None, reason: str, stderr: str) -> str:
    """How a process was lost: the signal, what it printed of an exception, else the innermost frame."""
    said = find_last_words(stderr)
    if said is not None:
        return signature(signal or "crash", said.sense)
    frame = _FRAME.search(stderr)
    where = f"{frame[1]} in {frame[2]}" if frame is not None else ""
    return f"{signature(signal or 'crash', reason)} {where}".rstrip()


def _quoted(found: re.Match[str]) -> str:
    inside = found[1] if found[1] is not None else found[2] if found[2] is not None else found[3]
    return f"'{inside}'" if inside is not None and _CODE.search(inside) else _SAME


def _until_it_stays(text: str, change: Callable[[str], str]) -> str:
    """Lists may stand in lists; a few levels are enough."""
    for _ in range(8):
        changed = change(text)
        if changed == text:
            break
        text = changed
    return text
