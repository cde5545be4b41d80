"""What a runtime makes of the chains of a model: nodes that stand in a row, asked as one case each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.checked_models.model_calls import ModelCall, ModelNode
from opcert.vocabulary.names import CHAINS
from reports.checked_models.call_answers import BLAMING, Answer, CallAnswer, CallCause, Setting, answer_calls
from reports.checked_models.call_evidence import CheckedCall
from reports.results.case_results import Results

_TOLD = ("entry", "message", "experiment", "allowed")
"""What tells the cause of a chain better than that its nodes stand in a row."""


@dataclass(frozen=True, eq=False)
class CheckedChain:
    """Nodes of a model in a row, its number (from 1, in the order of the model) and its case.

    `nodes` are the first that stand so; `case` is an id in the suite of the check, empty where there is none,
    and `why` says why not.
    """

    number: int
    nodes: tuple[ModelNode, ...]
    case: str = ""
    why: str = ""

    @property
    def path(self) -> str:
        """The names of the operators in order: `Transpose > MatMul`."""
        return " > ".join(node.op_type for node in self.nodes)

    @property
    def as_call(self) -> CheckedCall:
        """The chain as what is asked of its last node; of its extents the model says nothing."""
        last = replace(self.nodes[-1], inputs=())
        return CheckedCall(self.number, ModelCall(last, self.nodes), "reference", (self.case,), "", self.why)


@dataclass(frozen=True, eq=False)
class ChainAnswer:
    """What a runtime makes of a chain.

    `own` is the answer by itself; `follows` are the numbers of calls of its nodes that the runtime fails
    alone, `shorter` those of chains of some of its nodes that it fails likewise: then what is wrong in the
    chain is no finding of its own.
    """

    chain: CheckedChain
    own: CallAnswer
    follows: tuple[int, ...] = ()
    shorter: tuple[int, ...] = ()

    @property
    def answer(self) -> Answer:
        return self.own.answer

    @property
    def blames(self) -> bool:
        """Whether it speaks against the model where each node alone does not."""
        return self.answer in BLAMING and not self.is_known

    @property
    def is_known(self) -> bool:
        """Whether what is wrong in it is told of fewer nodes."""
        return bool(self.follows or self.shorter)

    @property
    def own_causes(self) -> Sequence[CallCause]:
        """The causes that fewer nodes do not tell."""
        return () if self.is_known else self.own.causes

    @property
    def setting(self) -> Setting:
        """Whether it is so under every setting of the runtime's optimisation."""
        found = _settings(self.own)
        return "optimised" if found == {"optimised"} else "any"


def answer_chains(
    chains: Sequence[CheckedChain],
    calls: Sequence[CallAnswer],
    results: Results | None,
    plain: Results | None = None,
) -> tuple[ChainAnswer, ...]:
    """What the run `results` makes of each chain, beside what it makes of the model's calls.

    `plain` is the same run without the runtime's optimisation.
    """
    asked = [chain for chain in chains if chain.case]
    own = answer_calls(
        [checked_chain.as_call for checked_chain in asked], of_chains(results), of_chains(plain)
    )
    of_place = {node.place: call for call in calls for node in call.checked.call.nodes}
    told = [_told(chain, _own(answer, chain), of_place) for chain, answer in zip(asked, own, strict=True)]
    numbers = {place: call_answer.checked.number for place, call_answer in of_place.items()}
    return tuple(
        replace(chain_answer, shorter=_shorter(chain_answer, told, numbers)) for chain_answer in told
    )


def of_chains(results: Results | None) -> Results | None:
    """The cases of chains alone: their causes are not told by what calls have in common."""
    return _part(results, chains=True)


def without_chains(results: Results | None) -> Results | None:
    """The cases of calls alone."""
    return _part(results, chains=False)


def _part(results: Results | None, *, chains: bool) -> Results | None:
    if results is None or not any(result.id.family == CHAINS for result in results.cases):
        return results
    kept = tuple(result for result in results.cases if (result.id.family == CHAINS) is chains)
    return replace(results, cases=kept)


def _own(answer: CallAnswer, chain: CheckedChain) -> CallAnswer:
    if answer.answer == "refused" and answer.asked == answer.unsupported:
        # Who takes models of one node alone is blamed for nothing: what is not offered is told of calls.
        said = "; ".join(cause.title for cause in answer.causes)
        return replace(answer, answer="uncovered", causes=(), why=f"the runtime {said}")
    return replace(answer, causes=tuple(_titled(cause, chain) for cause in answer.causes))


def _titled(cause: CallCause, chain: CheckedChain) -> CallCause:
    found = cause.found
    if found is None or found.told in _TOLD:
        return cause
    return replace(cause, title=f"{found.verb} where {chain.path} stand in a row")


def _told(chain: CheckedChain, own: CallAnswer, of_place: Mapping[str, CallAnswer]) -> ChainAnswer:
    settings = _settings(own)
    if own.answer not in BLAMING:
        return ChainAnswer(chain, own)
    alone = [of_place[node.place] for node in chain.nodes if node.place in of_place]
    # What a node does wrong whether it is optimised or not explains nothing that is wrong optimised alone.
    reasons = [
        call_answer.checked.number
        for call_answer in alone
        if (_settings(call_answer) & settings if settings == {"optimised"} else _settings(call_answer))
    ]
    return ChainAnswer(chain, own, tuple(dict.fromkeys(reasons)))


def _shorter(answer: ChainAnswer, among: Sequence[ChainAnswer], calls: Mapping[str, int]) -> tuple[int, ...]:
    """The numbers of chains of calls that stand side by side in a chain, and fail in the way that it does."""
    if answer.answer not in BLAMING or answer.follows:
        return ()
    whole = _calls_of(answer, calls)
    return tuple(
        chain_answer.chain.number
        for chain_answer in among
        if (chain_answer.answer, _settings(chain_answer.own)) == (answer.answer, _settings(answer.own))
        and not chain_answer.follows
        and len(chain_answer.chain.nodes) < len(whole)
        and _stands_in(_calls_of(chain_answer, calls), whole)
    )


def _calls_of(answer: ChainAnswer, calls: Mapping[str, int]) -> list[int | None]:
    return [calls.get(node.place) for node in answer.chain.nodes]


def _stands_in(part: Sequence[int | None], whole: Sequence[int | None]) -> bool:
    if None in part:
        return False
    return any(list(whole[at : at + len(part)]) == list(part) for at in range(len(whole)))


def _settings(answer: CallAnswer) -> set[Setting]:
    return {cause.setting for cause in answer.causes} - {"unoptimised"}
