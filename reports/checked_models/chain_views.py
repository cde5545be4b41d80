"""What the page of a check says of the chains of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reports.checked_models.chain_answers import CheckedChain
from reports.checked_models.chain_words import answer_of_chain, nodes_of_chain, path_of_chain
from reports.checked_models.check_views import RuntimeView, said_of, view_cause
from reports.checked_models.model_check import ModelCheck


@dataclass(frozen=True)
class ChainView:
    """A chain, its nodes, and what runtimes make of it; causes only of what fewer nodes do not tell."""

    chain: CheckedChain
    path: str
    nodes: str
    runtimes: tuple[RuntimeView, ...]

    @property
    def telling(self) -> bool:
        """Whether some runtime fails it of itself."""
        return any(each.causes for each in self.runtimes)


def view_chains(check: ModelCheck, most_detailed: int) -> Iterator[ChainView]:
    """The chains that were asked; so many causes, the first ones, have their smallest case with them."""
    room = most_detailed
    for place, chain in enumerate(each for each in check.chains if each.case):
        runtimes = []
        for runtime in check.runtimes:
            if place >= len(runtime.chains):
                continue
            answer = runtime.chains[place]
            told = () if answer.is_known else answer.own.causes
            causes = tuple(view_cause(answer.own, each, at < room) for at, each in enumerate(told))
            room -= len(causes)
            said = said_of(answer.answer, answer_of_chain(answer))
            why = answer.own.why if answer.answer == "uncovered" else ""
            runtimes.append(RuntimeView(runtime.label, said, why, causes))
        yield ChainView(chain, path_of_chain(chain), nodes_of_chain(chain), tuple(runtimes))
