"""What SARIF 2.1.0 asks of a log, as far as ours go: required properties, and indices that lead somewhere."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

LEVELS = ("none", "note", "warning", "error")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def check_sarif(log: dict[str, Any]) -> None:
    """Raises AssertionError where a log is none."""
    assert log["version"] == "2.1.0"
    assert urlsplit(log["$schema"]).path.endswith("sarif-schema-2.1.0.json")
    assert log["runs"]
    for run in log["runs"]:
        _check_run(run)
    names = [run["automationDetails"]["id"] for run in log["runs"]]
    assert len(set(names)) == len(names)


def _check_run(run: dict[str, Any]) -> None:
    driver = run["tool"]["driver"]
    assert driver["name"]
    rules = driver["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(set(ids)) == len(ids)
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
        if "helpUri" in rule:
            assert urlsplit(rule["helpUri"]).scheme in ("http", "https")
    for each in run.get("artifacts", ()):
        assert each["location"]["uri"]
        assert _SHA256.fullmatch(each["hashes"]["sha-256"])
    for each in run.get("invocations", ()):
        assert isinstance(each["executionSuccessful"], bool)
    for each in run["results"]:
        assert ids[each["ruleIndex"]] == each["ruleId"]
        assert each["level"] in LEVELS
        assert each["message"]["text"]
        for location in each["locations"]:
            artifact = location["physicalLocation"]["artifactLocation"]
            assert urlsplit(artifact["uri"]).scheme in ("", "file")
            assert " " not in artifact["uri"]
            assert run["artifacts"][artifact["index"]]["location"]["uri"] == artifact["uri"]
            assert all(one["name"] for one in location["logicalLocations"])
        assert all(isinstance(one, str) for one in each["partialFingerprints"].values())
