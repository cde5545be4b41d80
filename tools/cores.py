"""Levels that go together in no call, learned anew: `python -m tools.cores [--update] [OPERATOR...]`.

Prints for each declared operator how many cores its versions have and how long learning took. With `--update`
it writes them to `cores.yaml` in the operator's room; without, it answers with 1 where what is kept differs.
It says as well which levels no call has, and which written rules no call breaks alone, and answers with 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from time import process_time

from generator.making.named_operators import calls_are_declared
from generator.rows.cores import FILE_NAME, Core, write_cores
from generator.rows.learning import learn_versions
from generator.spaces.declaration_faults import levels_without_call, rules_broken_together
from generator.spaces.modelled import kept_cores_of
from generator.spaces.space import open_space
from opcert.vocabulary.names import OperatorName
from specs.declarations import declaration_path
from specs.library import OWN_FOLDER, list_operators, load_spec
from tools.asked import exit_code_of, parser_of

_HEADER = """\
# Written by `python -m tools.cores --update`: combinations of levels that no call has, with the versions
# in which they were found, and the searches that confirmed them. Review it like a lock file: a core that you
# can make a call of is a mistake of a kind; one of a single level is a level that no call has.
"""


def main(words: Sequence[str]) -> int:
    """Learn the cores of the named operators, of every declared one where none is named."""
    parser = parser_of(__doc__)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR")
    parser.add_argument("--update", action="store_true")
    asked = parser.parse_args(words)
    total, different, faults = 0.0, 0, 0
    for versions in modelled_versions(asked.operators):
        started = process_time()
        spaces = [open_space(load_spec(each)) for each in versions]
        found = learn_versions(spaces)
        seconds = process_time() - started
        total += seconds
        if asked.update:
            path = declaration_path(versions[0], OWN_FOLDER).with_name(FILE_NAME)
            write_cores(path, found, _HEADER)
        for space in spaces:
            cores = found[space.spec.operator.since_version]
            for fault in (*levels_without_call(space, cores), *rules_broken_together(space)):
                faults += 1
                print(fault)
        changed = [each for each in versions if not _same(kept_cores_of(each), found[each.since_version])]
        different += bool(changed)
        print(f"{_told(versions, found)}, {seconds:.1f} s{', not those kept' if changed else ''}", flush=True)
    print(f"all: {total:.0f} s")
    return 1 if different or faults else 0


def modelled_versions(names: Sequence[str] = ()) -> Iterator[list[OperatorName]]:
    """The versions that each declaration speaks of, the newest first; of the named operators, or of all."""
    by_room: dict[tuple[str, str], list[OperatorName]] = {}
    for each in list_operators():
        wanted = not names or each.name in names
        declared = wanted and declaration_path(each, OWN_FOLDER).is_file()
        if declared and calls_are_declared(load_spec(each)):
            by_room.setdefault((each.domain, each.name), []).append(each)
    for versions in by_room.values():
        yield sorted(versions, key=lambda each: -each.since_version)


def _same(one: Sequence[Core], other: Sequence[Core]) -> bool:
    return {str(each) for each in one} == {str(each) for each in other}


def _told(versions: Sequence[OperatorName], found: Mapping[int, Sequence[Core]]) -> str:
    newest = versions[0]
    different = len({str(sorted(map(str, each))) for each in found.values()})
    return (
        f"{newest.domain}::{newest.name}: {len(found[newest.since_version])} cores in version "
        f"{newest.since_version}, {different} lists of them for {len(versions)} versions"
    )


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
