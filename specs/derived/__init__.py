"""What a document alone says of the calls of an operator, in the form of a spec.yaml."""

from specs.derived.deriving import derive as derive
from specs.derived.entries import Contradiction as Contradiction
from specs.derived.entries import Derived as Derived
from specs.derived.entries import DerivedEntry as DerivedEntry
from specs.derived.entries import Missing as Missing
from specs.derived.writing import written as written
