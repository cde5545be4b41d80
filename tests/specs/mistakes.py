"""A clean page, and single mistakes that are planted into it: what each changes, and which code tells it."""

from __future__ import annotations

from dataclasses import dataclass

CLEAN = """\
## Operator Schemas
## ai.onnx
### <a name="Blend"></a><a name="blend">**Blend**</a>

  Blends two tensors of one shape. The weights follow from the attribute `curve` and lie along the axis that
  `axis` names; `first` has the weight `1 - w`.

  It takes two inputs `first` and `second`.

#### Version

This version of the operator has been available since version 7 of the default ONNX operator set.

#### Attributes

<dl>
<dt><tt>axis</tt> : int (default is -1)</dt>
<dd>The axis of the weights. Accepted range is [-r, r-1] where r = rank(first). Default is -1.</dd>
<dt><tt>curve</tt> : string (default is linear)</dt>
<dd>How the weights grow. Three modes: `linear`(default), `cubic`, `sine`.</dd>
<dt><tt>strength</tt> : float (default is 1.0)</dt>
<dd>The factor of all weights. It is ignored if curve is `sine`.</dd>
</dl>

#### Inputs

<dl>
<dt><tt>first</tt> : T</dt>
<dd>N-D tensor, the one at the beginning of the axis.</dd>
<dt><tt>second</tt> : T</dt>
<dd>A tensor of the same shape as `first`.</dd>
</dl>

#### Outputs

<dl>
<dt><tt>blended</tt> : T</dt>
<dd>Output tensor of the same shape as `first`.</dd>
</dl>

#### Type Constraints

<dl>
<dt><tt>T</tt> : tensor(float), tensor(double)</dt>
<dd>Constrain input and output types to float tensors.</dd>
</dl>


#### Examples

<details>
<summary>halves</summary>

```python
import numpy as np
import onnx

node = onnx.helper.make_node(
    "Blend",
    inputs=["first", "second"],
    outputs=["blended"],
    axis=0,
    curve="linear",
)
first = np.array([0.0, 2.0], dtype=np.float32)
second = np.array([4.0, 2.0], dtype=np.float32)
blended = np.array([0.0, 2.0], dtype=np.float32)
expect(node, inputs=[first, second], outputs=[blended], name="test_halves")
```

</details>
"""


@dataclass(frozen=True)
class Mistake:
    """One place of the page written otherwise, and the code of the finding that must tell it."""

    name: str
    old: str
    new: str
    code: str

    def planted(self, page: str = CLEAN) -> str:
        """The page with the mistake; raises ValueError where its place is not there once."""
        if page.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.old!r} stands {page.count(self.old)} times")
        return page.replace(self.old, self.new)


MISTAKES = (
    Mistake("unknown element type", "tensor(double)", "tensor(duoble)", "unknown-element-type"),
    Mistake("unknown attribute in an example", "    axis=0,", "    axes=0,", "attribute-unknown-in-example"),
    Mistake("value that is not listed", 'curve="linear"', 'curve="square"', "example-outside-values"),
    Mistake("default against the text", "Default is -1.", "Default is 0.", "default-vs-text"),
    Mistake("count against the list of values", "Three modes", "Four modes", "count-vs-list"),
    Mistake("count against the list of names", "takes two inputs", "takes three inputs", "count-vs-list"),
    Mistake("name that exists nowhere", "the attribute `curve`", "the attribute `shading`", "name-unknown"),
    Mistake("name but for a letter", "`axis` names", "`axsi` names", "name-unknown"),
    Mistake("output of another shape", "blended = np.array([0.0, 2.0]", "blended = np.array([[0.0, 2.0]]",
            "example-shape-vs-text"),
    Mistake("attribute of another type", "    axis=0,", "    axis=0.5,", "attribute-type-vs-example"),
    Mistake("type variable without types", "<dt><tt>second</tt> : T</dt>", "<dt><tt>second</tt> : T2</dt>",
            "type-constraint-missing"),
    Mistake("default that is no value", "default is linear", "default is square", "default-outside-values"),
    Mistake("backquote without a partner", "the weight `1 - w`", "the weight `1 - w", "unbalanced-quotes"),
    Mistake("word twice", "one shape. The weights", "one shape. The the weights", "repeated-word"),
    Mistake("inputs of a node", 'inputs=["first", "second"]', 'inputs=["first", "second", "third"]',
            "arity-vs-example"),
    Mistake("code that is none", 'name="test_halves")', 'name="test_halves"', "example-does-not-parse"),
    Mistake("item without its end", "of all weights. It is ignored if curve is `sine`.</dd>",
            "of all weights. It is ignored if curve is `sine`.", "item-unread"),
)  # fmt: skip
