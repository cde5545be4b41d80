"""Functions on trees that lists of nodes say, each with those that follow it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence


def tree_faults(
    trees: Sequence[int],
    ids: Sequence[int],
    modes: Sequence[str],
    trues: Sequence[int],
    falses: Sequence[int],
) -> list[str]:
    """What is wrong with nodes that are numbered within their trees: `twice`, `missing`, `cycle`.

    A number that occurs twice in a tree, a child that the tree has not, and a node that more than one way
    leads to, from the tree's first node or from itself.
    """
    keys = list(zip(trees, ids, strict=False))
    sides = list(zip(keys, modes, trues, falses, strict=False))
    children: dict[Hashable, tuple[Hashable, ...]] = {
        key: () if mode == "LEAF" else ((key[0], true), (key[0], false)) for key, mode, true, false in sides
    }
    roots = {tree: (tree, number) for tree, number in reversed(keys)}
    twice = ["twice"] if len(children) < len(keys) else []
    return twice + _faults(list(roots.values()), children)


def are_votes_of_leaves(
    vote_trees: Sequence[int],
    vote_ids: Sequence[int],
    trees: Sequence[int],
    ids: Sequence[int],
    modes: Sequence[str],
) -> bool:
    """Whether every vote is of a leaf, and every leaf has a vote."""
    nodes = zip(trees, ids, modes, strict=False)
    leaves = {(tree, number) for tree, number, mode in nodes if mode == "LEAF"}
    return leaves == set(zip(vote_trees, vote_ids, strict=False))


def leafy_tree_faults(
    roots: Sequence[int],
    trues: Sequence[int],
    are_leaves: Sequence[int],
    falses: Sequence[int],
    are_other_leaves: Sequence[int],
    leaves: int,
) -> list[str]:
    """The same of nodes in one list for all trees, whose leaves stand in a list of their own.

    Several ways may lead to a leaf.
    """
    children: dict[Hashable, tuple[Hashable, ...]] = {f"leaf {place}": () for place in range(leaves)}
    sides = list(zip(trues, are_leaves, falses, are_other_leaves, strict=False))
    for at, (true, is_leaf, false, is_other_leaf) in enumerate(sides):
        children[at] = (f"leaf {true}" if is_leaf else true, f"leaf {false}" if is_other_leaf else false)
    return _faults(list(roots), children)


def _faults(roots: Sequence[Hashable], children: Mapping[Hashable, tuple[Hashable, ...]]) -> list[str]:
    found = {"missing": any(child not in children for each in children.values() for child in each)}
    met: set[Hashable] = set()
    pending = list(roots)
    while pending:
        node = pending.pop()
        following = children.get(node)
        if following is None:
            found["missing"] = True
        elif node in met and following:
            found["cycle"] = True
        elif following:
            met.add(node)
            pending.extend(following)
    return [fault for fault, holds in found.items() if holds]
