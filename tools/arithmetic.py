"""Finds arithmetic whose last bit may depend on the processor, the threads or a library's version.

    uv run python -m tools.arithmetic      # the whole project; exit code 1 where something is found

Goldens, records, figures of adequacy and certificates have to have the same bytes everywhere. So of numpy and
math only what is listed here is used: what moves elements, what counts, and what IEEE 754 rounds correctly
one element at a time. What is not listed is a finding: products of matrices, sums in an order that a library
chooses, transcendental functions, powers of floats, unstable sorts. A line that is harmless says why:

    counts.sum(axis=0)  # exact: integers
    share = math.log(seconds)  # may differ: a place in a drawing

A reason where there is nothing to excuse is a finding too.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.asked import parser_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("opcert", "specs", "reference", "generator", "conformance", "reports")
ELSEWHERE = ("conformance/workers",)
"""Runs in a runtime's environment: what it computes is what is tested."""

_TYPES = """
    bool_ bytes_ complex64 complex128 dtype float16 float32 float64 floating generic int8 int16 int32
    int64 integer intp ndarray object_ ufunc uint8 uint16 uint32 uint64 finfo iinfo inf nan newaxis
    errstate __version__
"""
_MOVE = """
    append arange argwhere array array_equal array_split asarray ascontiguousarray bincount
    broadcast_shapes broadcast_to concatenate copyto delete diagonal empty empty_like expand_dims
    flatnonzero flip frombuffer full full_like indices isin ix_ lexsort may_share_memory moveaxis ndindex
    nonzero ogrid ones ones_like pad packbits ravel_multi_index repeat reshape resize result_type roll
    searchsorted shape shares_memory split squeeze stack swapaxes take take_along_axis tile transpose
    unpackbits unravel_index where zeros zeros_like
"""
_ELEMENT_BY_ELEMENT = """
    abs add ceil clip copysign diff divide equal floor floor_divide fmax fmin frexp frompyfunc greater invert
    isfinite isinf isnan ldexp left_shift less logical_and logical_not logical_or maximum minimum mod multiply
    nan_to_num negative nextafter remainder right_shift rint sign signbit spacing sqrt subtract trunc
"""
_COUNT = """
    all any argmax argmin bitwise_and bitwise_and.reduce bitwise_or bitwise_or.reduce bitwise_xor
    count_nonzero fmax.reduce max min nanmax nanmin
"""
_MATH = """
    ceil comb copysign fabs factorial floor fmod frexp fsum gcd inf isclose isfinite isinf isnan isqrt lcm
    ldexp modf nan nextafter perm pi prod remainder sqrt trunc ulp
"""
_OPERATOR = """
    add attrgetter eq floordiv ge gt index is_ is_not itemgetter le lt methodcaller mod mul ne neg not_ or_
    pos sub truediv
"""
_METHODS = "argpartition cumprod cumsum dot mean prod ptp round std sum trace var"
ALLOWED = {
    "numpy": frozenset((_TYPES + _MOVE + _ELEMENT_BY_ELEMENT + _COUNT).split()),
    "math": frozenset(_MATH.split()),
    "operator": frozenset(_OPERATOR.split()),
}
"""What may be used of a module."""
FORBIDDEN = frozenset({"cmath", "random", "scipy", "statistics"})
"""Modules of which nothing may be."""
METHODS = frozenset(_METHODS.split())
"""Methods of arrays that may not be called."""
_NAMES_OF_TYPES = frozenset(_TYPES.split())
_WORDS_OF_FLOATS = frozenset({"seconds", "times", "ratio", "ratios", "cost"})
_REASON = re.compile(r"#\s*(?:exact|may differ): \S")


@dataclass(frozen=True, order=True)
class Finding:
    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def check(source: str, file: str) -> list[Finding]:
    """What a file computes that may come out differently elsewhere, and reasons that excuse nothing."""
    visitor = _Visitor(file)
    visitor.visit(ast.parse(source, file))
    reasons = {number for number, line in enumerate(source.splitlines(), 1) if _REASON.search(line)}
    used: set[int] = set()
    found = []
    for finding, lines in visitor.found:
        excused = reasons & set(lines)
        used |= excused
        if not excused:
            found.append(finding)
    found += [Finding(file, reason, "a reason where there is nothing to excuse") for reason in reasons - used]
    return sorted(found)


class _Visitor(ast.NodeVisitor):
    """Every use of a module, operator or method that is not allowed, with the lines that it stands on."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._modules: dict[str, str] = {}
        self.found: list[tuple[Finding, range]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            top = name.name.split(".")[0]
            if top in FORBIDDEN:
                self._tell(node, f"module {name.name}")
            elif name.name in ALLOWED:
                self._modules[name.asname or name.name] = name.name
            elif top in ALLOWED:
                self._tell(node, f"module {name.name}")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        top = module.split(".")[0]
        if node.level or module == "numpy.typing":
            return
        if top in FORBIDDEN or (top in ALLOWED and module not in ALLOWED):
            self._tell(node, f"module {module}")
        elif module in ALLOWED:
            for name in node.names:
                if name.name not in ALLOWED[module]:
                    self._tell(node, f"{module}.{name.name}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        names: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        if not (isinstance(inner, ast.Name) and inner.id in self._modules):
            self.generic_visit(node)
            return
        module = self._modules[inner.id]
        name = ".".join(names)
        known = ALLOWED[module]
        beyond = name.split(".", 1)[1] if names[0] in _NAMES_OF_TYPES and len(names) > 1 else ""
        if name not in known and not beyond:
            self._tell(node, f"{module}.{name}")

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr in ("sort", "argsort") and _is_stable(node):
                # Not looked at as a use of a module.
                for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                    self.visit(argument)
                self.visit(function.value)
                return
            if not self._is_module(function.value):
                if function.attr in METHODS:
                    self._tell(node, f"method {function.attr}")
                elif function.attr in ("sort", "argsort"):
                    self._tell(node, f"method {function.attr}, which is not stable on arrays")
        elif isinstance(function, ast.Name) and function.id == "pow":
            self._tell(node, "pow")
        elif isinstance(function, ast.Name) and function.id == "sum" and _is_of_floats(node):
            self._tell(node, "sum of floats, which versions of Python add up differently (math.fsum)")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._operator(node, node.op, node.left, node.right)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._operator(node, node.op, node.target, node.value)
        self.generic_visit(node)

    def _operator(self, node: ast.AST, operator: ast.operator, left: ast.expr, right: ast.expr) -> None:
        if isinstance(operator, ast.MatMult):
            self._tell(node, "a product of matrices")
        if isinstance(operator, ast.Pow) and not (_is_fraction(left) or (_is_int(left) and _is_int(right))):
            self._tell(node, "a power (math.ldexp, 1 << n and Fraction(...) ** n are exact)")

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._modules

    def _tell(self, node: ast.AST, what: str) -> None:
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
        self.found.append((Finding(self._file, line, what), range(line, (end or line) + 1)))


def _is_stable(call: ast.Call) -> bool:
    """`kind="stable"`, or a list's own sort, which always is: arrays know no `key` and no `reverse`."""
    return any(
        (
            keyword.arg == "kind"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value == "stable"
        )
        or keyword.arg in ("key", "reverse")
        for keyword in call.keywords
    )


def _is_of_floats(call: ast.Call) -> bool:
    """Whether a sum is to be seen to be of floats: of quotients, of `float(...)`, of seconds."""
    item = call.args[0] if call.args else None
    if isinstance(item, ast.GeneratorExp | ast.ListComp):
        item = item.elt
    match item:
        case ast.Constant(value=float()) | ast.BinOp(op=ast.Div()):
            return True
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in _WORDS_OF_FLOATS
        case ast.Call(func=ast.Name(id=name)):
            return name == "float" or (
                name == "map" and isinstance(item.args[0], ast.Name) and item.args[0].id == "float"
            )
    return False


def _is_int(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_fraction(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Fraction"


def check_project(root: Path = ROOT) -> Iterator[Finding]:
    """The findings of every file of the packages that carry results."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(ELSEWHERE):
                yield from check(path.read_text(encoding="utf-8"), name)


def main() -> int:
    found = list(check_project())
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    sys.exit(main())
