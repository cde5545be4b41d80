"""What cases of an operator demand where no values are expected: type, shape, range, distribution, a mask."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opcert.vocabulary.names import CaseId

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
