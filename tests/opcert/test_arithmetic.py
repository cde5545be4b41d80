"""Arithmetic that may come out differently elsewhere is found, and the project has none."""

from __future__ import annotations

import pytest

from tools.arithmetic import check, check_project

IMPORTS = "import math\nimport operator\nimport numpy as np\nfrom fractions import Fraction\n"

MAY_DIFFER = """
np.tensordot(a, b, axes=1)
np.dot(a, b)
a @ b
a @= b
a.dot(b)
np.matmul(a, b)
np.einsum('ij', a)
np.linalg.norm(a)
np.fft.fft(a)
np.sum(a)
a.sum()
a.sum(axis=0)
a.mean()
np.mean(a)
a.std()
np.add.reduce(a)
np.add.accumulate(a)
np.multiply.reduce(a)
a.cumsum()
np.cumsum(a)
a.prod()
np.prod(a)
np.exp(a)
np.log2(a)
np.power(a, b)
np.sin(a)
np.hypot(a, b)
np.cbrt(a)
math.log2(a)
math.exp(a)
math.pow(a, b)
math.lgamma(a)
math.hypot(a, b)
math.dist(a, b)
2.0**-40
2**a
a**2
a **= 2
2**-3
10.0**3
pow(a, b)
operator.pow(a, b)
operator.matmul(a, b)
np.sort(a)
np.argsort(a)
a.sort()
a.argsort()
np.sort(a, kind='quicksort')
np.unique(a)
np.linspace(0, 1, 5)
np.random.default_rng(1)
np.average(a)
np.convolve(a, b)
np.interp(a, b, c)
sum(each.seconds for each in a)
sum(a / b for a in c)
sum([float(a) for a in b])
sum(map(float, a))
import statistics
import numpy.linalg
from numpy import linalg
from numpy.linalg import norm
from math import log
import random
import scipy.special
from numpy import dot
"""
SAME = """
np.multiply(a, b) + np.sqrt(c)
np.ldexp(1.0, a)
math.ldexp(1.0, -40)
math.fsum(a)
math.sqrt(a)
2**64
Fraction(2) ** a
1 << a
np.sort(a, kind='stable')
np.argsort(a, kind='stable')
a.sort(key=b)
np.count_nonzero(a)
np.maximum(a, b)
a.max()
np.float32(1) / a
np.iinfo(np.int64).max
f(**a)
sum(len(each) for each in a)
text.partition('x')
from math import prod
from numpy.typing import NDArray
a.sum(axis=0)  # exact: integers
np.log(a)  # may differ: a place in a drawing
"""


def found(line: str) -> list[str]:
    return [finding.what for finding in check(f"{IMPORTS}{line}\n", "sample.py")]


@pytest.mark.slow
def test_the_project_has_none() -> None:
    assert not list(map(str, check_project()))


@pytest.mark.parametrize("line", MAY_DIFFER.strip().splitlines())
def test_what_may_differ_is_found(line: str) -> None:
    assert len(found(line)) == 1


@pytest.mark.parametrize("line", SAME.strip().splitlines())
def test_what_is_the_same_everywhere_is_not(line: str) -> None:
    assert not found(line)


def test_other_names_of_the_modules_are_known() -> None:
    assert [finding.what for finding in check("import numpy\nnumpy.dot(a, b)\n", "x.py")] == ["numpy.dot"]
    assert [finding.what for finding in check("import math as m\nm.log(a)\n", "x.py")] == ["math.log"]


def test_a_reason_must_say_something_and_excuse_something() -> None:
    assert found("a.sum()  # exact:") == ["method sum"]
    assert found("a + b  # exact: integers") == ["a reason where there is nothing to excuse"]


def test_a_reason_is_for_the_lines_of_its_own_statement() -> None:
    assert found("a.sum()\nb.sum()  # exact: integers") == ["method sum"]
    assert not found("x = np.add.reduceat(  # exact: integers\n    a,\n    b,\n)")
