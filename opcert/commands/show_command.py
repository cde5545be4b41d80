"""Show the facts known of an operator, each with its origin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opcert.commands import shared_options
from opcert.commands.operator_completion import complete_specs
from opcert.commands.terminal import say
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import LONGEST, one_line
from opcert.vocabulary.names import CaseId, OperatorName

if TYPE_CHECKING:
    from reference.readings.followed import Follower
    from specs.model.facts import Fact
    from specs.model.spec import Reading, Spec


@click.command("show")
@click.argument("operator", shell_complete=complete_specs)
@click.option(
    "--why", "path", metavar="PATH", help="One fact, or all below a path, with every place and reason."
)
@click.option(
    "--derived", is_flag=True, help="What the documents alone say of its calls, in the form of a spec.yaml."
)
@shared_options.specs
def command(operator: str, path: str | None, derived: bool, folders: tuple[Path, ...]) -> None:
    """Print the effective spec of OPERATOR: what was imported, confirmed, overridden and added.

    OPERATOR is a name such as ai.onnx::Resize-18 or Resize-18, or Resize, which means the newest version.
    """
    from reference.readings.followed import followers, load_followed
    from specs.files.library import load_spec
    from specs.files.spec_folders import find_operator_name
    from specs.model.facts import list_facts

    name: OperatorName = find_operator_name(operator, folders)
    if derived:
        if path is not None:
            raise click.UsageError("--derived prints a whole declaration: leave --why out.")
        _print_derived(name, folders)
        return
    spec = load_spec(name, folders)
    facts = list_facts(spec)
    if path is not None:
        chosen = [fact for fact in facts if fact.path == path or fact.path.startswith(f"{path}.")]
        if not chosen:
            raise _no_fact(path, [fact.path for fact in facts])
        _explain(spec, chosen)
        return
    _print_head(spec, folders)
    width = min(max((len(fact.path) for fact in facts), default=0), 48)
    for fact in facts:
        if not fact.path.startswith(("readings.", "behaviours.")):
            say(f"{fact.path.ljust(width)}  {one_line(str(fact.value), LONGEST)}  ({_origin(spec, fact)})")
    if spec.readings:
        measured = load_followed(spec.operator)
        for reading in spec.readings:
            _print_reading(spec, reading, followers(measured, spec.operator, reading.id))
    _print_findings(spec)
    _print_demands(spec, folders)


def _print_derived(name: OperatorName, folders: tuple[Path, ...]) -> None:
    from specs.derived.deriving import derive
    from specs.derived.writing import written
    from specs.files.library import load_imported

    for line in written(derive(load_imported(name, folders))).splitlines():
        say(line)


def _print_head(spec: Spec, folders: tuple[Path, ...]) -> None:
    from opcert.commands.known_operators import load_known

    say(str(spec.operator))
    for document in spec.documents:
        release = f", {document.release}" if document.release else ""
        asserted = ", operator asserted by the user" if document.identity == "asserted" else ""
        say(f"  {document.key}: {document.file} ({document.dialect}{release}{asserted})")
    if spec.deprecated:
        say("  deprecated")
    say(f"  {', '.join(load_known(folders).words(spec.operator))}")


def _print_reading(spec: Spec, reading: Reading, followed: Mapping[str, tuple[Follower, ...]]) -> None:
    """The question, then each option with the evidence for it (kind, places, note) and who follows it."""
    from specs.model.facts import place

    settled = f"settled: {reading.chosen}" if reading.chosen is not None else "open: every option is accepted"
    say(f"{reading.kind} {reading.id} ({settled})")
    where = ", ".join(place(spec, source) for source in reading.origin.sources)
    say(f"  question: {reading.question}{f' ({where})' if where else ''}")
    if reading.origin.why:
        say(f"  because {reading.origin.why}")
    for option, meaning in reading.options.items():
        say(f"  {option}: {meaning}")
        for shown in reading.evidence:
            if shown.option == option:
                places = ", ".join(place(spec, source) for source in shown.sources) or "no place"
                say(f"    {shown.kind} at {places}{f': {shown.note}' if shown.note else ''}")
        for follower in followed.get(option, ()):
            say(f"    followed by {follower}")


def _origin(spec: Spec, fact: Fact) -> str:
    from specs.model.facts import place

    origin = fact.origin
    where = ", ".join(place(spec, source) for source in origin.sources[:2])
    more = f" and {len(origin.sources) - 2} more" if len(origin.sources) > 2 else ""
    return f"{origin.how}: {where}{more}" if where else f"{origin.how}: {origin.why or 'no reason given'}"


def _no_fact(path: str, known: list[str]) -> UserError:
    from difflib import get_close_matches

    near = get_close_matches(path, known, n=3, cutoff=0.6)
    return UserError(
        "no fact at this path",
        got=repr(path),
        expected="a path that `opcert show` lists for this operator",
        remedy=f"Did you mean {' or '.join(near)}?" if near else None,
    )


def _explain(spec: Spec, facts: list[Fact]) -> None:
    from specs.model.facts import place

    for fact in facts:
        origin = fact.origin
        say(f"{fact.path}: {one_line(str(fact.value), LONGEST)}")
        say(f"  {origin.how}")
        for source in origin.sources:
            say(f"  at {place(spec, source)}")
        if origin.rule is not None:
            say(f"  found by the rule {origin.rule}, confidence {origin.confidence}")
        if origin.how == "overridden":
            say(f"  instead of {origin.old!r}")
        if origin.why:
            say(f"  because {origin.why}")
        for reading in spec.readings:
            if fact.path in (f"readings.{reading.id}", f"behaviours.{reading.id}"):
                for evidence in reading.evidence:
                    places = ", ".join(place(spec, source) for source in evidence.sources)
                    note = f": {evidence.note}" if evidence.note else ""
                    say(f"  {evidence.kind} for {evidence.option}{note} ({places or 'no place'})")


def _print_demands(spec: Spec, folders: tuple[Path, ...]) -> None:
    from opcert.commands.known_operators import load_known

    if spec.operator not in load_known(folders).reference:
        return
    lines = demand_lines(spec, folders)
    if lines:
        say("demanded in place of values")
    for line in lines:
        say(f"  {line}")


def _print_findings(spec: Spec) -> None:
    from specs.model.facts import place

    for finding in spec.findings:
        where = place(spec, finding.source)
        said = one_line(f"{finding.message}; {finding.evidence}", LONGEST)
        say(f"{finding.severity} {finding.code} at {where}: {said} ({finding.action})")


if TYPE_CHECKING:
    from conformance.suite.properties import Property
    from specs.model.spec import Spec


def demand_lines(spec: Spec, folders: tuple[Path, ...] = ()) -> list[str]:
    """A line for each kind of demand, with how many cases have it and one of them; none where values decide.

    Of an operator whose reference draws the cases are made, where they are not kept.
    """
    if not _draws(spec):
        return []
    from opcert.commands.suite_argument import made_of

    found: dict[str, list[tuple[CaseId, str]]] = {}
    with made_of([spec.operator], folders) as suite:
        for name in suite.case_ids:
            case = suite.case(name)
            for each in case.properties:
                said, example = _words(each)
                found.setdefault(said, []).append((case.id, example))
    return [_line(said, cases) for said, cases in found.items()]


def _draws(spec: Spec) -> bool:
    """Whether the module of an operator's reference uses what says how outputs are drawn; none is loaded."""
    from importlib.util import find_spec

    from generator.asking.named_operators import reference_module_of

    path = spec.reference_module
    if path is None:
        name = reference_module_of(spec.operator)
        found = find_spec(name) if name is not None else None
        path = Path(found.origin) if found is not None and found.origin is not None else None
    return path is not None and "from reference.answers.draws import" in path.read_text(encoding="utf-8")


def _words(found: Property) -> tuple[str, str]:
    """What is demanded of any call, and what of this one where calls differ in it."""
    from conformance.suite.distributions import Distributed
    from conformance.suite.properties import HasShape, HasType, InRange, Masked

    match found:
        case HasType():
            return f"{found.output} is of the type that the call says", found.element_type.name
        case HasShape():
            return f"{found.output} has the shape that the call says", str(list(found.shape))
        case InRange():
            whole = "whole numbers " if found.whole else ""
            return f"the elements of {found.output} are {whole}in a range", f"{found.low:g} to {found.high:g}"
        case Distributed():
            runs = f"{1 / found.false_alarm:.0e}".replace("e+", "e")
            said = (
                f"the elements of {found.output} are independent draws of a {found.family} distribution, "
                f"which a right answer is denied in one of {runs} runs at most"
            )
            return said, str(found)
        case Masked():
            only = ", and nowhere else" if found.exactly else ""
            return f"{found.output} is 0 where {found.mask} is false{only}", ""
    return "a second run, of the model loaded anew, answers the same: the call names a seed", ""


def _line(said: str, cases: Sequence[tuple[CaseId, str]]) -> str:
    from opcert.vocabulary.harmless import one_line
    from reports.text.phrasing import plural

    case, example = cases[0]
    told = f": {one_line(example, 80)}" if example else ""
    return f"{said} ({plural(len(cases), 'case')}, such as {case}{told})"
