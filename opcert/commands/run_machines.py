"""Which machines of a cluster ran what, and where they are of several kinds what each kind answered."""

from __future__ import annotations

from collections import Counter, defaultdict

from conformance.judging.verdicts import word
from conformance.recording.records import Record
from opcert.vocabulary.harmless import one_line
from reports.text.phrasing import plural

_MOST = 20
_LONGEST = 200


def machine_lines(record: Record) -> list[str]:
    """A line a machine, and behind them one a kind where there are several; none of a run of one machine."""
    machines = [each for each in (record.footer or {}).get("machines", ()) if isinstance(each, dict)]
    told = [
        f"{_short(each.get('name'))}: {plural(int(each.get('rows') or 0), 'result')}, "
        f"{_short(each.get('kind'))}"
        for each in machines[:_MOST]
    ]
    if len(machines) > _MOST:
        told.append(f"and {len(machines) - _MOST} more")
    kinds = {str(each.get("name")): _short(each.get("kind")) for each in machines}
    if len(set(kinds.values())) < 2:
        return told
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in record.results:
        counts[kinds.get(str(each.machine), "unknown")][each.verdict] += 1
    told.append("They are of several kinds, on which a runtime may take other code:")
    for kind, own in sorted(counts.items()):
        verdicts = ", ".join(f"{number} {word(verdict)}" for verdict, number in own.most_common())
        told.append(f"  {kind}: {verdicts}")
    return told


def _short(text: object) -> str:
    return one_line(str(text), _LONGEST)
