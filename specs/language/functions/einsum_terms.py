"""The terms of an einsum equation."""

from __future__ import annotations

import re

_TERM = re.compile(r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*")


def einsum_terms(equation: str, operands: int) -> list[str]:
    """The term of each operand, and behind them the output's where the equation has one.

    A term has letters and at most one ellipsis; the output's letters are different from each other and occur
    in a term of the left side. Spaces count for nothing. ValueError where the equation is none of this kind,
    or is about another number of operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != operands:
        raise ValueError(f"{len(terms)} terms, not {operands}")
    for each in (*terms, right):
        if _TERM.fullmatch(each) is None:
            raise ValueError(f"{each!r} is no term")
    letters = [each for each in right if each != "."]
    if len(set(letters)) < len(letters) or not set(letters) <= set(left):
        raise ValueError(f"{right!r} names what the left side does not have, or names it twice")
    return [*terms, right] if arrow else terms
