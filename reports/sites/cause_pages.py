"""The page of a cause: what it is, what shows it, which runtimes and versions have it; and their list."""

from __future__ import annotations

from conformance.judging.known_causes import WORDS
from conformance.judging.verdicts import word
from reports.results.case_results import ONNX
from reports.results.told_facts import short_names
from reports.single_cases.passages_shown import with_titles
from reports.sites.cause_keys import CauseKey
from reports.sites.site_causes import CauseInRun, SiteCause, cause_in_runs
from reports.sites.site_page import Site, run_name
from reports.text.phrasing import count

MOST_CASES = 40
"""So many of its cases a cause's page lists; of the others it says how many there are."""
TOLD = {
    "entry": "An entry of known causes explains it.",
    "message": "Told by what the runtime says when it refuses, or by how its process was lost.",
    "experiment": "Shown by experiments on the runtime.",
    "rule": "Calls that break this rule must be refused, and are answered.",
    "documents": "Asked again, the answers are ones that the documents allow; the cases expect another.",
    "unexplained": "What these cases have in common is not known.",
}


def render_cause(site: Site, key: CauseKey) -> str:
    """The page of a cause by its key."""
    cause = site.causes[key]
    known = cause.known
    own = {each.unversioned for each in cause.operators}
    having = {each.series for each in cause.seen}
    # Of a runtime without it the newest version is enough.
    asked = [
        run
        for run in site.shown_runs
        if run.series in having or (run in site.newest and own & run.named.keys())
    ]
    rows = [each for each in cause_in_runs(cause, asked) if _tells(each, having)]
    operator = cause.operators[0]
    return site.render(
        "site_cause.html.j2",
        "../",
        cause=cause,
        title=cause.title[0].upper() + cause.title[1:] if cause.title else key.told,
        told=TOLD[key.told],
        says="" if known is None else WORDS[known.kind],
        explanation="" if known is None or known.explanation == cause.title else known.explanation,
        places=[] if known is None else [with_titles(each, operator) for each in known.passage],
        operators=short_names(cause.operators),
        links=sorted((short, site.links.operator(name)) for name, short in _operators(cause).items()),
        rows=[(each, run_name(each.run, site.shown[each.run.series])) for each in rows],
        silent=sorted({each.series for each in asked} - {each.run.series for each in rows}),
        older=[each.label for each in cause.seen if each not in site.shown_runs],
        verdict_of={each.run: word(each.example) for each in rows if each.example},
        cases=cause.cases[:MOST_CASES],
        more=max(0, len(cause.cases) - MOST_CASES),
    )


def _tells(each: CauseInRun, having: set[str]) -> bool:
    """Whether a run says anything of the cases: it has the cause, or it passes or fails some of them."""
    return each.run.series in having or bool(each.passing or each.otherwise)


def _operators(cause: SiteCause) -> dict[str, str]:
    return {each.unversioned: each.unversioned.removeprefix(f"{ONNX}::") for each in cause.operators}


def render_causes(site: Site) -> str:
    """The list of all causes, in the order to fix them."""
    tiers: dict[str, list[tuple[SiteCause, str, str]]] = {}
    for cause in site.causes.values():
        runtimes = []
        for series in site.runs.series:
            own = [len(seen.cases) for run, seen in cause.seen.items() if run.series == series]
            newest = next((each for each in site.newest if each.series == series), None)
            if own:
                gone = newest is not None and newest not in cause.seen
                runtimes.append(f"{series} {'no more' if gone else count(own[0])}")
        told = (cause, ", ".join(runtimes), short_names(cause.operators))
        tiers.setdefault(cause.first.group, []).append(told)
    return site.render("site_causes.html.j2", "", here="causes", tiers=tiers)
