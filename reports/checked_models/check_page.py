"""`index.html` of a check: the model's nodes in order, and its calls, the worst first."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from pathlib import Path

from conformance.judging.verdicts import NOT_RUN, REJECTED_VALID
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.whole_files import write_text
from reports.checked_models.call_answers import ANSWERS
from reports.checked_models.call_words import calls_and_nodes, operator_text
from reports.checked_models.chain_words import chains_line, unasked_lines
from reports.checked_models.check_summary import evidence_line, forbidden_lines, total_line
from reports.checked_models.check_views import (
    CallView,
    ChainView,
    NodeBlock,
    NumbersView,
    Said,
    node_blocks,
    said_of,
    view_calls,
    view_chains,
    view_numbers,
)
from reports.checked_models.coverage import coverage_line, coverage_of
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers
from reports.checked_models.number_words import load_text
from reports.overview.headline import HeadlineFact
from reports.text.pages_alone import render_page
from reports.text.phrasing import listed, plural

MOST_DETAILED = 250
"""So many causes have their smallest case on the page; of the others the command makes it."""
BLOCK, FEW_NODES = 200, 400
OPEN_CALLS = 3
_LONGEST = 200


class CheckPage:
    """What the page of a check says; each part is put together when it is asked for."""

    def __init__(self, check: ModelCheck) -> None:
        self.check = check
        self.name = one_line(Path(check.model.path).name, _LONGEST)

    @property
    def headline(self) -> str:
        """What it comes to, in one line."""
        asked = [each for each in self.check.runtimes if not each.unavailable]
        total = len(self.check.model.nodes)
        if asked and all(each.holds and each.nodes["conformant"] == total for each in asked):
            return f"{self.name}: every node is conformant"
        return self.name

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return (
            f"{plural(len(self.check.model.nodes), 'node')} that make "
            f"{plural(len(self.check.calls), 'distinct call')}: {evidence_line(self.check)}.",
            *(
                one_line(f"{each.label}, {chains_line(each)}.", 2 * _LONGEST)
                for each in self.check.runtimes
                if each.blaming_chains
            ),
        )

    @cached_property
    def totals(self) -> tuple[str, ...]:
        return tuple(total_line(self.check, each) for each in self.check.runtimes)

    @cached_property
    def facts(self) -> tuple[HeadlineFact, ...]:
        model = self.check.model
        opsets = listed([f"{name or 'ai.onnx'} {number}" for name, number in sorted(model.opsets.items())])
        found = [
            HeadlineFact("model", one_line(model.path, _LONGEST)),
            HeadlineFact("sha256", "", model.sha256[:16]),
            HeadlineFact("operator sets", one_line(opsets, _LONGEST)),
        ]
        suite = next((each.results.suite for each in self.check.runtimes if each.results is not None), None)
        if suite is not None:
            found.append(
                HeadlineFact("cases", f"{plural(len(suite.case_ids), 'case')}, digest", suite.digest[:16])
            )
        found += [
            HeadlineFact("runtime", one_line(f"{each.label}{_settings(each)}", _LONGEST))
            for each in self.check.runtimes
        ]
        return tuple(found)

    @cached_property
    def loads(self) -> tuple[tuple[str, str, str], ...]:
        """For each runtime that was asked the sign of whether the model loads, and the words."""
        signs = {"loads": "pass", "refused": REJECTED_VALID, "lost": "crash", "unknown": NOT_RUN}
        return tuple(
            (each.label, signs[each.load.verdict], load_text(each.load))
            for each in self.check.runtimes
            if each.load is not None
        )

    @cached_property
    def ledger(self) -> tuple[tuple[RuntimeAnswers, tuple[tuple[Said, int], ...]], ...]:
        """For each runtime how many nodes have each answer."""
        return tuple(
            (each, tuple((said_of(answer), each.nodes[answer]) for answer in ANSWERS))
            for each in self.check.runtimes
        )

    @cached_property
    def calls(self) -> tuple[CallView, ...]:
        """Every call, the worst first."""
        return tuple(view_calls(self.check, self.check.worst_first, MOST_DETAILED))

    @property
    def telling(self) -> tuple[CallView, ...]:
        """The calls that some runtime does not do as it should."""
        return tuple(each for each in self.calls if any(one.causes for one in each.runtimes))

    @property
    def others(self) -> tuple[CallView, ...]:
        """The others, in the order of the model."""
        left = [each for each in self.calls if not any(one.causes for one in each.runtimes)]
        return tuple(sorted(left, key=lambda each: each.checked.number))

    @property
    def open_calls(self) -> int:
        """How many calls stand open when the page is opened."""
        return OPEN_CALLS if len(self.telling) > OPEN_CALLS + 2 else len(self.telling)

    @cached_property
    def uncovered(self) -> tuple[tuple[str, str, str], ...]:
        """How many, why, and which operators, one line for each reason."""
        return tuple(
            (
                calls_and_nodes(calls),
                why,
                ", ".join(dict.fromkeys(operator_text(each.call.first) for each in calls)),
            )
            for why, calls in self.check.uncovered.items()
        )

    @property
    def coverage(self) -> str:
        """What was checked and what was not."""
        return coverage_line(coverage_of(self.check))

    @cached_property
    def forbidden(self) -> list[str]:
        """The nodes that their documents do not allow, and why."""
        return forbidden_lines(self.check)

    @cached_property
    def numbers(self) -> tuple[NumbersView, ...]:
        """What came of the whole model with actual inputs, where that was asked."""
        return tuple(view_numbers(self.check, each) for each in self.check.runtimes if each.numbers)

    @cached_property
    def chains(self) -> tuple[ChainView, ...]:
        """The chains that were asked, those that tell something first."""
        every = view_chains(self.check, MOST_DETAILED)
        return tuple(sorted(every, key=lambda each: not each.telling))

    @cached_property
    def chain_lines(self) -> tuple[str, ...]:
        """What each runtime makes of the chains together, and what was not asked."""
        asked = [each for each in self.check.runtimes if each.chains]
        told = (one_line(f"{each.label}: {chains_line(each)}", 2 * _LONGEST) for each in asked)
        return (*told, *unasked_lines(self.check))

    @cached_property
    def blocks(self) -> tuple[NodeBlock, ...]:
        return tuple(node_blocks(self.check, BLOCK, FEW_NODES))


def _settings(runtime: RuntimeAnswers) -> str:
    return " (with and without its optimisation)" if runtime.plain is not None else ""


def render_check_page(check: ModelCheck) -> str:
    """The whole page; needs no network and no other file."""
    return render_page(
        "check.html.j2", scripts="check_script", page=CheckPage(check), version=version("opcert")
    )


def write(check: ModelCheck, folder: Path) -> Path:
    """Write the page; raises UserError where the folder cannot be written."""
    return write_text(folder / "index.html", render_check_page(check))
