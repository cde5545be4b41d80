"""How long somebody waits who has hundreds of operators: for the list of them, for help, for completion.

Usage: uv run python -m benchmarks.many_operators [--rounds N] [--operators N]

Makes a folder of so many operators (450 where nothing else is said), every second one with modules of its
own, and runs the installed program. Prints the least, the median and the greatest seconds, and the least of
processor seconds: what else the machine does is not in them. Where these are over 0.3 s, the row is named at
the end, exit code 1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measured import run_measured
from tests.made_up_operators import write_operators

PROGRAM = Path(sys.executable).with_name("opcert")
LIMIT = 0.3
_COMPLETION = {"COMP_WORDS": "opcert generate Resize", "COMP_CWORD": "2", "_OPCERT_COMPLETE": "bash_complete"}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--operators", type=int, default=450)
    asked = parser.parse_args()
    slow = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_operators(folder, asked.operators)
        listed = (str(PROGRAM), "list", "operators")
        rows = {
            f"list {asked.operators} operators": ((*listed, "--specs", str(folder)), {}),
            "list what ships": (listed, {}),
            "--help": ((str(PROGRAM), "--help"), {}),
            "generate --help": ((str(PROGRAM), "generate", "--help"), {}),
            "completion of a word": ((str(PROGRAM),), _COMPLETION),
        }
        for what, (command, variables) in rows.items():
            os.environ.update(variables)
            measured = [run_measured(command) for _ in range(asked.rounds)]
            seconds = [each.seconds for each in measured]
            processor = min(each.processor for each in measured)
            print(
                f"{what:22} {min(seconds):6.3f} {statistics.median(seconds):6.3f} {max(seconds):6.3f} s"
                f" {processor:6.3f} s of processor"
            )
            if processor > LIMIT:
                slow.append(what)
    if slow:
        print(f"over {LIMIT} s of processor: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    raise SystemExit(main())
