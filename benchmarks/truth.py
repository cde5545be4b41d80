"""What ONNX itself says of every call that declarations make: `python -m benchmarks.truth [OPERATOR...]`.

For each modelled version: its covering rows and border calls, how many of them strict shape inference and
the checker accept, and how many of the calls that break one rule they refuse, apart for rules that a document
calls errors and for what it leaves undefined. Answers with 1 where a valid call is refused.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from time import process_time

from generator.breaches import find_breaches
from generator.calls import Call
from generator.cores import FILE_NAME, read_cores
from generator.draws import Draw
from generator.edges import find_edges
from generator.rows import make_rows
from generator.space import Space, open_space
from generator.truth import Refused, ask_checker, ask_inference
from opcert.names import OperatorName
from specs.declarations import declaration_path
from specs.library import OWN_FOLDER, list_operators, load_spec


def main(words: Sequence[str]) -> int:
    """Print a line for each version, and the sums."""
    sums: Counter[str] = Counter()
    for operator in _modelled(words):
        space = open_space(load_spec(operator))
        started = process_time()
        calls = _valid_calls(space)
        seconds = process_time() - started
        refused = [told for call in calls if (told := _refusal(space, call)) is not None]
        counts = _breach_counts(space)
        line = Counter(valid=len(calls), accepted=len(calls) - len(refused), versions=1, **counts)
        sums += line
        print(f"{operator}: {_told(line)}, {seconds / max(len(calls), 1) * 1000:.1f} ms a call", flush=True)
        for message, count in Counter(f"{each.witness}: {each.message}" for each in refused).most_common(3):
            print(f"    refused {count} times by {message[:200]}", flush=True)
    print(f"{sums['versions']} versions: {_told(sums)}")
    return 0 if sums["accepted"] == sums["valid"] else 1


def _modelled(words: Sequence[str]) -> list[OperatorName]:
    found = [
        each
        for each in list_operators()
        if each.domain.startswith("ai.onnx") and declaration_path(each, OWN_FOLDER).is_file()
    ]
    wanted = [each for each in found if not words or each.name in words or each.short in words]
    return [each for each in wanted if load_spec(each).declared is not None]


def _valid_calls(space: Space) -> list[Call]:
    operator = space.spec.operator
    path = declaration_path(operator, OWN_FOLDER).with_name(FILE_NAME)
    rows = make_rows(space, read_cores(path, operator.since_version))
    edges = find_edges(space, Draw(f"{operator}/boundary"))
    return [*(each.call for each in rows), *(each.call for each in edges)]


def _refusal(space: Space, call: Call) -> Refused | None:
    answer = ask_inference(space.spec, call)
    return answer if isinstance(answer, Refused) else ask_checker(answer)


def _breach_counts(space: Space) -> dict[str, int]:
    found: Counter[str] = Counter()
    for each in find_breaches(space, Draw(f"{space.spec.operator}/invalid")):
        kind = "errors" if each.constraint.otherwise == "error" else "undefined"
        found[kind] += 1
        found[f"{kind}_refused"] += _refusal(space, each.call) is not None
    return dict(found)


def _told(counts: Counter[str]) -> str:
    refused = [f"{counts[f'{kind}_refused']} of {counts[kind]} {kind}" for kind in ("errors", "undefined")]
    return f"{counts['accepted']} of {counts['valid']} valid calls accepted; refused {', '.join(refused)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
