"""What a runtime's message says: in one line for people, and without its particulars to compare it by."""

from __future__ import annotations

import re

_READ = 4096
_LONGEST = 300
_LONGEST_HEAD = 180
_LONG_LIST = 3
# Where in a runtime's source something was noticed.
_PLACE = re.compile(r"(?:Exception from|Check '.*' failed at) \S+:\d+:? ?")
_FOLDER = re.compile(r"(?:[\w.+-]*/){2,}(?=[\w.+-])")
_SUMMARY = "Summary:"
_TRACEBACK = "Traceback (most recent call last):"


def shorten(message: str) -> str:
    """The first line of a message, and the one that tells what is wrong where another one does.

    That is the first after the last that ends in a colon and so introduces it, up to a summary, unless it
    opens a long list; of a traceback the last line. Places in source code are left out. At most 300
    characters.
    """
    if len(message) > 2 * _READ:
        message = f"{message[:_READ]}\n{message[-_READ:]}"
    lines = [line for each in message.splitlines() if (line := " ".join(each.split()))]
    if _TRACEBACK in lines:
        return _cut(lines[-1], _LONGEST)
    if _SUMMARY in lines[1:]:
        lines = lines[: lines.index(_SUMMARY, 1)]
    said = [_PLACE.sub("", line).strip() for line in lines]
    head = next((each for each in said if each), lines[0] if lines else "")
    introductions = [number for number, line in enumerate(lines[:-1]) if line.endswith(":")]
    after = introductions[-1] + 1 if introductions else 0
    telling = said[after] if introductions else head
    if not head.endswith(":") and len(lines) - after >= _LONG_LIST:
        telling = head
    if not telling or telling == head:
        return _cut(head, _LONGEST)
    if telling.startswith(head):
        return _cut(telling, _LONGEST)
    head = _cut(head, _LONGEST_HEAD)
    between = " " if head.endswith(":") else " ... "
    return head + between + _cut(telling, _LONGEST - len(head) - len(between))


def sentence(message: str) -> str:
    """What a message says, as its runtime says it, without where in its source and with whole words."""
    return " ".join(_FOLDER.sub("", shorten(message)).split())


def _cut(line: str, longest: int) -> str:
    """Long lines without their middle: runtimes put the place first and the cause last."""
    if len(line) <= longest:
        return line
    first = longest // 3
    return f"{line[:first]} ... {line[first + 5 - longest :]}"
