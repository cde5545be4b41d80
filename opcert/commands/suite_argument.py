"""What `-s` names, a suite in a folder, in a zip file, or known by a name; what `opcert certify` takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.commands.terminal import note
from opcert.commands.verbosity import is_verbose
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import DEFAULT_SUITE, OperatorName

if TYPE_CHECKING:
    from conformance.clusters.cluster import Cluster
    from conformance.recording.records import Record
    from conformance.runtimes.runtimes import Runtime
    from conformance.suite.suites import Suite
    from generator.making.suites.suite_making import Progress
    from opcert.commands.first_look import FirstLook
    from opcert.vocabulary.arithmetics import Arithmetic
    from reports.gates.profiles import Profile

ONNX_NODE = "onnx-node"
HELP = (
    "The suite: a folder (of a suite, or of calls), a zip file, `default`, `onnx-node` (ONNX's own node "
    "tests), `neighbours` (nodes that optimisers fuse), `opset-22` (ONNX's operators in the versions of that "
    "opset), `contrib`, `openvino`, `tensorflow` (operators of com.microsoft, of OpenVINO, of tf.raw_ops) or "
    "`first-operators` (those that opcert began with); a named suite is generated once and kept."
)


def suite_name_for_commands(text: str, suite: Suite, folders: tuple[Path, ...]) -> str:
    """What names a suite in the commands that reproduce: the suite itself, where an option says more."""
    made = text == DEFAULT_SUITE or _is_folder_of_calls(Path(text))
    return str(suite.path) if (folders and made) or not suite.arithmetic.is_own else text


def resolve_suite(
    text: str,
    digest: str = "",
    folders: tuple[Path, ...] = (),
    cluster: Cluster | None = None,
    look: FirstLook | None = None,
    pattern: str | None = None,
) -> Suite:
    """Open the suite that `-s` names; raises UserError where there is none.

    `digest` is of the suite that a record is of: where that one is kept, or has a name, it is the one meant.
    With folders of specs, the default suite is that of their operators. What is to be made of named suites a
    `cluster` makes, if there is one; at what is made here `look` looks. Where a `pattern` names operators of
    a named suite, it is the suite of these alone; of a record it is the one that was run with.
    """
    # Imported here, so that --help does not wait for it.
    from conformance.suite.kept_suites import kept_suite
    from conformance.suite.suites import open_suite

    if text == ONNX_NODE:
        from conformance.adopting.node_tests import node_suite

        return open_suite(node_suite(note, digest))
    # Imported here and below, because a ready-made suite has no use for the generator.
    from generator.making.operators.named_suites import operators_named
    from generator.models.neighbours.neighbour_suite import neighbour_suite, opset_of_neighbours

    given = Path(text)
    opset = None if given.exists() else opset_of_neighbours(text)
    if opset is not None:
        told = neighbour_suite(opset, note)
        return open_suite(kept_suite(digest) or told)
    if text != DEFAULT_SUITE and (given.exists() or operators_named(text) is None):
        return open_suite(_suite_of_calls(given, folders) if _is_folder_of_calls(given) else given)
    if kept := kept_suite(digest):
        return open_suite(kept)
    locked = _locked_name(digest)
    name = locked or text
    meant = [] if folders or locked else _operators_meant(pattern, operators_named(name) or [])
    if meant:
        return made_of(meant, cluster=cluster, look=look)
    if digest and name == DEFAULT_SUITE and not folders and locked is None:
        # Whether it is the default suite of changed specs would be known only once that was made, in minutes.
        raise UserError(
            "the record is of a suite that is not kept here, and of no named one of this version of opcert",
            got=f"the digest {digest[:12]}",
            remedy="Name the suite with -s.",
        )
    if not folders and not digest:
        _tell_near(pattern, operators_named(name) or [])
    with _making(look if cluster is None else None) as progress:
        made = _named(name, progress, folders, cluster)
    return open_suite(made)


def _operators_meant(pattern: str | None, have: Sequence[OperatorName]) -> list[OperatorName]:
    """The operators of a suite that `-k` names; none where it means a part of case ids."""
    from conformance.suite.case_selection import find_case_begin

    text = "" if pattern is None or "*" in pattern else pattern
    return [each for each in have if text and find_case_begin(text, each.domain, each.short) is not None]


def _tell_near(pattern: str | None, have: Sequence[OperatorName]) -> None:
    """Say of a name that is nearly an operator's that it is none, before the whole suite is made for it."""
    from conformance.suite.case_selection import operator_names
    from opcert.vocabulary.near_names import near_names

    if pattern is None or "*" in pattern:
        return
    head = pattern.partition("/")[0]
    names = {name: None for each in have for name in operator_names(each.domain, each.short)}
    alike = [name for name in names if name.lower() == head.lower()]
    near = alike or (near_names(head, names) if head[:1].isupper() else [])
    if near:
        told = f"no operator of the suite is called {head} (perhaps {' or '.join(near)})"
        note(one_line(f"{told}: -k searches the case ids of the whole suite", 300))


def suite_of_record(record: Record, text: str, folders: tuple[Path, ...] = ()) -> Suite:
    """Open the suite that a record is of, as `resolve_suite` does; that of `opcert run -k` is made again."""
    options = record.header.get("options")
    pattern = options.get("pattern") if isinstance(options, dict) else None
    told = pattern if isinstance(pattern, str) else None
    return resolve_suite(text, str(record.header.get("suite")), folders, pattern=told)


@contextmanager
def _making(look: FirstLook | None) -> Iterator[Progress]:
    """What to tell of the making of a suite, with a first look at a runtime, if there is one."""
    from opcert.commands.command_progress import generation_progress

    with generation_progress(every=is_verbose()) as progress:
        try:
            if look is None:
                yield progress
                return
            with look.beside(progress) as told:
                yield told
        except KeyboardInterrupt:
            note("cases that are made are kept: the same command goes on from there")
            raise


def _is_folder_of_calls(path: Path) -> bool:
    """Whether a folder holds calls: JSON files, and no suite's manifest."""
    return path.is_dir() and not (path / "manifest.json").exists() and any(path.glob("*.json"))


def _suite_of_calls(path: Path, specs: tuple[Path, ...] = ()) -> Path:
    """Make the suite of a folder of calls in the user's cache, and return its folder.

    Raises UserError for a call that cannot be read, or of which no document says what must come out.
    """
    from conformance.suite.kept_suites import keep_suite
    from generator.making.suites.found_calls import write_suite_of_calls

    return keep_suite(lambda made: write_suite_of_calls(path, made, specs))


def _named(name: str, progress: Progress, folders: tuple[Path, ...], cluster: Cluster | None) -> Path:
    from generator.making.suites.cache import default_suite, named_suite

    if name == DEFAULT_SUITE:
        return default_suite(progress, folders, cluster)
    return named_suite(name, progress, cluster)


def made_of(
    operators: Sequence[OperatorName],
    folders: tuple[Path, ...] = (),
    cluster: Cluster | None = None,
    look: FirstLook | None = None,
) -> Suite:
    """The suite of the cases of some operator versions, made into the cache where it is not kept yet."""
    from conformance.suite.suites import open_suite
    from generator.making.operators.workshop import Options
    from generator.making.suites.cache import cached_suite

    with _making(look if cluster is None else None) as progress:
        return open_suite(cached_suite(operators, Options(), progress, folders, cluster))


def for_arithmetic(
    suite: Suite,
    arithmetic: Arithmetic | None,
    folders: tuple[Path, ...] = (),
    pattern: str | None = None,
) -> Suite:
    """The suite for an arithmetic that is made of another one; the same where nothing else is asked for.

    With a pattern it is made of the cases that this selects. Raises UserError where the suite is of another
    arithmetic already.
    """
    if arithmetic is None or arithmetic == suite.arithmetic:
        return suite
    from conformance.suite.suites import open_suite
    from generator.making.suites.derived_suite import derived_suite

    with suite:
        if pattern is None:
            return open_suite(derived_suite(suite, arithmetic, note, folders))
        with _part(suite, pattern) as part:
            return open_suite(derived_suite(part, arithmetic, note, folders))


def _locked_name(digest: str) -> str | None:
    """The name of the released suite with a digest."""
    from generator.making.suites.lock import read_lock

    return read_lock().name_of(digest) if digest else None


@dataclass(frozen=True)
class SuiteRequest:
    """What the command line says of the suite: its name, or operators, an opset, a part of the case ids.

    `profile` is the one that is demanded. A `cluster` is asked for what the runtime takes, with `python` as
    its interpreter there, and makes cases that are not kept. A `look` is taken at what is made here.
    """

    suite_name: str | None = None
    operators: tuple[str, ...] = ()
    opset: int | None = None
    pattern: str | None = None
    profile: Profile | None = None
    folders: tuple[Path, ...] = ()
    cluster: Cluster | None = None
    python: str | None = None
    look: FirstLook | None = None
    arithmetic: Arithmetic | None = None

    @property
    def named_part(self) -> str | None:
        """The pattern, where it may name the only operators to make: a profile is held against them all."""
        return self.pattern if self.profile is None else None


def open_certified(runtime: Runtime, asked: SuiteRequest, digest: str = "") -> tuple[Suite, str]:
    """The suite to run, and what names it in commands that reproduce.

    `digest` is of the suite that a record is of, which needs no runtime to be found. Raises UserError where
    what is asked contradicts itself or names nothing, NothingRan where -k selects nothing,
    RuntimeUnavailable where the runtime does not start.
    """
    chosen = bool(asked.operators) or asked.opset is not None
    if chosen and asked.suite_name is not None:
        raise UserError(
            "a suite has its operators and versions",
            expected="-s, or operators and --opset",
            remedy="With -s, -k chooses among its cases.",
        )
    if chosen and digest:
        raise UserError("a record has its operators and versions", expected="--run, or operators and --opset")
    if chosen and asked.folders:
        raise UserError(
            "folders of specs have their operators and versions",
            expected="--specs, or operators and --opset",
            remedy="With --specs, -k chooses among their cases.",
        )
    if digest or asked.suite_name is not None or asked.folders:
        name = asked.suite_name or DEFAULT_SUITE
        suite = resolve_suite(name, digest, asked.folders, asked.cluster, asked.look, asked.named_part)
        named = suite_name_for_commands(name, suite, asked.folders)
    else:
        # Of these, `opcert repro` finds each case by its operator version.
        suite, named = _suite_for(runtime, asked), DEFAULT_SUITE
    if asked.profile is not None:
        from reports.gates.profile_settling import check_names

        check_names(asked.profile, suite)
    if asked.pattern is not None and not digest:
        with suite:
            suite = _part(suite, asked.pattern)
    if digest or asked.arithmetic is None:
        return suite, named
    derived = for_arithmetic(suite, asked.arithmetic, asked.folders)
    return derived, suite_name_for_commands(named, derived, asked.folders)


def _suite_for(runtime: Runtime, asked: SuiteRequest) -> Suite:
    """The suite of the opset that is asked for, or else of the newest that the runtime takes.

    Of a runtime that takes the operators of one dialect alone that dialect's. Where operators are named,
    theirs alone; of a profile of a dialect as a whole the suite with its name, which has all of them; where
    a profile is of a model, or demands versions that the opset does not have, the suite that has them. Raises
    UserError where an opset that is asked for has not what is named.
    """
    from generator.making.operators.named_suites import FIRST, name_of_opset, operators_named
    from generator.making.operators.opsets import DIALECTS, newest_opset

    opset, offered = (asked.opset, frozenset()) if asked.opset is not None else _taken_by(runtime, asked)
    own = None if opset is not None or asked.profile is not None else _dialect_of(offered)
    name = own or (DEFAULT_SUITE if opset is None or opset == newest_opset() else name_of_opset(opset))
    have = operators_named(name) or []
    if asked.operators:
        return made_of(_choose(asked.operators, have, asked.opset), cluster=asked.cluster, look=asked.look)
    demanded = list(asked.profile.named_operators) if asked.profile else []
    lacking = [str(operator) for operator in demanded if operator not in have]
    if lacking and asked.opset is not None:
        raise UserError(
            "the profile demands operator versions that this opset does not have",
            got=f"opset {asked.opset} without {_few(lacking)}",
            expected="an opset that has them, or no --opset: then the suite is made of what is demanded",
        )
    whole = [
        operator
        for operator in have
        if asked.profile is not None and asked.profile.demands_operator(operator)
    ]
    of_model = asked.profile is not None and asked.profile.model is not None
    domains = {operator.domain for operator in whole}
    dialect = next((each for each, domain in DIALECTS.items() if domains == {domain}), None)
    if dialect is not None and not demanded:
        return resolve_suite(dialect, cluster=asked.cluster, look=asked.look)
    if not lacking and not of_model:
        if own is not None:
            note(f"the suite is {own}: the runtime takes no ONNX model, and {DIALECTS[own]}'s operators")
        elif name != DEFAULT_SUITE:
            note(f"the suite is {name}: each operator in the version of that opset")
        return resolve_suite(name, cluster=asked.cluster, look=asked.look, pattern=asked.named_part)
    wanted = sorted({*demanded, *whole})
    first = operators_named(FIRST) or []
    if not of_model and set(wanted) <= set(first):
        return resolve_suite(FIRST, cluster=asked.cluster, look=asked.look)
    return made_of(wanted, cluster=asked.cluster, look=asked.look)


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


def _taken_by(runtime: Runtime, asked: SuiteRequest) -> tuple[int | None, frozenset[str]]:
    """The newest opset of ONNX's operators that has cases and that the runtime takes, and its domains.

    The opset is None where it takes no ONNX model, or none of these opsets; a cluster tells no domains.
    """
    from conformance.doctor.patient import find_taken
    from generator.making.operators.opsets import OLDEST, newest_opset
    from opcert.commands.command_progress import choose_progress

    if asked.cluster is not None:
        from conformance.clusters.cluster_run import newest_opset_on

        opset = newest_opset_on(asked.cluster, runtime, asked.python, OLDEST, newest_opset())
        return opset, frozenset()
    taken = find_taken(runtime, OLDEST, newest_opset(), choose_progress().note)
    return taken.opset, taken.domains


def _dialect_of(domains: frozenset[str]) -> str | None:
    """The suite of the only dialect that a runtime of these domains takes; None without one."""
    from generator.making.operators.opsets import DIALECTS

    return next((name for name, domain in DIALECTS.items() if domains == {domain}), None)


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
