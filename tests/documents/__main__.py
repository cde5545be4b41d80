"""Says what OPCERT_DOCUMENTS has of the list: `python -m tests.documents [FOLDER]`.

FOLDER gets what is there, as the list names it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from opcert.vocabulary.errors import UserError
from tests.documents.gathering import AbsentDocuments, gather, read_digests, read_sources, source_of


def main(arguments: list[str]) -> int:
    """Print what is there, wrong and absent, by origin; 0 where all is there, else 1, and 2 for a mistake."""
    parser = argparse.ArgumentParser(prog="python -m tests.documents", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    folder: Path | None = parser.parse_args(arguments).folder
    with TemporaryDirectory() as passing:
        try:
            documents = gather(folder or Path(passing))
            states = {digest: documents.state(digest) for digest in read_digests()}
        except (UserError, OSError) as error:
            print(error, file=sys.stderr)
            return 2
    counts = Counter((source_of(place).documents, _word(state)) for place, state in states.items())
    for source in read_sources():
        words = [(word, counts[source.documents, word]) for word in ("there", "wrong", "absent")]
        print(f"{source.documents}: {', '.join(f'{count} {word}' for word, count in words if count)}")
        if counts[source.documents, "absent"]:
            print(f"    of {source.origin}\n    to have them: {source.get}")
    for state in states.values():
        if _word(state) == "wrong":
            print(state)
    return int(any(states.values()))


def _word(state: UserError | None) -> str:
    return "there" if state is None else "absent" if isinstance(state, AbsentDocuments) else "wrong"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
