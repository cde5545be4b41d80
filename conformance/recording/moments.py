"""When a run began, went on and ended, by a clock that may be set meanwhile."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def timestamp(ago: float = 0.0) -> str:
    """Now, or so many seconds ago, in UTC, as ISO 8601 to the second."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def without_later_moments(header: Mapping[str, Any], passed: float) -> dict[str, Any]:
    """What changes in a header some seconds after it was written, where it speaks of what is yet to come.

    The clock was set back then, and what it says now counts: nothing that it said before was later than these
    seconds ago. Of a clock that was set forward nothing can be told.
    """
    moments = [header.get("started"), *header.get("resumed", ())]
    if not all(isinstance(each, str) and _MOMENT.fullmatch(each) for each in moments):
        return {}
    if max(moments) <= timestamp():
        return {}
    latest = timestamp(passed)
    for place in reversed(range(len(moments))):
        latest = moments[place] = min(moments[place], latest)
    first, *others = moments
    return {"started": first, "resumed": others} if others else {"started": first}


def day_to_come(moment: str) -> str:
    """The day of a moment, where by this machine's clock it has not begun; empty where it has."""
    day = moment[:10]
    return day if _MOMENT.fullmatch(moment) and day > timestamp()[:10] else ""
