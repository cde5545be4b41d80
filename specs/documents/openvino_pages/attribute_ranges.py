"""The range of an attribute: bounds or allowed values, and whether its default lies inside of them."""

from __future__ import annotations

from dataclasses import dataclass

from opcert.vocabulary.attributes import AttributeKind
from specs.documents.openvino_pages.allowed_values import FREE, list_values
from specs.documents.openvino_pages.attribute_words import Stated, StatedRange, read_bounds
from specs.documents.openvino_pages.field_outcomes import Notes
from specs.documents.openvino_pages.items import Bullet, KeyedItem
from specs.documents.openvino_pages.tokens import bare
from specs.model.spec import AllowedValues, Origin

_SURE, _DOUBTFUL = 1.0, 0.7
_TRUTH: dict[str, int] = {"true": 1, "false": 0}


@dataclass(frozen=True)
class RangeReader:
    """Reads ranges, and notes those that it does not understand."""

    notes: Notes

    def read(
        self, name: str, bullet: Bullet, kind: AttributeKind | None, boolean: bool
    ) -> tuple[StatedRange, AllowedValues | None]:
        part, described = bullet.part("range of values"), bullet.part("description")
        listed = list_values(part, described, kind, boolean)
        if listed is not None:
            if listed.slip:
                self.notes.find(
                    "text-slip",
                    "hint",
                    listed.line,
                    f"the range of {name} is misspelt",
                    listed.slip,
                    "repaired",
                )
            values: tuple[str | int | float, ...] = listed.values
            if boolean:
                values = tuple(sorted(_TRUTH.get(each.lower(), -1) for each in listed.values))
            sure = not boolean or set(values) == {0, 1}
            origin = Origin(
                "imported", (listed.line.source(),), None, listed.rule, _SURE if sure else _DOUBTFUL
            )
            proposed = not sure or len(values) < 2
            if part:
                self._note(name, part, sure)
            return StatedRange(), AllowedValues(
                values, listed.rule, origin.confidence or _SURE, proposed, origin
            )
        if part is None:
            return StatedRange(), None
        bounds = read_bounds(part.text, kind)
        understood = bounds is not None or (
            kind in ("string", "strings") and bool(FREE.match(bare(part.text)))
        )
        self._note(name, part, understood)
        if not understood:
            self.notes.find(
                "range-unread",
                "hint",
                part.line,
                f"the range of {name} is not understood",
                shorten(part.text),
            )
        return bounds or StatedRange(), None

    def settle(
        self,
        name: str,
        bullet: Bullet,
        default: Stated | None,
        bounds: StatedRange,
        values: AllowedValues | None,
    ) -> AllowedValues | None:
        """The values, in doubt where the default is none of them; one outside of its range is a finding."""
        if default is None or default.none:
            return values
        items = default.value if isinstance(default.value, list) else [default.value]
        part = bullet.part("default value") or bullet.part("default")
        line = part.line if part else bullet.lines[0]
        if values is not None and not all(each in values.values for each in items):
            self.notes.find(
                "default-outside-values",
                "warning",
                line,
                f"the default of {name} is none of its values",
                f"{default.value!r}; {', '.join(map(str, values.values))}",
            )
            origin = Origin("imported", values.origin.sources, None, values.rule, _DOUBTFUL)
            return AllowedValues(values.values, values.rule, _DOUBTFUL, True, origin)
        outside = [each for each in items if isinstance(each, int | float) and not _inside(each, bounds)]
        if outside:
            ranged = bullet.part("range of values")
            self.notes.find(
                "default-outside-range",
                "warning",
                line,
                f"the default of {name} is outside of its range",
                f"{outside[0]}; {shorten(ranged.text) if ranged else ''}",
            )
        return values

    def _note(self, name: str, part: KeyedItem, understood: bool) -> None:
        self.notes.field("attribute range", name, part.line, part.text, "read" if understood else "unread")


def _inside(value: int | float, bounds: StatedRange) -> bool:
    if bounds.at_least is not None and value < bounds.at_least:
        return False
    if bounds.more_than is not None and value <= bounds.more_than:
        return False
    return bounds.at_most is None or value <= bounds.at_most


def shorten(text: str) -> str:
    """The text, cut behind some sixty letters."""
    return text if len(text) <= 60 else f"{text[:56].rstrip()} ..."
