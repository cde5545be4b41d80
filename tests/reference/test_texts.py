"""Operators on texts beside Python's own: concatenation, split, case mappings, `re`, and n-grams by loops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from opcert.vocabulary.names import OperatorName
from opcert.vocabulary.tensors import Tensor, tensor
from reference.answers import OutsideDomain, UnstableLength
from reference.registry import find_operator
from specs.language.functions.patterns import is_re2
from tests.reference.loops import answer, answers

WORDS = ("", "a", "ab", "e\u0301", "\u00e9", "\U0001f600", "a\x00b", "-", "a-b--c-", "--", " x  y ", "\t\n")


def texts(*words: str) -> Tensor:
    return tensor(np.array(words, dtype=object), "string")


def listed(given: Tensor) -> Any:
    return (
        np.array([each.decode() for each in given.array.reshape(-1)], dtype=object)
        .reshape(given.shape)
        .tolist()
    )


def test_concatenation_of_broadcast_texts() -> None:
    column = Tensor(texts(*WORDS).element_type, texts(*WORDS).array.reshape(-1, 1))
    found = answer("StringConcat", 20, {"X": column, "Y": texts(*WORDS)})
    assert listed(found) == [[one + other for other in WORDS] for one in WORDS]


@pytest.mark.parametrize(("delimiter", "most"), [*product(["-", "--", "ab", "\u00e9", " "], [None, 0, 1, 2])])
def test_split_at_a_delimiter(delimiter: str, most: int | None) -> None:
    parts = [word.split(delimiter, -1 if most is None else most) for word in WORDS]
    found, counts = answers("StringSplit", 20, {"X": texts(*WORDS)}, delimiter=delimiter, maxsplit=most)
    longest = max(map(len, parts))
    assert listed(found.expected) == [[*each, *[""] * (longest - len(each))] for each in parts]
    assert counts.expected.array.tolist() == [len(each) for each in parts]


@pytest.mark.parametrize("most", [None, 0, 1, 2])
def test_split_at_whitespace_as_python_does(most: int | None) -> None:
    words = ["", " ", "a", " a b ", "a \t\n b  c ", "a\u00a0b", "\u3000a\u2003b c"]
    parts = [word.split(None, -1 if most is None else most) for word in words]
    readings = {"whitespace": "unicode", "last_whitespace": "kept"}
    found, counts = answers_under(readings, {"X": texts(*words)}, most)
    longest = max(map(len, parts))
    assert listed(found) == [[*each, *[""] * (longest - len(each))] for each in parts]
    assert counts.array.tolist() == [len(each) for each in parts]


def answers_under(readings: dict[str, str], inputs: dict[str, Tensor], most: int | None) -> list[Tensor]:
    operator = find_operator(OperatorName("ai.onnx", "StringSplit", 20))
    attributes = {} if most is None else {"maxsplit": most}
    return [each.expected for each in operator.evaluate(attributes, inputs, readings)]


def test_no_texts_and_no_parts() -> None:
    found, counts = answers("StringSplit", 20, {"X": texts()})
    assert (found.expected.shape, counts.expected.shape) == ((0, 0), (0,))
    found, _ = answers("StringSplit", 20, {"X": texts(" ", "")})
    assert found.expected.shape == (2, 0)


@pytest.mark.parametrize("action", ["NONE", "LOWER", "UPPER"])
def test_normalized_texts(action: str) -> None:
    words = ["Monday", "monday", "Tuesday", "\u00c9t\u00e9", "stra\u00dfe", "\u0130x", "", "\u039f\u03a3"]
    mappings: dict[str, Callable[[str], str]] = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}
    plain = mappings[action]
    inputs, settings = {"X": texts(*words)}, {"case_change_action": action, "stopwords": ("monday", "")}
    found = answer("StringNormalizer", 10, inputs, is_case_sensitive=1, **settings)
    assert listed(found) == [plain(word) for word in words if word not in ("monday", "")]
    found = answer("StringNormalizer", 10, inputs, is_case_sensitive=0, **settings)
    assert listed(found) == [plain(word) for word in words if word.lower() not in ("monday", "")]


def test_everything_dropped_leaves_one_empty_text() -> None:
    row = Tensor(texts("a").element_type, texts("a", "A").array.reshape(1, 2))
    assert listed(answer("StringNormalizer", 10, {"X": row}, stopwords=("a",))) == [[""]]
    assert listed(answer("StringNormalizer", 10, {"X": texts("a")}, stopwords=("a",))) == [""]


def test_stop_words_that_hang_on_a_case_mapping_make_no_case() -> None:
    with pytest.raises(UnstableLength):
        answer("StringNormalizer", 10, {"X": texts("STRASSE")}, stopwords=("stra\u00dfe",))


def test_locales_with_mappings_of_their_own_are_none_of_ours() -> None:
    with pytest.raises(OutsideDomain):
        answer("StringNormalizer", 10, {"X": texts("i")}, locale="tr_TR")


PARTS = [
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    "\\d",
    "\\W",
    "(a|b)",
    "(?:ab|)",
    "\\b",
    "^",
    "$",
    "\\x41",
    "(?i:aB)",
    "\u00e9",
]
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "{0,}"]


def patterns(random: Random, count: int) -> Iterator[str]:
    for _ in range(count):
        drawn = "".join(random.choice(PARTS) + random.choice(REPEATS) for _ in range(random.randint(0, 4)))
        yield random.choice([drawn, f"({drawn})*", f"{drawn}|b", f"(?s){drawn}"])


def test_patterns_as_python_matches_them() -> None:
    random = Random(7)
    words = ["".join(random.choice("abA1\n \u00e9") for _ in range(at % 6)) for at in range(60)]
    matched = 0
    for pattern in patterns(random, 300):
        if re.search(r"(\\b|\^|\$)[*+?{]", pattern):
            continue  # Python and RE2 have other ideas of nothing that is repeated
        # In Python an end is also before a last newline.
        mine = re.compile(pattern.replace("$", "\\Z"), re.ASCII)
        found = answer("RegexFullMatch", 20, {"X": texts(*words)}, pattern=pattern).array.tolist()
        assert found == [mine.fullmatch(word) is not None for word in words], pattern
        matched += sum(found)
    assert matched > 500


def test_patterns_that_take_others_forever_take_no_time() -> None:
    long = "x" * 3000
    assert answer(
        "RegexFullMatch", 20, {"X": texts(long, long + "y")}, pattern="(x+x+)+y"
    ).array.tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "a)",
        "[a",
        "a**",
        "a+?+",
        "*",
        "(a)\\1",
        "a(?=b)",
        "(?<!a)b",
        "a{1001}",
        "(a{100}){11}",
        "[b-a]",
        "\\",
        "\\8",
    ],
)
def test_what_re2_refuses_is_refused(pattern: str) -> None:
    assert not is_re2(pattern)


def counted(words: list[Any], pool: list[tuple[Any, ...]], lengths: range, most: int) -> list[int]:
    """How often each n-gram stands in the words, tried at every place with every distance."""
    found = []
    for gram in pool:
        steps = range(1, most + 2) if len(gram) > 1 else range(1, 2)
        places = product(range(len(words)), steps) if len(gram) in lengths else ()
        found.append(sum(words[at::step][: len(gram)] == list(gram) for at, step in places))
    return found


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
def test_ngrams_by_loops(mode: str) -> None:
    random = Random(mode)
    for _ in range(40):
        pool = [(1,), (2,), (1, 2), (2, 2), (3, 1), (1, 2, 3), (2, 2, 2)]
        random.shuffle(pool)
        pool.sort(key=len)
        order = random.sample(range(9), 7)
        weights = [random.choice([0.5, 2.0, -1.0, 3.0]) for _ in pool]
        low = random.randint(1, 3)
        lengths, most = range(low, random.randint(low, 3) + 1), random.randint(0, 3)
        rows = [[random.randint(1, 4) for _ in range(8)] for _ in range(3)]
        found = answer(
            "TfIdfVectorizer",
            9,
            {"X": tensor(np.array(rows, np.int32))},
            min_gram_length=low,
            max_gram_length=lengths[-1],
            max_skip_count=most,
            mode=mode,
            ngram_counts=(0, 2, 8),
            ngram_indexes=tuple(order),
            pool_int64s=tuple(word for gram in pool for word in gram),
            weights=tuple(weights),
        )
        wanted = np.zeros((3, max(order) + 1))
        for row, words in enumerate(rows):
            for place, count in enumerate(counted(words, pool, lengths, most)):
                times = weights[place] if mode != "TF" else 1
                wanted[row, order[place]] = (min(count, 1) if mode == "IDF" else count) * times
        assert found.array.tolist() == wanted.tolist()
