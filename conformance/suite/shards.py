"""Shards: parts of a suite for several machines, chosen by case id alone."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from opcert.vocabulary.errors import UserError

_TEXT = re.compile(r"([0-9]{1,6})/([0-9]{1,6})", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """Part `number` (from 1) of `count`. A case stays in its part when others are added to the suite."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `i/n`; raises UserError on anything else."""
        match = _TEXT.fullmatch(text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise UserError("no shard", got=repr(text), expected="i/n with 1 <= i <= n, for example 2/4")
        return cls(int(match[1]), int(match[2]))

    def holds(self, case_id: str) -> bool:
        """Whether a case is in this part."""
        digest = hashlib.sha256(case_id.encode("utf-8")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"
