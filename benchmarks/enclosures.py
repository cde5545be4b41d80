"""Values of elementary functions as one digest: the same whatever version of python-flint encloses them.

Usage: uv run python -m benchmarks.enclosures, or with another version of the library
       uv run --with python-flint==0.6.0 python -m benchmarks.enclosures

Prints the library's version and the SHA-256 digest of 150 values of each function with each number of bits;
tests/reference/test_enclosures.py holds the digest.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Sequence
from fractions import Fraction

import flint

from benchmarks.asked import exit_code_of, parser_of
from reference.enclosures import nearest_value
from reference.functions import DOUBLE_BITS, FUNCTIONS, USUAL_BITS

VALUES = 150
_WIDEST = 60.0


def digest_of_values() -> str:
    """The digest of values at random arguments inside each domain."""
    draw, found = random.Random(1), hashlib.sha256()
    for _, function in sorted(FUNCTIONS.items()):
        low, high = (float(each) if each is not None else None for each in function.ends)
        ends = (-_WIDEST if low is None else low, _WIDEST if high is None else high)
        for bits in (USUAL_BITS, DOUBLE_BITS):
            for _ in range(VALUES):
                argument = Fraction(draw.uniform(*ends))
                found.update(str(nearest_value(function.enclose, argument, bits)).encode())
    return found.hexdigest()


def main(words: Sequence[str]) -> int:
    """Print the digest."""
    parser_of(__doc__).parse_args(words)
    print(f"python-flint {flint.__version__}: {digest_of_values()}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
