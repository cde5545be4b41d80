"""A page of an operator as the dialect onnx-markdown has it: one to fill in, and what a page lacks of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opcert.vocabulary.names import OperatorName
from specs.documents.text.documents import Text

DIALECT = "onnx-markdown"
EXAMPLE = OperatorName("org.example", "MyOperator", 1)
_OPENVINO = re.compile(r"versioned\s+name", re.IGNORECASE)
_MOST_SEARCHED = 1 << 20


@dataclass(frozen=True)
class TemplatePart:
    """A part of a page: how it is found, how it is written, and how others write what it says."""

    name: str
    pattern: re.Pattern[str]
    written: str
    alike: re.Pattern[str] | None = None


def _section(title: str, written: str, alike: str) -> TemplatePart:
    return TemplatePart(
        title,
        re.compile(rf"^#### {title}\b", re.MULTILINE),
        f"#### {title}, and below it {written}",
        re.compile(
            rf"^[ \t]{{0,8}}[#*=_]{{0,8}}[ \t]{{0,8}}(?:{alike})s?\b[^\n]{{0,40}}$",
            re.MULTILINE | re.IGNORECASE,
        ),
    )


PARTS = (
    TemplatePart(
        "the operator's heading",
        re.compile(r"^### [^\n]{0,99}?<a name=", re.MULTILINE),
        '### <a name="org.example.MyOperator"></a>**org.example.MyOperator**',
        re.compile(r"^(?:#{1,6} [^\n]{1,80}|[^\n]{1,80}\n(?:={3,}|-{3,}))$", re.MULTILINE),
    ),
    TemplatePart(
        "the sentence that says since which version it holds",
        re.compile(r"This\s+version\s+of\s+the\s+operator\s+has\s+been"),
        "#### Version, and below it: This version of the operator has been available since version 1 of the "
        "'org.example' operator set.",
        re.compile(r"^[^\n]{0,40}\b(?:since|version)\b[^\n]{0,80}$", re.MULTILINE | re.IGNORECASE),
    ),
    _section(
        "Attributes", "<dl> <dt><tt>axis</tt> : int (default is 0)</dt> <dd>...</dd> </dl>", "Attribute"
    ),
    _section("Inputs", "<dl> <dt><tt>X</tt> : T</dt> <dd>...</dd> </dl>", "Input|Argument|Arg"),
    _section("Outputs", "<dl> <dt><tt>Y</tt> : T</dt> <dd>...</dd> </dl>", "Output|Return|Result"),
    _section(
        "Type Constraints",
        "<dl> <dt><tt>T</tt> : tensor(float), tensor(int32)</dt> <dd>...</dd> </dl>",
        "Types?|Type Constraint|Data types?",
    ),
)
_OPTIONAL = ("Attributes",)


def describe_missing(text: Text) -> str:
    """What a page in no known dialect lacks, in lines, each part as it is written, and where it may stand."""
    content = text.content[:_MOST_SEARCHED]
    if _OPENVINO.search(content):
        line = "**Versioned name**: *MyOperator-1*"
        return f"Of OpenVINO's pages it lacks the line with its name and version: {line}"
    lines = [f"Of the dialect {DIALECT} it lacks:"]
    for part in PARTS:
        if part.pattern.search(content):
            continue
        found = part.alike.search(content) if part.alike is not None else None
        if found is None and part.name in _OPTIONAL:
            continue
        number = 0 if found is None else content.count("\n", 0, found.start()) + 1
        place = f" (perhaps line {number})" if number else ""
        lines.append(f"- {part.name}{place}: {part.written}")
    lines.append("`opcert import --template org.example::MyOperator-1` writes a page to fill in.")
    return "\n".join(lines)


_TEMPLATE = """\
### <a name="{full}"></a><a name="{lower}">**{full}**</a>

  WHAT THE OPERATOR DOES, in sentences. Say what is an error, and what happens at borders.

#### Version

This version of the operator has been available since version {version} of the {domain} operator set.

#### Attributes

<dl>
<dt><tt>axis</tt> : int (default is 0)</dt>
<dd>WHAT IT MEANS. Accepted range is [-r, r-1] where r = rank(X).</dd>
</dl>

#### Inputs

<dl>
<dt><tt>X</tt> : T</dt>
<dd>WHAT IT IS.</dd>
</dl>

#### Outputs

<dl>
<dt><tt>Y</tt> : T</dt>
<dd>WHAT IT IS.</dd>
</dl>

#### Type Constraints

<dl>
<dt><tt>T</tt> : tensor(float), tensor(int32)</dt>
<dd>WHICH TYPES THESE ARE.</dd>
</dl>

#### Examples

<details>
<summary>SHORT_NAME</summary>

```python
node = onnx.helper.make_node("{name}", inputs=["X"], outputs=["Y"], axis=0{node})
X = np.array([1, 2, 3], dtype=np.float32)
Y = np.array([1, 2, 3], dtype=np.float32)
expect(node, inputs=[X], outputs=[Y], name="test_short_name")
```

</details>
"""


def write_template(operator: OperatorName) -> str:
    """A page of an operator that can be imported as it is; words in capitals are to be replaced."""
    full = operator.name if operator.domain == "ai.onnx" else f"{operator.domain}.{operator.name}"
    domain = "default ONNX" if operator.domain == "ai.onnx" else f"'{operator.domain}'"
    node = "" if operator.domain == "ai.onnx" else f', domain="{operator.domain}"'
    version = operator.since_version
    return _TEMPLATE.format(
        full=full, lower=full.lower(), name=operator.name, domain=domain, node=node, version=version
    )
