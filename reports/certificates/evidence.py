"""What a certificate is verified with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from conformance.recording.records import Record
from conformance.suite.suites import Suite
from opcert.vocabulary.names import OperatorName
from reports.gates.profiles import Profile
from reports.results.case_results import Followed
from reports.results.measured import VersionTrust
from reports.results.standing import SuiteStanding

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


@dataclass(frozen=True)
class Evidence:
    """What a certificate is held against; what is None is not at hand, and `absent` or `broken` says why.

    `standing` is what this opcert says of the suite, `profile` the one that must have been demanded, `today`
    the day on which waivers must not have expired; `followed` which readings runtimes were seen to follow,
    `measured` what this opcert knows of the suite's cases.
    """

    record: Record | None
    suite: Suite | None
    key: Ed25519PublicKey | None
    standing: SuiteStanding | None
    today: date
    absent: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    profile: Profile | None = None
    followed: Followed = field(default_factory=dict)
    measured: Mapping[OperatorName, VersionTrust] = field(default_factory=dict)
