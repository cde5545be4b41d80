"""Rules on examples and on the order of inputs: each tells a slip in a small page, and nothing without it."""

from __future__ import annotations

import pytest

from specs.documents.text.documents import decode
from specs.importers import import_text
from specs.model.spec import Finding
from tests.specs.mistakes import CLEAN

TENSORFLOW = """\
# op: Widen
# source: a package
# signature: widen(input, paddings, name) defaults=['None']

Pads a tensor at both ends.

For example:

```
# 't' is [[1, 2, 3], [4, 5, 6]].
# 'paddings' is [[1, 1], [2, 2]].
# rank of 't' is 2.
widen(t, paddings) ==> [[0, 0, 0],
                        [1, 2, 3]]
```

Args:
  input: A `Tensor`. The tensor.
  paddings: A `Tensor`. Must be one of the following types: `int32`, `int64`.
    How much.
  name: A name for the operation (optional).

Returns:
  A `Tensor`. Has the same type as `input`.
"""

OPENVINO = """\
# Cut {#openvino_docs_ops_movement_Cut_1}

**Versioned name**: *Cut-1*

**Category**: *Data movement*

**Short description**: *Cut* takes a part.

**Attributes**: *Cut* has no attributes.

**Inputs**:

* **1**: `data` - a tensor of type *T* and arbitrary shape. **Required.**

* **2**: `pads_begin` - how much goes at the beginning, of type *T_INT*. **Required.**

* **3**: `pads_end` - how much goes at the end, of type *T_INT*. **Required.**

**Outputs**:

* **1**: a tensor of type *T*.

**Types**

* *T*: any numeric type.
* *T_INT*: any integer type.
"""


def told(page: str, name: str) -> list[Finding]:
    return [finding for spec in import_text(decode(page.encode(), name)) for finding in spec.findings]


@pytest.mark.parametrize(
    ("page", "name", "old", "new", "code", "line"),
    [
        (TENSORFLOW, "Widen.txt", "[[1, 1], [2, 2]]", "[[1, 1]], [2, 2]]", "example-brackets", 11),
        (TENSORFLOW, "Widen.txt", "[1, 2, 3]]\n```", "[1, 2, 3]\n```", "example-brackets", 13),
        (OPENVINO, "Cut.md", "`data`", "`pads_begin`", "names-swapped", 13),
        (OPENVINO, "Cut.md", "`pads_begin`", "`pads_end`", "names-swapped", 15),
        (CLEAN, "page.md", "blended = np.array([0.0, 2.0], dtype=np.float32)",
         "blended = first * 1  # expected output [0.0, 3.0]", "comment-vs-code", 67),
        (CLEAN, "page.md", "blended = np.array([0.0, 2.0], dtype=np.float32)",
         "for kind in every_kind:\n    blended = first.astype(kind)", "example-undefined-name", 67),
        (CLEAN, "page.md", "to float tensors.</dd>", "to float tensors, output Y too.</dd>",
         "output-name-mismatch", 37),
    ],
)  # fmt: skip
def test_each_slip_is_told_at_its_line(
    page: str, name: str, old: str, new: str, code: str, line: int
) -> None:
    assert not [finding for finding in told(page, name) if finding.code == code]
    slip = page.replace(old, new, 1)
    if code == "names-swapped":  # the other input has the name of this one
        at = slip.index(new) + len(new)
        slip = slip[:at] + slip[at:].replace(new, old, 1)
    found = [finding for finding in told(slip, name) if finding.code == code]
    assert [finding.source.line for finding in found] == [line], told(slip, name)


def test_a_condition_of_a_formula_is_no_attribute_of_an_example() -> None:
    """`if axis = 1` names the case of a formula; the example behind it has the default."""
    summary = (
        "\n  ```\n  blended[i] = first[i] if axis = 0,\n  blended[i] = second[i] if axis = 1,\n  ```\n"
        "  Example:\n  ```\n  first = [1.0, 2.0]\n  second = [3.0, 4.0]\n  blended = [1.0, 2.0]\n  ```\n"
    )
    page = CLEAN.replace("\n#### Version", f"{summary}\n#### Version", 1)
    (spec,) = import_text(decode(page.encode(), "page.md"))
    assert [dict(example.attributes) for example in spec.examples if example.id.startswith("summary")] == [{}]
