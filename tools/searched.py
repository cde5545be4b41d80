"""Searches for calls, made anew: `python -m tools.searched [--update] [--cores] [OPERATOR...]`.

For each operator of the default suite (or each that is named) it searches for the clearest draws of its
rows. With `--cores`, and for operators of which none are kept, it learns as well for all versions which
levels go together in no call, and says which levels no call has, and which written rules no call breaks
alone. With `--update` it writes what it found to `searched.yaml` in the operator's room; without, it
answers with 1 where what is kept differs. Prints the seconds of processor that making the cases takes with
what is kept and without.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from time import process_time

from generator.asking.named_operators import calls_are_declared
from generator.calls.declared.declared_levels import levels_without_call, rules_broken_together
from generator.calls.declared.modelled import Searched, searched_of, write_searched
from generator.calls.rows.cores import ForbiddenCombination
from generator.calls.rows.covering_rows import learn_cores
from generator.calls.space.space import CallSpace, open_space
from generator.making.operators.discovery import select_operators
from generator.making.operators.workshop import Options
from generator.making.suites.operator_cases import OperatorCases, generate_operator
from generator.measured.kept import expectations_of
from opcert.vocabulary.names import OperatorName
from specs.files.declarations import declaration_path
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, SEARCHED, list_operators
from specs.model.spec import Constraint
from tools.asked import exit_code_of, parser_of

_ON_TYPES = re.compile(r"element_type|type_of_|BITS|LOW|HIGH|FLOATS|INTEGERS|COMPLEX")
_ABOUT_TYPES_ALONE = ("type_of_", "same_type_", "one_type_of_")


def learn_versions(spaces: Sequence[CallSpace]) -> dict[int, tuple[ForbiddenCombination, ...]]:
    """The cores of one operator's versions, by version; those of a newer one serve where nothing differs.

    Two versions have the same cores where their factors, kinds and rules are the same but for element types.
    """
    known: dict[object, tuple[ForbiddenCombination, ...]] = {}
    found: dict[int, tuple[ForbiddenCombination, ...]] = {}
    for space in sorted(spaces, key=lambda space: -space.spec.operator.since_version):
        key = _what_cores_hang_on(space)
        if key not in known:
            known[key] = learn_cores(space)
        found[space.spec.operator.since_version] = known[key]
    return found


def _what_cores_hang_on(space: CallSpace) -> object:
    """Everything of a space that decides which levels go together, as something to compare."""
    spec = space.spec
    rules = [
        constraint for constraint in spec.constraints if not constraint.id.startswith(_ABOUT_TYPES_ALONE)
    ]
    texts = [*map(_rule_text, rules), *spec.let.values(), *_declared_texts(space)]
    is_of_types = any(_ON_TYPES.search(text) for text in texts)
    is_of_version = any(re.search(r"\bversion\b", text) for text in texts)
    return (
        _plain({name: levels for name, levels in space.factors.items() if name not in space.types}),
        _plain({name: levels for name, levels in space.factors.items() if is_of_types}),
        tuple((type(kind).__name__, kind.name, kind.covers, kind.binds) for kind in space.kinds),
        tuple(texts),
        _plain({name: (attribute.default,) for name, attribute in spec.attributes.items()}),
        tuple((parameter.name, parameter.option) for parameter in spec.inputs),
        spec.operator.since_version if is_of_version else None,
    )


def _rule_text(rule: Constraint) -> str:
    return f"{rule.id}: {rule.when} -> {rule.require} {rule.shape_of}"


def _declared_texts(space: CallSpace) -> list[str]:
    declared = space.spec.declared
    if declared is None:
        return []
    shapes = [f"{name}: {text}" for name, text in declared.shapes.items()]
    bounds = [f"{name}: {extent.low}..{extent.high}" for name, extent in declared.extents.items()]
    return [*shapes, *bounds, *(kind.call for kind in declared.kinds)]


def _plain(values: Mapping[str, Sequence[object]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, repr(value)) for name, value in sorted(values.items()))


_HEADER = """\
# Written by `python -m tools.searched --update`. Review it like a lock file: a core that you can make
# a call of is a mistake of a kind; one of a single level is a level that no call has.
"""


def main(words: Sequence[str]) -> int:
    """Search for the calls of the named operators, or of all; 1 where what is kept differs."""
    parser = parser_of(__doc__)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--cores", action="store_true")
    asked = parser.parse_args(words)
    differing = 0
    for operator in select_operators(tuple(asked.operators)):
        versions = next(modelled_versions([operator]), [operator])
        before = {version.since_version: searched_of(version) for version in versions}
        kept = before[operator.since_version]
        found = dict(before)
        faults: list[object] = []
        if asked.cores or not any(searched.cores for searched in before.values()):
            cores, faults = _learn(versions)
            found = {version: replace(searched, cores=cores[version]) for version, searched in found.items()}
        made, without = _made(operator, afresh=True)
        now = replace(found[operator.since_version], draws=made.draws)
        found[operator.since_version] = now
        if asked.update:
            write_searched(declaration_path(operator, OWN_FOLDER).with_name(SEARCHED), found, _HEADER)
        again, with_kept = _made(operator, afresh=False)
        same = all(_same(found[each], before[each]) for each in found)
        differs = not (same or asked.update) or expectations_of(again.cases) != expectations_of(made.cases)
        differing += differs or bool(faults)
        told = "as kept" if same else "nothing kept" if kept == Searched() else "others than kept"
        print(f"{operator!s:36} {told:16} {without:6.2f} s, with what is kept {with_kept:6.2f} s", flush=True)
        for fault in faults:
            print(fault)
    return 1 if differing else 0


def modelled_versions(operators: Sequence[OperatorName] = ()) -> Iterator[list[OperatorName]]:
    """The versions that each declaration speaks of, the newest first; of some operators, or of all."""
    by_room: dict[tuple[str, str], list[OperatorName]] = {}
    wanted = {(operator.domain, operator.name) for operator in operators}
    for operator in list_operators():
        room = (operator.domain, operator.name)
        declared = (not wanted or room in wanted) and declaration_path(operator, OWN_FOLDER).is_file()
        if declared and calls_are_declared(load_spec(operator)):
            by_room.setdefault(room, []).append(operator)
    for versions in by_room.values():
        yield sorted(versions, key=lambda version: -version.since_version)


def _learn(
    versions: Sequence[OperatorName],
) -> tuple[Mapping[int, tuple[ForbiddenCombination, ...]], list[object]]:
    """The cores of all versions, and what calls show to be wrong in the declaration."""
    spaces = [open_space(load_spec(version)) for version in versions]
    found = learn_versions(spaces)
    faults: list[object] = []
    for space in spaces:
        cores = found[space.spec.operator.since_version]
        faults += [*levels_without_call(space, cores), *rules_broken_together(space)]
    return found, faults


def _same(one: Searched, other: Searched) -> bool:
    cores = ({str(core) for core in searched.cores} for searched in (one, other))
    return len(set(map(frozenset, cores))) == 1 and replace(one, cores=()) == replace(other, cores=())


def _made(operator: OperatorName, *, afresh: bool) -> tuple[OperatorCases, float]:
    started = process_time()
    made = generate_operator(operator, Options(), afresh=afresh)
    return made, process_time() - started


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
