"""Runs with certificates that the tests of verification tamper with; each is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.certified import Certified, make_certified


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A run that shows a fault, so that its profile is not met; unsigned."""
    return make_certified(tmp_path_factory.mktemp("certified"))


@pytest.fixture
def certified(original: Certified, tmp_path: Path) -> Certified:
    return original.copy(tmp_path / "copy")


@pytest.fixture(scope="session")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A run with every kind of verdict, its profile met; unsigned."""
    return make_certified(tmp_path_factory.mktemp("steady"), steady=True)


@pytest.fixture
def calm(steady: Certified, tmp_path: Path) -> Certified:
    return steady.copy(tmp_path / "calm")


@pytest.fixture(scope="session")
def signed_once(steady: Certified, tmp_path_factory: pytest.TempPathFactory) -> Certified:
    made = steady.copy(tmp_path_factory.mktemp("signed") / "made")
    made.certify(key=made.key)
    return made


@pytest.fixture
def signed(signed_once: Certified, tmp_path: Path) -> Certified:
    return signed_once.copy(tmp_path / "signed")
