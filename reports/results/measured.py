"""What is known of an operator version's cases beside what their suite says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Trust = Literal["referenced", "reviewed"]


@dataclass(frozen=True)
class VersionTrust:
    """How far the cases of an operator version are trusted, and what planting faults showed of them.

    docs/operators.md says what trust means. `adequacy` is empty where no faults were planted; under `cases`
    it has the digest of the cases that were measured.
    """

    trust: Trust
    adequacy: Mapping[str, Any] = field(default_factory=dict)
