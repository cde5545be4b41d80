"""What several versions of an operator say, as one value: what is the same once, the rest by versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from specs.version_ranges import in_range, is_by_version

Values = Mapping[int, Any]
"""A value for each version that has one."""
SHARED = ("readings", "behaviours")
"""Lists in which a text names an entry, which a mapping with its `id` and versions narrows."""


def merge_versions(files: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """One mapping for the mappings of several versions, such that each version reads its own out of it.

    Entries of lists that only some versions have get `since` and `until`; other values that differ become
    mappings by ranges of versions. The order in lists and mappings is kept for each version.
    """
    versions = sorted(files)
    merged: dict[str, Any] = {}
    for key in _in_one_order([list(files[each]) for each in reversed(versions)]):
        values = {each: files[each][key] for each in versions if key in files[each]}
        if all(isinstance(each, list) and each and _are_entries(each, key) for each in values.values()):
            # An empty list here means what a missing one means; further in, the two differ.
            values = {each: values.get(each, []) for each in versions}
        merged[key] = _merged(versions, values, key)
    return merged


def _merged(versions: Sequence[int], values: Values, key: str = "") -> Any:
    if len(values) < len(versions):
        runs = _runs(versions, values)
        return dict(each for run in runs for each in _by_version(run, values, key, versions))
    if all(_same(values[each], values[versions[0]]) for each in versions):
        return values[versions[0]]
    if all(isinstance(each, Mapping) and each for each in values.values()):
        names = [list(values[each]) for each in reversed(versions)]
        order = _in_one_order(names)
        if all([each for each in order if each in listed] == listed for listed in names):
            return {
                name: _merged(
                    versions, {each: values[each][name] for each in versions if name in values[each]}, name
                )
                for name in order
            }
    elif all(isinstance(each, list) and _are_entries(each, key) for each in values.values()):
        return _merged_entries(versions, values)
    groups = groupby(versions, key=lambda each: repr(values[each]))
    return {_range(run, versions): values[run[0]] for run in (list(found) for _, found in groups)}


def _by_version(
    run: Sequence[int], values: Values, key: str, versions: Sequence[int]
) -> Iterator[tuple[str, Any]]:
    """What the versions of a run have, as entries of a mapping by ranges of all versions."""
    merged = _merged(run, {each: values[each] for each in run}, key)
    if not is_by_version(merged):
        yield _range(run, versions), merged
        return
    for name, each in merged.items():
        yield _range([version for version in run if in_range(name, version)], versions), each


def _are_entries(listed: Sequence[Any], key: str) -> bool:
    return all(isinstance(each, Mapping) or (key in SHARED and isinstance(each, str)) for each in listed)


def _merged_entries(versions: Sequence[int], values: Values) -> list[Any]:
    """The entries of lists side by side, those that mean the same as one, with the versions of each."""
    rows: list[dict[int, Any]] = []
    for version in reversed(versions):
        listed = values[version]
        known = [_identity(next(iter(row.values()))) for row in rows]
        mine = [_identity(each) for each in listed]
        grown: list[dict[int, Any]] = []
        for tag, low, high, start, end in SequenceMatcher(None, known, mine, autojunk=False).get_opcodes():
            if tag == "equal":
                pairs = zip(rows[low:high], listed[start:end], strict=True)
                grown += [{**row, version: each} for row, each in pairs]
            else:
                grown += rows[low:high]
                grown += [{version: each} for each in listed[start:end]]
        rows = grown
    return [each for row in rows for each in _entries(versions, row)]


def _entries(versions: Sequence[int], row: Values) -> Iterator[Any]:
    for run in _runs(versions, row):
        merged = _merged_entry(run, row)
        bounds = {}
        if run[0] != versions[0]:
            bounds["since"] = run[0]
        if run[-1] != versions[-1]:
            bounds["until"] = run[-1]
        if not bounds:
            yield merged
        else:
            named = {"id": merged} if isinstance(merged, str) else dict(merged)
            first = {"id": named.pop("id")} if "id" in named else {}
            yield {**first, **bounds, **named}


def _merged_entry(run: Sequence[int], row: Values) -> Any:
    if all(isinstance(row[each], str) for each in run):
        return row[run[0]]
    fields = {each: {"id": row[each]} if isinstance(row[each], str) else row[each] for each in run}
    return {
        name: _merged(run, {each: fields[each][name] for each in run if name in fields[each]}, name)
        for name in _in_one_order([list(fields[each]) for each in reversed(run)])
    }


def _identity(entry: Any) -> str:
    """What makes entries of two versions the same one: their id, else all but the lines that they cite."""
    if isinstance(entry, Mapping):
        if "id" in entry:
            return str(entry["id"])
        return repr({key: each for key, each in entry.items() if key != "src"})
    return str(entry)


def _in_one_order(lists: Sequence[Sequence[str]]) -> list[str]:
    """All names, in an order as near as can be to that of each list; the first counts most."""
    order: list[str] = []
    for listed in lists:
        after = 0
        for name in listed:
            if name in order:
                after = order.index(name) + 1
            else:
                order.insert(after, name)
                after += 1
    return order


def _runs(versions: Sequence[int], values: Values) -> Iterator[list[int]]:
    """The versions that have a value, those without one of another between them together."""
    for has, run in groupby(versions, key=lambda each: each in values):
        if has:
            yield list(run)


def _range(run: Sequence[int], versions: Sequence[int]) -> str:
    """The versions of a run as a range that is open where nothing lies beyond."""
    low = "" if run[0] == versions[0] else str(run[0])
    high = "" if run[-1] == versions[-1] else str(run[-1])
    return low if low and low == high else f"{low}..{high}"


def _same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right)
