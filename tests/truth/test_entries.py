"""Entries of `disagreements.yaml` about calls: their ids, and the passages that they cite."""

from __future__ import annotations

import pytest

from generator.trust.witnesses.truth_table import read_explanations
from reference.readings.disagreements import FILE_NAME
from specs.files.library import load_spec
from specs.files.spec_folders import OWN_FOLDER, list_operators, room_of
from tests.documents.cited import assert_cited
from tests.documents.gathering import Documents


def test_rooms_and_what_is_alike_share_no_id_of_calls() -> None:
    """An explanation is found again by its id, in the operator's room or beside all rooms."""
    rooms = [
        explanation for path in OWN_FOLDER.glob(f"*/*/{FILE_NAME}") for explanation in read_explanations(path)
    ]
    alike = {explanation.id for explanation in read_explanations(OWN_FOLDER / FILE_NAME)}
    assert alike
    assert not alike & {room.id for room in rooms}


@pytest.mark.slow
def test_every_passage_that_blames_a_witness_stands_in_a_document(documents: Documents) -> None:
    rooms = {path.parent: path for path in OWN_FOLDER.glob(f"*/*/{FILE_NAME}")}
    cited = 0
    for room, path in {**rooms, OWN_FOLDER: OWN_FOLDER / FILE_NAME}.items():
        versions = [
            operator for operator in list_operators() if room in (room_of(operator, OWN_FOLDER), OWN_FOLDER)
        ]
        files = {document.file for version in versions for document in load_spec(version).documents}
        for told in read_explanations(path):
            for passage in told.passage:
                assert passage.partition(":")[0] in files, (told.id, passage)
                assert_cited(documents, passage)
                cited += 1
    assert cited > 5
