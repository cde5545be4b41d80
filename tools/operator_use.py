"""How often operators are used: node types counted over ONNX models out of packages that people install.

Usage: uv run python -m tools.operator_use PACKAGE==VERSION=FOLDER... > reports/causes/operator_use.yaml

Each FOLDER holds an unpacked package. Every `.onnx` file below it is read, its weights are not. Of files of
one package that have the same number of nodes of each type one counts: such are one model with other weights.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import onnx
from onnx import GraphProto, ModelProto, NodeProto

from tools.asked import exit_code_of

_HEAD = """# How often operators are used: in how many of these models each occurs, and as how many nodes.
# Written by tools/operator_use.py; it puts causes in order that are alike in where they show and in what
# they cost, and says nothing else.
"""


def main(words: Sequence[str]) -> int:
    """Print the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE==VERSION=FOLDER")
    models: list[tuple[str, str, Counter[str]]] = []
    for word in parser.parse_args(words).packages:
        package, _, folder = word.rpartition("=")
        seen: set[tuple[tuple[str, int], ...]] = set()
        for path in sorted(Path(folder).rglob("*.onnx")):
            counts = Counter(_types(onnx.load(path, load_external_data=False)))
            alike = tuple(sorted(counts.items()))
            if alike not in seen:
                seen.add(alike)
                models.append((package, path.stem, counts))
    nodes: Counter[str] = Counter()
    occurring: Counter[str] = Counter()
    named: dict[str, list[str]] = defaultdict(list)
    for package, name, counts in models:
        nodes.update(counts)
        occurring.update(counts.keys())
        named[package].append(name)
    print(_HEAD, end="")
    print(f'date: "{datetime.now(UTC).date().isoformat()}"')
    print("source: ONNX files inside packages of the Python index")
    print("models:")
    for package, names in named.items():
        print(f"  {package}: [{', '.join(names)}]")
    print("operators:")
    for operator, number in sorted(occurring.items(), key=lambda found: (-found[1], found[0])):
        print(f"  {operator}: {{models: {number}, nodes: {nodes[operator]}}}")
    return 0


def _types(model: ModelProto) -> Iterator[str]:
    for function in model.functions:
        yield from _of_nodes(function.node)
    yield from _of_graph(model.graph)


def _of_graph(graph: GraphProto) -> Iterator[str]:
    yield from _of_nodes(graph.node)


def _of_nodes(nodes: Sequence[NodeProto]) -> Iterator[str]:
    for node in nodes:
        yield f"{node.domain or 'ai.onnx'}::{node.op_type}"
        for attribute in node.attribute:
            graphs = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
            for graph in graphs:
                yield from _of_graph(graph)


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
