"""The rule on passages that read differently in versions which a declaration covers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specs.files.cited_passages import READ, covered, unread
from specs.files.composition import read_document
from specs.files.declared_words import other_versions
from specs.files.spec_folders import DECLARATION, OWN_FOLDER
from specs.model.spec import Spec
from specs.rules import Told, examine


@examine("warning")
def passage_changed(spec: Spec) -> Iterator[Told]:
    """A declaration rests on a passage that reads differently in versions which nobody says to have read.

    One finding for each statement and passage, told of the newest version that the statement covers.
    """
    place = spec.declared.places.get(DECLARATION) if spec.declared is not None else None
    if place is None:
        return
    file = Path(place.file)
    folders = (file.absolute().parents[2], OWN_FOLDER)
    document = read_document(file)
    for each in unread(document, covered(document, [spec, *other_versions(spec, folders)])):
        newest = max(version for wording in each.wordings for version in wording.versions)
        if newest != spec.operator.since_version:
            continue
        source = next(wording.source for wording in each.wordings if newest in wording.versions)
        ways = "; ".join(", ".join(map(str, wording.versions)) for wording in each.wordings)
        yield Told(
            source,
            f"{each.statement.name} cites {each.passage}, which reads differently in other versions: "
            f"read them, and write `{READ}: {list(each.asked)}` beside its src",
            f"{each.place}; versions that read alike: {ways}",
        )
