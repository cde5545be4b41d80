"""Numbers of moderate size, for computations in which greater ones leave nothing to tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from generator.solved.partial import Partial
from generator.values.mended_data import MendedData
from opcert.vocabulary.tensors import Tensor
from reference.numbers import encode, numbers
from specs.expressions import Expression


@dataclass(frozen=True)
class Moderate(MendedData):
    """The finite numbers of an input, all times one power of two, so that none is beyond `most`."""

    most: Expression
    when: Expression | None = None

    def mend(self, tensor: Tensor, scope: Partial) -> Tensor:
        kind, most = tensor.element_type, Fraction(self.most.evaluate({}))
        given = numbers(kind, tensor.array)
        greatest = max((abs(each) for each in given if isinstance(each, Fraction)), default=Fraction(0))
        if greatest <= most or not self.holds(scope):
            return tensor
        scale = Fraction(1)
        while greatest * scale > most:
            scale /= 2
        mended = [each * scale if isinstance(each, Fraction) else each for each in given]
        return Tensor(kind, encode(kind, mended).reshape(tensor.shape))
