"""Statements of the importer against `stated_facts.yaml`, the list that a person made by reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from opcert.vocabulary.yaml_files import load_file
from specs.model.spec import Spec
from specs.model.statements import KINDS, describe

LIST = Path(__file__).with_name("stated_facts.yaml")
WORDS = {kind: word for word, kind in KINDS.items()}


@dataclass(frozen=True)
class Measured:
    """Per kind: how many facts a person listed, how many rules found, how many of those are listed."""

    listed: Counter[str]
    found: Counter[str]
    right: Counter[str]
    missed: tuple[str, ...]
    wrong: tuple[str, ...]


def read_list(group: str) -> Mapping[str, set[tuple[str, str]]]:
    """The facts of a group by operator: what each is about, and its words."""
    (document,) = load_file(LIST)
    return {
        operator: {(about, text) for about, texts in parts.items() for text in texts}
        for operator, parts in document.value[group].items()
    }


def kind_of(text: str) -> str:
    """The kind of a fact by its words."""
    if text.startswith("shape of "):
        return "same_shape"
    if "a multiple of" in text:
        return "multiple"
    return {"types": "type_class", "matters": "relevance"}.get(text.split()[0], text.split()[0])


def measure(specs: Iterable[Spec], group: str) -> Measured:
    """Recall and precision of the specs' statements on the operators of a group.

    A statement that is about nothing listed is wrong; whether it is proposed does not count.
    """
    wanted = read_list(group)
    listed: Counter[str] = Counter(kind_of(text) for facts in wanted.values() for _, text in facts)
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    missed, wrong = [], []
    for spec in specs:
        name = spec.operator.name
        facts = wanted.get(name)
        if facts is None:
            continue
        stated = {
            (statement.about, describe(statement)): WORDS[type(statement)] for statement in spec.statements
        }
        found.update(stated.values())
        right.update(kind for key, kind in stated.items() if key in facts)
        missed += [f"{name} {about}: {text}" for about, text in sorted(facts - stated.keys())]
        wrong += [f"{name} {about}: {text}" for about, text in sorted(stated.keys() - facts)]
    return Measured(listed, found, right, tuple(missed), tuple(wrong))
