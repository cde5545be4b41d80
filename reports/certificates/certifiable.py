"""Whether a run can be certified at all: whole and unfiltered."""

from __future__ import annotations

from reports.page_making.phrasing import count, listed, plural
from reports.results.case_results import Results
from reports.results.told_facts import items, mapping, text


def list_obstacles(results: Results) -> list[str]:
    """Every reason why no certificate can be made of a run; none where one can."""
    header, footer = results.record.header, results.record.footer
    options = mapping(header.get("options"))
    found = []
    if footer is None:
        found.append("the record is partial: it has no footer, so the run did not come to its end")
    elif footer.get("stopped"):
        found.append(f"the run ended early: {text(mapping(footer['stopped']).get('reason'))}")
    if options.get("pattern") is not None:
        found.append(f"the run was filtered with -k {options['pattern']!r}")
    if options.get("shard") is not None:
        found.append(f"the record is of the shard {options['shard']} alone")
    missing = items(mapping(header.get("merged")).get("missing"))
    if missing:
        found.append(f"the record was merged without the shards {listed([text(each) for each in missing])}")
    counts = results.counts
    if counts["not_run"]:
        found.append(
            f"{count(counts['not_run'])} of {plural(len(results.cases), 'case')} of the suite did not run"
        )
    if counts["harness_error"]:
        who = "the worker" if results.record.failed_by_worker else "opcert"
        found.append(f"{who} itself failed on {plural(counts['harness_error'], 'case')}")
    return found
