"""The suite that `opcert certify` takes: the named one, or what runtime, profile and operators ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.suite_argument import made_of, resolve_suite, suite_name_for_commands
from opcert.commands.terminal import note
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName
from reports.gates.profile_settling import check_names

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.suites import Suite
    from reports.gates.profiles import Profile


@dataclass(frozen=True)
class SuiteRequest:
    """What the command line says of the suite: its name, or operators, an opset, a part of the case ids.

    `profile` is the one that is demanded. A `cluster` is asked for what the runtime takes, with `python` as
    its interpreter there, and makes cases that are not kept.
    """

    suite_name: str | None = None
    operators: tuple[str, ...] = ()
    opset: int | None = None
    pattern: str | None = None
    profile: Profile | None = None
    folders: tuple[Path, ...] = ()
    cluster: Cluster | None = None
    python: str | None = None


def open_certified(runtime: Runtime, asked: SuiteRequest, digest: str = "") -> tuple[Suite, str]:
    """The suite to run, and what names it in commands that reproduce.

    `digest` is of the suite that a record is of, which needs no runtime to be found. Raises UserError where
    what is asked contradicts itself or names nothing, NothingRan where -k selects nothing,
    RuntimeUnavailable where the runtime does not start.
    """
    chosen = bool(asked.operators) or asked.opset is not None
    if chosen and asked.suite_name is not None:
        raise UserError("a suite has its operators and versions", expected="-s, or operators and --opset")
    if chosen and digest:
        raise UserError("a record has its operators and versions", expected="--run, or operators and --opset")
    if chosen and asked.folders:
        raise UserError(
            "folders of specs have their operators and versions", expected="--specs, or operators and --opset"
        )
    if digest or asked.suite_name is not None or asked.folders:
        name = asked.suite_name or DEFAULT_SUITE
        suite = resolve_suite(name, digest, asked.folders, asked.cluster)
        named = suite_name_for_commands(name, suite, asked.folders)
    else:
        # Of these, `opcert repro` finds each case by its operator version.
        suite, named = _suite_for(runtime, asked), DEFAULT_SUITE
    if asked.profile is not None:
        check_names(asked.profile, suite)
    if asked.pattern is None or digest:
        return suite, named
    with suite:
        return _part(suite, asked.pattern), named


def _suite_for(runtime: Runtime, asked: SuiteRequest) -> Suite:
    """The suite of the opset that is asked for, or else of the newest that the runtime takes.

    Where operators are named, theirs alone; where a profile is of a model, or demands versions that the opset
    does not have, the suite that has them. Raises UserError where an opset that is asked for has not what is
    named.
    """
    from generator.making.operators.named_suites import FIRST, name_of_opset, operators_named
    from generator.making.operators.opsets import newest_opset

    opset = asked.opset if asked.opset is not None else _opset_of(runtime, asked)
    name = DEFAULT_SUITE if opset is None or opset == newest_opset() else name_of_opset(opset)
    have = operators_named(name) or []
    if asked.operators:
        return made_of(_choose(asked.operators, have, asked.opset), cluster=asked.cluster)
    demanded = list(asked.profile.named_operators) if asked.profile else []
    lacking = [str(operator) for operator in demanded if operator not in have]
    if lacking and asked.opset is not None:
        raise UserError(
            "the profile demands operator versions that this opset does not have",
            got=f"opset {asked.opset} without {_few(lacking)}",
            expected="an opset that has them, or no --opset: then the suite is made of what is demanded",
        )
    of_model = asked.profile is not None and asked.profile.model is not None
    if not lacking and not of_model:
        if name != DEFAULT_SUITE:
            note(f"the suite is {name}: each operator in the version of that opset")
        return resolve_suite(name, cluster=asked.cluster)
    whole = [
        operator
        for operator in have
        if asked.profile is not None and asked.profile.demands_operator(operator)
    ]
    wanted = sorted({*demanded, *whole})
    first = operators_named(FIRST) or []
    if not of_model and set(wanted) <= set(first):
        return resolve_suite(FIRST, cluster=asked.cluster)
    return made_of(wanted, cluster=asked.cluster)


def _choose(
    names: Sequence[str], have: Sequence[OperatorName], opset: int | None = None
) -> list[OperatorName]:
    """Operators by name; without a version in that of the suite, or else in the newest.

    Raises UserError where an opset was asked for, and has none of that name.
    """
    from generator.making.operators.discovery import select_operators

    chosen: set[OperatorName] = set()
    for name in names:
        named = [
            operator
            for operator in have
            if name in (operator.name, operator.unversioned, str(operator), operator.path, operator.short)
        ]
        named = named or select_operators([name])
        if opset is not None and named[0] not in have and name in (named[0].name, named[0].unversioned):
            raise UserError(
                "this opset has no such operator, or there are no cases of the version that it has",
                got=f"{name} in opset {opset}",
                expected=f"another opset, or an operator version, such as {named[0].short}",
            )
        chosen.update(named)
    return sorted(chosen)


def _few(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _opset_of(runtime: Runtime, asked: SuiteRequest) -> int | None:
    """The newest opset of ONNX's operators that there are cases of and that the runtime takes.

    None where it takes no ONNX model, or none of these opsets.
    """
    from conformance.doctor.patient import find_newest_opset
    from generator.making.operators.opsets import OLDEST, newest_opset
    from opcert.commands.command_progress import choose_progress

    if asked.cluster is not None:
        from conformance.clusters.cluster_run import newest_opset_on

        return newest_opset_on(asked.cluster, runtime, asked.python, OLDEST, newest_opset())
    return find_newest_opset(runtime, OLDEST, newest_opset(), choose_progress().note)


def _part(suite: Suite, pattern: str) -> Suite:
    """The cases of a suite that `-k` selects, and the calls they were made of, as a suite of their own."""
    from conformance.suite.case_selection import nothing_selected
    from conformance.suite.kept_suites import keep_suite
    from conformance.suite.suites import open_suite, write_suite

    selected = {*suite.select(pattern)}
    if not selected:
        raise nothing_selected(pattern, suite.case_ids, str(suite.path))
    before = {valid for each in selected if (valid := suite.case(each).valid_case) is not None}
    cases = [suite.case(case_id) for case_id in suite.case_ids if case_id in selected | before]
    operators = {str(each.operator) for each in cases}
    told = {name: fact for name, fact in suite.facts["operators"].items() if name in operators}
    options = {**suite.manifest["options"], "operators": sorted(operators), "part": pattern}
    return open_suite(keep_suite(lambda made: write_suite(made, cases, {"operators": told}, options)))
