"""The files that a check writes, by the names of their formats; here the page, JUnit and Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from conformance.checked_models.model_calls import ModelNode
from conformance.checked_models.whole_model import OutputVerdict, WholeModelFacts
from conformance.judging.verdicts import NOT_RUN, REJECTED_VALID
from opcert.vocabulary.harmless import for_markdown, for_markdown_code, one_line
from opcert.vocabulary.whole_files import write_bytes, write_text
from reports.causes.failure_class import marked_features
from reports.checked_models import check_words as words
from reports.checked_models.call_answers import ANSWERS, BLAMING, Answer, CallAnswer, CallCause
from reports.checked_models.call_evidence import CheckedCall, factor_name
from reports.checked_models.chain_answers import ChainAnswer, CheckedChain
from reports.checked_models.check_data import render_check, render_sarif
from reports.checked_models.check_summary import (
    answers_told,
    chains_line,
    evidence_line,
    forbidden_lines,
    model_line,
    total_line,
    unasked_lines,
)
from reports.checked_models.model_check import ModelCheck, RuntimeAnswers, coverage_line, coverage_of
from reports.overview.headline import HeadlineFact
from reports.single_cases.answer_views import AnswerView, view_answer
from reports.single_cases.case_views import CaseView, view_case
from reports.single_cases.passages_shown import with_titles
from reports.text.pages_alone import render_page
from reports.text.phrasing import count, listed, plural
from reports.text.tests_and_tables import (
    LIMIT,
    JUnitSuite,
    JUnitTest,
    bullets,
    headed_list,
    render_suites,
    table,
    within,
)

MOST_DETAILED = 250
"""So many causes have their smallest case on the page; of the others the command makes it."""
MOST_NAMED = 10
"""So many nodes of a call are named with it; the table of nodes has them all."""
MOST_WRONG = 500
"""So many wrong nodes stand on the page."""
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
        asked = [run for run in self.check.runtimes if not run.unavailable]
        total = len(self.check.model.nodes)
        conformant = asked and all(run.holds and run.nodes["conformant"] == total for run in asked)
        return f"{self.name}: every node is conformant" if conformant else self.name

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """What each runtime makes of the nodes, and what that rests on."""
        nodes = len(self.check.model.nodes)
        return (
            *(f"{total_line(self.check, run)}." for run in self.check.runtimes if not run.unavailable),
            f"{plural(nodes, 'node')} {'makes' if nodes == 1 else 'make'} "
            f"{plural(len(self.check.calls), 'distinct call')}: {evidence_line(self.check)}.",
        )

    @cached_property
    def facts(self) -> tuple[HeadlineFact, ...]:
        model = self.check.model
        opsets = listed([f"{name or 'ai.onnx'} {number}" for name, number in sorted(model.opsets.items())])
        found = [
            HeadlineFact("model", one_line(model.path, _LONGEST)),
            HeadlineFact("sha256", "", model.sha256[:16]),
            HeadlineFact("operator sets", one_line(opsets, _LONGEST)),
        ]
        suite = next(
            (runtime.results.suite for runtime in self.check.runtimes if runtime.results is not None), None
        )
        if suite is not None:
            cases = f"{plural(len(suite.case_ids), 'case')}, digest"
            found.append(HeadlineFact("cases", cases, suite.digest[:16]))
        for run in self.check.runtimes:
            settings = "" if run.plain is None else " (with and without its optimisation)"
            found.append(HeadlineFact("runtime", one_line(f"{run.label}{settings}", _LONGEST)))
        return tuple(found)

    @cached_property
    def loads(self) -> tuple[tuple[str, str, str], ...]:
        """For each runtime that was asked the sign of whether the model loads, and the words."""
        signs = {"loads": "pass", "refused": REJECTED_VALID, "lost": "crash", "unknown": NOT_RUN}
        return tuple(
            (runtime.label, signs[runtime.load.verdict], words.load_text(runtime.load))
            for runtime in self.check.runtimes
            if runtime.load is not None
        )

    @cached_property
    def telling(self) -> Sequence[CheckedCall]:
        """The calls that some runtime does not do as it should, the worst first."""
        return [call for call in self.check.worst_first if self._tells(call)]

    @cached_property
    def others(self) -> Sequence[CheckedCall]:
        """The others, in the order of the model."""
        return [call for call in self.check.calls if not self._tells(call)]

    def _tells(self, call: CheckedCall) -> bool:
        return any(answer.causes for answer in self.check.answers(call))

    @property
    def open_calls(self) -> int:
        """How many calls stand open when the page is opened."""
        return OPEN_CALLS if len(self.telling) > OPEN_CALLS + 2 else len(self.telling)

    @cached_property
    def _detailed(self) -> frozenset[int]:
        """The causes, by their `id`, whose smallest case is shown: the first of calls, and of chains."""
        of_calls = (answer for call in self.check.worst_first for answer in self.check.answers(call))
        of_chains = (answer for chain in self._asked_chains for _, answer in self.answers_of_chain(chain))
        calls = (cause for answer in of_calls for cause in answer.causes)
        chains = (cause for answer in of_chains for cause in answer.own_causes)
        return frozenset(map(id, (*islice(calls, MOST_DETAILED), *islice(chains, MOST_DETAILED))))

    def smallest(self, cause: CallCause) -> tuple[CaseView, AnswerView] | None:
        """The smallest case of a cause and what it got; None where the page has no more room."""
        if id(cause) not in self._detailed:
            return None
        results, smallest = cause.results, cause.smallest
        case = results.suite.case(str(smallest.id))
        marked = marked_features(cause.found) if cause.found is not None else frozenset()
        return view_case(results, case, marked), view_answer(results, smallest, case)

    def remarks(self, cause: CallCause) -> Sequence[str]:
        """What is remarked on a cause, with the titles of passages."""
        return [with_titles(remark, cause.smallest.operator) for remark in cause.remarks]

    @cached_property
    def uncovered(self) -> tuple[tuple[str, str, str], ...]:
        """How many, why, and which operators, one line for each reason."""
        return tuple(
            (
                words.calls_and_nodes(group.calls),
                one_line(group.told, 2 * _LONGEST),
                ", ".join(group.operators),
            )
            for group in self.check.uncovered
        )

    @cached_property
    def chains(self) -> Sequence[CheckedChain]:
        """The chains that were asked, those that tell something first."""
        return sorted(self._asked_chains, key=lambda chain: not self.chain_tells(chain))

    @property
    def _asked_chains(self) -> Sequence[CheckedChain]:
        return [chain for chain in self.check.chains if chain.case]

    def chain_tells(self, chain: CheckedChain) -> bool:
        """Whether some runtime fails a chain of itself."""
        return any(answer.own_causes for _, answer in self.answers_of_chain(chain))

    def answers_of_chain(self, chain: CheckedChain) -> Sequence[tuple[RuntimeAnswers, ChainAnswer]]:
        """What each runtime that was asked makes of a chain."""
        every = ((runtime, answer) for runtime in self.check.runtimes for answer in runtime.chains)
        return [(runtime, answer) for runtime, answer in every if answer.chain.number == chain.number]

    @cached_property
    def chain_lines(self) -> tuple[str, ...]:
        """What each runtime makes of the chains together, and what was not asked."""
        asked = (run for run in self.check.runtimes if run.chains)
        told = (one_line(f"{run.label}: {chains_line(run)}", 2 * _LONGEST) for run in asked)
        return (*told, *unasked_lines(self.check))

    @property
    def blocks(self) -> Iterator[tuple[str, bool, Sequence[tuple[int, ModelNode]]]]:
        """Every node with its number, in blocks with a heading; a few nodes are one block, which is open."""
        nodes = self.check.model.nodes
        step = max(len(nodes), 1) if len(nodes) <= FEW_NODES else BLOCK
        for begun in range(0, len(nodes), step):
            rows = list(enumerate(nodes[begun : begun + step], begun + 1))
            odd = sum(self.rank(node) < ANSWERS.index("conformant") for _, node in rows)
            said = f"{count(odd)} not conformant" if odd else "all conformant"
            heading = f"Nodes {count(begun + 1)} to {count(begun + len(rows))}: {said}"
            yield heading, step == len(nodes), rows

    def rank(self, node: ModelNode) -> int:
        """The place of the worst that a runtime makes of a node: the worst first."""
        call = self.check.call_of.get(node.place)
        return ANSWERS.index("uncovered" if call is None else self.check.worst(call))

    def answers_of_node(self, node: ModelNode) -> Sequence[tuple[RuntimeAnswers, Answer, str]]:
        """What each runtime makes of a node, and of its values in the model with actual inputs."""
        call = self.check.call_of.get(node.place)
        return [
            (run, "uncovered" if call is None else run.answers[call.number - 1].answer, _here(run, node))
            for run in self.check.runtimes
        ]

    @cached_property
    def nodes_by_place(self) -> Mapping[str, ModelNode]:
        return {node.place: node for node in self.check.model.nodes}


def signed_outputs(numbers: WholeModelFacts) -> Sequence[tuple[str, str]]:
    """What came at the end of the whole model, with the verdict whose sign it has."""
    signs: dict[OutputVerdict, str] = {"right": "pass", "same": "pass", "near": "pass", "unknown": "not_run"}
    failing = numbers.failing
    told = [("rejected_valid", words.not_running_text(numbers))] if numbers.does_not_run else []
    told += [("mismatch", words.output_text(output)) for output in failing]
    others = (output for output in numbers.outputs if output not in failing)
    return [*told, *((signs.get(one.verdict, "observed"), words.output_text(one)) for one in others)]


def _here(runtime: RuntimeAnswers, node: ModelNode) -> str:
    found = runtime.numbers_of.get(node.place)
    if found is None or found.verdict == "passed_over":
        return ""
    return f"here {words.right_text(found)}" if found.verdict == "right" else "wrong here, see above"


def render_check_page(check: ModelCheck) -> str:
    """The whole page; needs no network and no other file."""
    return render_page(
        "check.html.j2",
        scripts="check_script",
        page=CheckPage(check),
        check=check,
        coverage=coverage_line(coverage_of(check)),
        forbidden=forbidden_lines(check),
        answers=answers_told(check),
        factor_name=factor_name,
        most_named=MOST_NAMED,
        most_wrong=MOST_WRONG,
        words=words,
        signed_outputs=signed_outputs,
        version=version("opcert"),
    )


def render_junit_check(check: ModelCheck) -> bytes:
    """`junit.xml`, one suite a runtime: calls that are not covered are skipped.

    One test a call; one for whether the model loads, one for all chains, one for the whole model.
    """
    suites = (JUnitSuite(runtime.label, tuple(_tests(runtime))) for runtime in check.runtimes)
    return render_suites(f"opcert check {Path(check.model.path).name}", suites)


def _tests(runtime: RuntimeAnswers) -> Iterator[JUnitTest]:
    load, numbers = runtime.load, runtime.numbers
    if load is not None:
        said, fails = words.load_text(load), load.fails
        if load.verdict == "unknown":
            yield JUnitTest("model", "the model loads", 0.0, "skipped", said, load.verdict)
        else:
            yield _of_model("the model loads", said, load.verdict if fails else "")
    yield from _calls(runtime)
    if any(chain.answer != "uncovered" for chain in runtime.chains):
        blaming = runtime.blaming_chains
        told = [line for one in blaming for line in (words.path_of_chain(one.chain), _details(one.own))]
        said = chains_line(runtime)
        yield _of_model("chains of neighbours", said, blaming[0].answer if blaming else "", told)
    if numbers is not None:
        failing = "" if numbers.holds else "wrong"
        yield _of_model("the whole model", words.numbers_line(numbers), failing, _numbers(numbers))


def _of_model(name: str, message: str, failing: str, told: Iterable[str] = ()) -> JUnitTest:
    """A test of the model itself, which fails by the word `failing`, and passes without one."""
    if not failing:
        return JUnitTest("model", name, 0.0, "system-out", message)
    return JUnitTest("model", name, 0.0, "failure", message, failing, "\n".join(told))


def _calls(runtime: RuntimeAnswers) -> Iterator[JUnitTest]:
    cases = () if runtime.results is None else runtime.results.cases
    seconds = {str(case.id): math.fsum(row.seconds for row in case.rows) for case in cases}
    names: Counter[str] = Counter()
    for answer in runtime.answers:
        call = answer.checked.call
        operator = words.operator_text(call.first)
        name = f"{operator} {words.signature_text(call)}"
        names[name] += 1
        name = name if names[name] == 1 else f"{name} ({names[name]})"
        took = math.fsum(seconds.get(case, 0.0) for case in answer.checked.cases)
        message = f"{words.answer_text(answer)}: {words.evidence_text(answer)}"
        if runtime.unavailable:
            yield JUnitTest(operator, name, took, "error", runtime.unavailable, "unavailable")
        elif answer.answer in BLAMING:
            yield JUnitTest(operator, name, took, "failure", message, answer.answer, _details(answer))
        elif answer.answer == "uncovered":
            yield JUnitTest(operator, name, took, "skipped", message, answer.answer)
        else:
            yield JUnitTest(operator, name, took, "system-out", message)


def _numbers(numbers: WholeModelFacts) -> Iterator[str]:
    if numbers.does_not_run:
        yield words.not_running_text(numbers)
    yield from map(words.output_text, numbers.failing)
    yield from (f"node {wrong.place}: {words.wrong_text(wrong)}" for wrong in numbers.wrong)


def _details(answer: CallAnswer) -> str:
    lines = [words.node_names(answer.checked.call.nodes, 200)]
    for cause in answer.causes:
        lines += [cause.says, *cause.remarks, cause.results.reproduction_command(cause.smallest.id)]
    return "\n".join(lines)


def render_markdown_check(check: ModelCheck, limit: int = LIMIT) -> str:
    """`check.md`, for the page of a CI step: totals come first; what does not fit is left out at the end."""
    return within(_blocks(check), limit, "parts are")


def _blocks(check: ModelCheck) -> Iterator[str]:
    yield f"# {for_markdown(model_line(check.model))}"
    yield f"{for_markdown(evidence_line(check))}. Model {for_markdown_code(check.model.sha256)}"
    loads = [f"{run.label}: {words.load_text(run.load)}" for run in check.runtimes if run.load is not None]
    if loads:
        yield bullets(loads, 9000)
    yield bullets(total_line(check, run) for run in check.runtimes)
    told = answers_told(check)
    head = ["nodes", *(words.WORDS[answer] for answer in told)]
    rows = [
        [for_markdown(run.label), *(count(run.nodes[answer]) for answer in told)]
        for run in check.runtimes
        if not run.unavailable
    ]
    yield "\n".join(table([head, *rows]))
    for run in check.runtimes:
        if run.numbers is not None and run.numbers.outputs:
            yield f"## {for_markdown(run.label)}: the whole model"
            yield bullets(words.output_lines(run.numbers), 600)
    yield for_markdown(coverage_line(coverage_of(check)), 4000)
    yield from headed_list("About the model", forbidden_lines(check))
    uncovered = [
        f"{words.calls_and_nodes(group.calls)} ({', '.join(group.operators)}): {group.told}"
        for group in check.uncovered
    ]
    yield from headed_list("Not covered", uncovered)
    for run in check.runtimes:
        if run.worst:
            yield f"## {for_markdown(run.label)}: calls to look at"
        yield from map(_call, run.worst)
        if run.chains:
            yield f"## {for_markdown(run.label)}: {for_markdown(chains_line(run))}"
        yield from map(_chain, run.blaming_chains)


def _chain(answer: ChainAnswer) -> str:
    head = f"{words.path_of_chain(answer.chain)}: {words.answer_of_chain(answer)}"
    return _paragraph(head, words.nodes_of_chain(answer.chain), answer.own)


def _call(answer: CallAnswer) -> str:
    call = answer.checked.call
    signature = f"{words.operator_text(call.first)} {words.signature_text(call)}"
    nodes = f"{plural(len(call.nodes), 'node')}: {words.node_names(call.nodes)}"
    return _paragraph(f"{signature}: {words.WORDS[answer.answer]}", nodes, answer)


def _paragraph(head: str, nodes: str, answer: CallAnswer) -> str:
    lines = [f"**{for_markdown(head)}**", for_markdown(nodes)]
    for cause in answer.causes:
        lines.append(for_markdown(f"{cause.says} ({words.fails_text(cause, answer.asked)})", 600))
        lines += map(for_markdown, cause.remarks)
        expected, got = map(for_markdown_code, words.smallest_texts(cause))
        lines.append(f"expected {expected}, got {got}")
        lines.append(for_markdown_code(cause.results.reproduction_command(cause.smallest.id)))
    return "  \n".join(lines)


WRITERS: Mapping[str, tuple[str, Callable[[ModelCheck], str | bytes]]] = {
    "html": ("index.html", render_check_page),
    "json": ("check.json", render_check),
    "sarif": ("check.sarif", render_sarif),
    "markdown": ("check.md", render_markdown_check),
    "junit": ("junit.xml", render_junit_check),
}


def write_check(check: ModelCheck, formats: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Write a check in some formats; returns the file of each. UserError where it cannot be written."""
    found = {}
    for kind in dict.fromkeys(formats):
        name, render = WRITERS[kind]
        said = render(check)
        path = folder / name
        found[kind] = write_bytes(path, said) if isinstance(said, bytes) else write_text(path, said)
    return found
