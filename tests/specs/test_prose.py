"""Values, defaults and formulas found in descriptions, each with its rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from specs.documents.prose.described_values import find_default, find_values
from specs.documents.prose.formulas import find_formulas
from specs.documents.text.documents import Line, Passage
from tests.growth import LINEAR, growth


def _passage(text: str) -> Passage:
    return Passage([Line(word, number) for number, word in enumerate(text.split("\n"), 1)])


@pytest.mark.parametrize(
    ("text", "values", "rule", "confidence"),
    [
        (
            'Three modes: "near" (default), "far" and "none". Use "far" for all.',
            "near far none",
            "counted-list",
            1.0,
        ),
        ("Two modes: near (default), and far (including farther, etc)", "near far", "counted-list", 1.0),
        ("Three modes: near (default), far", "near far", "counted-list", 0.75),
        (
            "Three modes: `c`(default) - pads with a, b, `r` - pads with r, `e` - edges",
            "c r e",
            "counted-list",
            1.0,
        ),
        ("Supported modes: `c`(default), `r`, `e`", "c r e", "introduced-list", 0.75),
        ("Must be one of 'AND' or 'OR'.", "AND OR", "introduced-list", 0.5),
        ('If way is "up", rise. If way is "down", fall.', "up down", "conditions", 0.5),
        ("'sum': adds. 'mean': averages.", "sum mean", "explained-pairs", 0.5),
    ],
)
def test_values(text: str, values: str, rule: str, confidence: float) -> None:
    found = find_values(_passage(text), "way")
    assert found is not None
    assert (found.values, found.rule, found.confidence) == (tuple(values.split()), rule, confidence)
    assert found.proposed == (confidence < 0.75)


@pytest.mark.parametrize(
    "text", ["", "The mode.", "Two numbers: the first and the second one.", 'Only "one".']
)
def test_no_values(text: str) -> None:
    assert find_values(_passage(text), "way") is None


def test_rules_that_disagree_propose() -> None:
    found = find_values(_passage('Two modes: a (default), b. If way is "c", or if way is "d", no.'), "way")
    assert found is not None
    assert found.proposed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The default value is 0.", 0),
        ("Default is 0.0f.", 0.0),
        ("(by default it is 0.0).", 0.0),
        ("Default value is -10000.0f", -10000.0),
        ("Default value is 1e-5.", 1e-5),
        ('The default is "mean".', "mean"),
        ("Default value is ``x``.", "x"),
        ("Four modes: a (default, as known as b), c.", "a"),
        ("Defaults to `7`.", 7),
    ],
)
def test_defaults(text: str, value: object) -> None:
    found = find_default(_passage(text))
    assert found is not None
    assert found.value == value
    assert type(found.value) is type(value)
    assert found.origin is not None


@pytest.mark.parametrize(
    "text", ["", "The default behaviour is to stop.", "Default is the first axis.", "No default."]
)
def test_no_default(text: str) -> None:
    assert find_default(_passage(text)) is None


def test_a_default_that_cannot_be_decoded() -> None:
    found = find_default(_passage("Default value is ``?``."))
    assert found is not None
    assert (found.origin, found.undecodable) == (None, "``?``")


def test_formulas_and_their_conditions() -> None:
    text = (
        'if way is `"up"`, <br/> `y = (x + 0.5) / scale`\n'
        '<br/> if way is "down", <br/> y[i] = x[i] * 2, <br/> the end'
    )
    found = [
        (formula.name, formula.text, formula.when, formula.origin.sources[0].line)
        for formula in find_formulas(_passage(text))
    ]
    assert found == [("y", "(x + 0.5) / scale", "way == 'up'", 1), ("y[i]", "x[i] * 2", "way == 'down'", 2)]


def test_wrapped_words_are_joined() -> None:
    passage = _passage("a non-\nresizable axis\nof 3 -\n1")
    assert passage.text == "a non-resizable axis of 3 - 1"
    assert passage.source(passage.text.index("axis")).line == 2


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("<br/>y = floor(x), is done to all<br/>", ["floor(x)"]),
        ("<br/>y = max(0, min(1, a * x)), as ever it was", ["max(0, min(1, a * x))"]),
        ("<br/>y = b * x for x > 0<br/>", ["b * x for x > 0"]),
        ("<br/>y = b * scale 2. Another thing (as ever) is done<br/>", []),
        ("`" * 9 + "a = b + 1`", ["b + 1"]),
    ],
)
def test_no_sentence_is_a_formula(text: str, formulas: list[str]) -> None:
    assert [formula.text for formula in find_formulas(_passage(text))] == formulas


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text", ["one of ", "two modes: ", '"a": ', "if way is ", "supported a a ", "(", "`a = b"]
)
def test_hostile_descriptions_take_time_in_proportion(text: str) -> None:
    def work(size: int) -> Callable[[], object]:
        passage = _passage(text * (size // len(text)))
        return lambda: (find_values(passage, "way"), find_default(passage), list(find_formulas(passage)))

    assert growth(work, 150_000) <= LINEAR
