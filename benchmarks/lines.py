"""What an operator costs in lines, before operators had rooms and now: the tables of docs/lines.md.

Usage: uv run python -m benchmarks.lines [--before COMMIT] [--code COMMIT]

Prints the lines of declarations and references that are here now. With --before those of a commit in which
specs had `curated.yaml` and operators modules of levels; with --code the lines of Python added since a commit
and removed. Empty lines and lines of comment are not counted, but with --code, which asks `git diff`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.asked import exit_code_of
from benchmarks.declarations import lines_of
from generator.making.opsets import default_operators
from opcert.vocabulary.names import OperatorName
from specs.spec_folders import OWN_FOLDER

ROOT = OWN_FOLDER.parent
FIRST = {
    "ai.onnx::CenterCropPad": ((18,), "center_crop_pad"),
    "ai.onnx::Resize": ((10, 11, 13, 18, 19), "resize"),
    "com.microsoft::Pad": ((1,), "pad"),
    "org.openvino::ExtractImagePatches": ((3,), "extract_image_patches"),
    "org.tensorflow::BatchToSpaceND": ((1,), "batch_to_space"),
}
"""The operators that opcert began with: their versions, and how their modules are called."""


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.lines")
    parser.add_argument("--before")
    parser.add_argument("--code")
    asked = parser.parse_args(words)
    print("\n".join([*nine_now(), "", all_now()]))
    if asked.before:
        print("\n".join(["", *_nine_before(asked.before)]))
    if asked.code:
        print("\n".join(["", *_code_since(asked.code)]))
    return 0


def nine_now() -> Iterator[str]:
    """The table of the first operators as they are now."""
    yield "| operator | versions | `spec.yaml` | reference | a version |"
    yield "|---|---|---|---|---|"
    for name, (versions, module) in FIRST.items():
        domain, _, short = name.partition("::")
        spec = lines_of(OperatorName(domain, short, versions[-1]))
        reference = count_lines(
            (ROOT / "reference" / "operators" / f"{module}.py").read_text(encoding="utf-8")
        )
        each = round((spec + reference) / len(versions))
        yield f"| `{short}` | {len(versions)} | {spec} | {reference} | {each} |"


def all_now() -> str:
    """One sentence on the declarations of all operators of the default suite."""
    counted = {each: lines_of(each) for each in default_operators()}
    most = max(counted, key=lambda each: (counted[each], str(each)))
    middle, total = median(counted.values()), sum(counted.values())
    return (
        f"`spec.yaml` of the {len(counted)} operators of the default suite has {middle:g} lines "
        f"in the median and {counted[most]} at most ({most.name}), {total} in all."
    )


def count_lines(text: str) -> int:
    """The lines that are neither empty nor comment."""
    return sum(1 for each in text.splitlines() if each.strip() and not each.strip().startswith("#"))


def _nine_before(commit: str) -> Iterator[str]:
    """The same operators in a commit in which versions had specs and operators modules of levels."""
    files = _git("ls-tree", "-r", "--name-only", commit).splitlines()
    yield "| operator | versions | `curated.yaml` | levels | explanations | reference | a version |"
    yield "|---|---|---|---|---|---|---|"
    for name, (versions, module) in FIRST.items():
        domain, _, short = name.partition("::")
        spec = _lines(commit, [f"specs/{domain}/{short}-{each}/curated.yaml" for each in versions])
        levels = _lines(commit, [each for each in files if _is_part(each, "generator/levels", module)])
        told = _lines(commit, [each for each in files if _is_part(each, "generator/explanations", module)])
        reference = _lines(commit, [f"reference/families/{module}.py"])
        each = round((spec + levels + told + reference) / len(versions))
        yield f"| `{short}` | {len(versions)} | {spec} | {levels} | {told} | {reference} | {each} |"


def _is_part(path: str, folder: str, module: str) -> bool:
    """Whether a file is an operator's module in a folder, or one that only this module needs."""
    file = Path(path)
    return file.parent.as_posix() == folder and (
        file.stem == module or (file.stem.startswith(f"_{module}_") and file.suffix == ".py")
    )


def _code_since(commit: str) -> Iterator[str]:
    """Lines of Python added since a commit, and removed, by folder."""
    added, removed = Counter[str](), Counter[str]()
    for line in _git("diff", "--numstat", "-M", commit, "--", "*.py").splitlines():
        plus, minus, path = line.split("\t")
        folder = path.partition("/")[0].strip("{")
        added[folder] += int(plus)
        removed[folder] += int(minus)
    yield "| folder | added | removed |"
    yield "|---|---|---|"
    for folder in sorted(added):
        yield f"| `{folder}/` | {added[folder]} | {removed[folder]} |"
    yield f"| all | {added.total()} | {removed.total()} |"


def _lines(commit: str, paths: Sequence[str]) -> int:
    return sum(count_lines(_git("show", f"{commit}:{each}")) for each in paths)


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
