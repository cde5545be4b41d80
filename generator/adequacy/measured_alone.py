"""Measures one operator in a process of its own, for a worker of a cluster, which may start no pool of them.

`python -m generator.adequacy.measured_alone SUITE OPERATOR NODES FILE` writes what `opcert adequacy` finds of
the operator's cases into FILE; NODES is 1 where ONNX's node tests are asked about the same mutants.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from generator.adequacy.jobs import limit_memory, measure_operator
from generator.adequacy.kept import kept_json
from opcert.vocabulary.names import OperatorName

_TICK = 1.0


def main(words: list[str]) -> None:
    suite, operator, nodes, written = words
    threading.Thread(target=_go_with, args=(os.getppid(),), daemon=True).start()
    limit_memory()
    found = measure_operator(Path(suite), OperatorName.parse(operator), (), nodes == "1")
    Path(written).write_text(kept_json(found), encoding="utf-8")


def _go_with(parent: int) -> None:
    """End this process when the one that started it has been killed: nobody waits for what it finds."""
    while os.getppid() == parent:
        time.sleep(_TICK)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
