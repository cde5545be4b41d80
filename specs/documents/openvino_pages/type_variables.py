"""The type variables of a page, and the phrases that say what they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from specs.documents.openvino_pages.field_outcomes import Notes, State
from specs.documents.openvino_pages.items import Bullet
from specs.documents.openvino_pages.tokens import plain
from specs.documents.openvino_pages.type_words import SIGNED, UNSIGNED, read_types
from specs.model.spec import Origin, TypeConstraint

_HEAD = re.compile(
    r"^(?!\*\*note)(?P<names>[*`]+\w+[*`]+(?:, ?[*`]+\w+[*`]+)*)\s*(?::|-)\s*(?P<text>.*)$", re.IGNORECASE
)


@dataclass
class TypeReader:
    """Reads the bullets of the types' section; `names` are all that it defines, understood or not."""

    notes: Notes
    constraints: dict[str, TypeConstraint] = field(default_factory=dict)
    names: dict[str, Bullet] = field(default_factory=dict)

    def read(self, bullets: Sequence[Bullet]) -> None:
        for bullet in bullets:
            head = _HEAD.match(plain(bullet.lines[0].text))
            if head is None:
                if not re.match(r"^\*\*note", bullet.lines[0].text.strip(), re.IGNORECASE):
                    self.notes.find(
                        "item-unread",
                        "warning",
                        bullet.lines[0],
                        "an item among the types names none",
                        bullet.lines[0].text[:60],
                    )
                continue
            rest = [head["text"], *(plain(each.text) for each in bullet.lines[1:])]
            phrase = " ".join(rest).strip()
            for name in re.findall(r"\w+", head["names"]):
                self._variable(name, bullet, phrase)

    def _variable(self, name: str, bullet: Bullet, phrase: str) -> None:
        line = bullet.lines[0]
        if name in self.names:
            self.notes.find("duplicate-name", "warning", line, f"{name} is defined twice", name)
            return
        self.names[name] = bullet
        types = read_types(phrase)
        state: State = "unread" if types is None else "open" if types.open else "read"
        self.notes.field("type variable", name, line, phrase, state)
        if types is None:
            self.notes.find(
                "type-unread",
                "warning",
                line,
                f"the phrase that says what {name} stands for is no known one",
                phrase[:60],
            )
        elif types.types:
            origin = Origin("imported", (line.source(),))
            self.constraints[name] = TypeConstraint(name, types.types, origin)
        elif types.open:
            self.notes.find(
                "types-unstated",
                "warning",
                line,
                f"the page leaves open which types {name} stands for",
                "it names none and refers to what is supported",
            )

    @property
    def integers(self) -> frozenset[str]:
        """The variables that stand for integers alone."""
        every = {*SIGNED, *UNSIGNED}
        return frozenset(name for name, each in self.constraints.items() if set(each.types) <= every)
