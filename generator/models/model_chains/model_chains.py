"""Chains of a model: what of its neighbours can be asked of a runtime, and why not of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, prod

import numpy as np
from numpy.typing import NDArray

from conformance.checked_models.model_calls import Extent, ModelFacts, ModelNode, ModelValue
from conformance.suite.cases import Case
from generator.models.chains.carrying import MOVING, is_exact
from generator.models.chains.chain_cases import case_of_chain
from generator.models.chains.chains import Chain, Link, powers, whole
from generator.models.chains.node_answers import Unpushed, folds
from generator.models.chains.pushing import worlds_of
from generator.models.check.call_clock import OutOfTime, within_seconds
from generator.models.check.model_cases import PartCache
from generator.models.check.node_calls import MOST_INPUTS
from generator.models.check.own_models import OPEN, SHAPES
from generator.models.model_chains.node_groups import KeptChain, NodeGroup, groups_of_model, key_of_group
from opcert.vocabulary.attributes import Attribute, attribute
from opcert.vocabulary.element_types import ELEMENT_TYPES, ElementType
from opcert.vocabulary.errors import OpcertError
from opcert.vocabulary.tensors import Tensor

MOST_ELEMENTS = 1 << 12
"""A tensor of a chain has no more: its results are worked out in exact arithmetic."""
_KEPT = 7
"""Extents up to this are kernels, groups, ranks and the like as often as not, and stay."""
_UNKNOWN = 2
_DIVISORS = (4, 8, 16, 32, 64, 128)

Shrink = Callable[[Extent], int]


def ways_to_shrink(values: Sequence[ModelValue]) -> Iterator[Shrink]:
    """Ways to give each extent of some values a length, the plainest first; unknown ones get a small one.

    The model's own; all large ones divided by one number, which keeps that one is the product of two; each
    large one a number of its own.
    """
    extents = [extent for value in values for extent in value.shape or ()]
    names = dict.fromkeys(extent for extent in extents if isinstance(extent, str))
    named = {name: 2 + at % 3 for at, name in enumerate(names)}
    large = sorted({extent for extent in extents if isinstance(extent, int) and extent > _KEPT})
    tables: list[Mapping[int, int]] = [{}]
    tables += [{each: each // by for each in large if each % by == 0} for by in _DIVISORS]
    tables.append({each: _KEPT + 1 + 2 * at for at, each in enumerate(large)})
    tables.append({each: 2 + 2 * at for at, each in enumerate(large)})
    seen: list[Mapping[int, int]] = []
    for table in tables:
        if table not in seen:
            seen.append(table)
            yield _shrink(named, table)


def _shrink(named: Mapping[str, int], table: Mapping[int, int]) -> Shrink:
    def found(extent: Extent) -> int:
        if isinstance(extent, str):
            return named.get(extent, _UNKNOWN)
        return _UNKNOWN if extent is None else table.get(extent, extent)

    return found


def values_around(nodes: Sequence[ModelNode]) -> list[ModelValue]:
    """Every value that some nodes take, each once, those between them among them."""
    found: dict[str, ModelValue] = {}
    for node in nodes:
        for value in node.inputs:
            if value is not None:
                found.setdefault(value.name, value)
    return list(found.values())


_POSITIVE_POWERS = frozenset(
    {("QuantizeLinear", 1), ("DequantizeLinear", 1), ("BatchNormalization", 1), ("Div", 1), ("Resize", 2)}
)
"""Inputs, by operator and place, that scale: powers of two."""
_POSITIVE = frozenset({("BatchNormalization", 4), ("Sqrt", 0), ("Log", 0)})
_SHAPES = frozenset({("Reshape", 1), ("Expand", 1), ("ConstantOfShape", 0)})


EXACT_EPSILON = 0.5
_VARIANCES = (3.5, 0.5, 15.5)
"""With this epsilon, variances of which the root is a power of two."""


@dataclass(frozen=True)
class ChainNumbers:
    """What is kept of a model's numbers: those of its small constants, the epsilon of normalizations."""

    numbers: bool = True
    epsilon: bool = True


def value_for(
    key: str, value: ModelValue, node: ModelNode, place: int, shrink: Shrink, kept: ChainNumbers
) -> Tensor:
    """A tensor for an input of a node, of the model's type and of its shape as `shrink` makes it.

    Of small constants of the model integers stand as they are, for these say shapes, axes and places, and
    with `kept.numbers` others as well. Raises Unpushed where type or shape are not known, or it is too large.
    """
    if value.constant is not None:
        constant = _shrunk_constant(value.constant, node, place, shrink)
        stays = kept.numbers or not constant.element_type.is_float
        fits = value.shape is None or tuple(map(shrink, value.shape)) == constant.shape
        if stays and (fits or constant.array.size == 1 or constant.element_type.name == "int64"):
            return constant
    if value.element_type not in ELEMENT_TYPES or value.shape is None:
        raise Unpushed(f"type or shape of an input of {node.op_type} are not known")
    kind = ELEMENT_TYPES[value.element_type]
    shape = tuple(map(shrink, value.shape))
    if prod(shape) > MOST_ELEMENTS:
        raise Unpushed("the tensors are too large to be worked out exactly", got=f"{list(shape)}")
    if (node.op_type, place) == ("BatchNormalization", 4) and not kept.epsilon:
        return Tensor(kind, np.resize(np.array(_VARIANCES, kind.storage), shape))
    return Tensor(kind, _numbers(key, kind, shape, node.op_type, place))


def _shrunk_constant(constant: Tensor, node: ModelNode, place: int, shrink: Shrink) -> Tensor:
    """A constant as it is; one that says a shape with the extents that stand for its own."""
    if (node.op_type, place) not in _SHAPES:
        return constant
    array = np.array([shrink(int(each)) for each in constant.array.reshape(-1).tolist()], np.int64)
    return Tensor(constant.element_type, array.reshape(constant.shape))


def _numbers(
    key: str, kind: ElementType, shape: tuple[int, ...], operator: str, place: int
) -> NDArray[np.generic]:
    if kind.name == "bool":
        return whole(key, *shape, least=0, most=1, dtype=np.bool_)
    if kind.is_integer and kind.bits >= 8:
        low = 0 if kind.kind == "unsigned" or kind.bits >= 32 else -6
        most = 1 if kind.bits >= 32 else 12
        if (operator, place) in (("QuantizeLinear", 2), ("DequantizeLinear", 2)):
            low, most = 2, 2
        return whole(key, *shape, least=low, most=most, dtype=kind.storage)
    if kind.name in ("float", "double", "float16"):
        if (operator, place) in _POSITIVE_POWERS:
            return np.abs(powers(key, *shape, least=-2, most=1)).astype(kind.storage)
        least = 1 if (operator, place) in _POSITIVE else -4
        return whole(key, *shape, least=least, most=4, dtype=kind.storage)
    raise Unpushed(f"no data is made of {kind}")


def open_shapes(
    nodes: Sequence[ModelNode], names: Mapping[str, str], given: Mapping[str, Tensor]
) -> dict[str, tuple[int | str, ...]]:
    """The shapes of what nodes are fed, with open extents where the model's own inputs have these by name.

    `names` are the chain's names of the model's values, `given` what is fed by those; names of a model go no
    further. Nothing where an extent is open that only inference leaves open, or none is.
    """
    found: dict[str, tuple[int | str, ...]] = {}
    known: dict[str, str] = {}
    for node in nodes:
        for value in node.inputs:
            if value is None or names[value.name] not in given:
                continue
            name = names[value.name]
            if value.shape is None or any(
                not isinstance(extent, int) and extent not in node.run_extents for extent in value.shape
            ):
                return {}
            lengths = given[name].shape
            found[name] = tuple(
                known.setdefault(extent, f"n{len(known)}") if isinstance(extent, str) else length
                for extent, length in zip(value.shape, lengths, strict=True)
            )
    return found if known else {}


MOST = 400
"""So many groups are looked at, the first of a model."""
MOST_SECONDS = 20.0
"""Of the processor, for the case of one group."""
_EXTENTS = frozenset({"group", "kernel_shape"})
_WITH_BIAS = frozenset({"Conv", "ConvTranspose", "Gemm"})
_PLAIN = MOVING | {"Cast", "Relu", "Shape", "ConstantOfShape", "Gather"}
"""Operators that compute nothing that could be computed in another way."""
_SUMS = frozenset({"Add", "Sub", "MatMul", "Gemm", "Conv"})
_OF_SUMS = frozenset({"Erf", "Exp", "Gelu", "LayerNormalization", "Sigmoid", "Softmax", "Tanh"})
"""Operators of whose exact argument no other sum is made, whatever it is fused with."""


@dataclass(frozen=True, eq=False)
class ModelChain:
    """Nodes of a model, and the case of the chain that stands for them; or why there is none."""

    nodes: tuple[ModelNode, ...]
    case: Case | None
    why: str = ""

    @property
    def path(self) -> str:
        """The names of the operators in order."""
        return " > ".join(node.op_type for node in self.nodes)


def chains_of_model(
    facts: ModelFacts, most: int = MOST, kept: PartCache[KeptChain] | None = None
) -> Iterator[ModelChain]:
    """What can be asked about the neighbours in a model: each distinct group of nodes once, at most so many.

    A case has the model's operator versions, attributes, types, integer constants and ranks. Extents that are
    large or not known are others, and so are weights, and where nothing is exact otherwise the epsilon of a
    normalization: data is such that what stands between two nodes is one
    exact value for every right program. What the model's own inputs leave open is open in the case's model,
    too, where nothing else is. No runtime is asked. Chains that were made before come from `kept`,
    and others go there; what failed or took too long is not kept.
    """
    for _, group in zip(range(most), groups_of_model(facts), strict=False):
        key = "" if kept is None else key_of_group(group, facts.opsets)
        found = None if kept is None else kept.find(group.operators, key, KeptChain.case)
        if found is not None:
            yield ModelChain(group.nodes, *found)
            continue
        case, why, lasts = None, "", True
        try:
            with within_seconds(MOST_SECONDS):
                case = _case(group, facts.opsets)
        except Unpushed as error:
            why = error.problem
        except OutOfTime:
            why, lasts = f"making its case takes longer than {MOST_SECONDS:g} seconds of the processor", False
        except Exception as error:  # noqa: BLE001 - one chain never stops the others
            why, lasts = f"making its case failed: {type(error).__name__}: {error}", False
        if kept is not None and lasts:
            kept.keep(group.operators, key, KeptChain.of(case, why))
        yield ModelChain(group.nodes, case, why)


def _case(group: NodeGroup, opsets: Mapping[str, int]) -> Case:
    """The case of a group under the first way to shrink it that the references take; raises Unpushed."""
    for node in group.nodes:
        if any(value is not None and value.kind for value in (*node.inputs, *node.outputs)):
            raise Unpushed(f"{node.op_type} takes or gives what is no tensor")
        if node.operator is None:
            why = node.unknown or "no name"
            raise Unpushed(f"{node.op_type} is no operator version that is known: {why}")
        if len(node.inputs) > MOST_INPUTS:
            raise Unpushed(f"{node.op_type} has more than {MOST_INPUTS:,} inputs")
        if node.unread:
            unread = ", ".join(sorted(node.unread))
            raise Unpushed(f"no chain can hold the graphs or large values of {node.op_type} ({unread})")
    last = Unpushed("no extents were found that fit")
    values = values_around(group.nodes)
    for kept in _ways_to_keep(group, values):
        for shrink in ways_to_shrink(values):
            try:
                chain = _chain(group, opsets, shrink, kept)
                _check_told(chain)
                return case_of_chain(chain)
            except Unpushed as error:
                last = error
            except OpcertError as error:
                last = Unpushed(error.problem)
    raise last


def _ways_to_keep(group: NodeGroup, values: Sequence[ModelValue]) -> Iterator[ChainNumbers]:
    """What is kept of the model's own numbers, most first; the same is not tried twice."""
    small = [value.constant for value in values if value.constant is not None]
    if any(tensor.element_type.is_float for tensor in small):
        yield ChainNumbers()
    yield ChainNumbers(numbers=False)
    if any(node.op_type == "BatchNormalization" for node in group.nodes):
        yield ChainNumbers(numbers=False, epsilon=False)


def _chain(group: NodeGroup, opsets: Mapping[str, int], shrink: Shrink, kept: ChainNumbers) -> Chain:
    names: dict[str, str] = {}
    given: list[tuple[str, Tensor]] = []
    constants: list[tuple[str, Tensor]] = []
    links = []
    for node in group.nodes:
        for place, value in enumerate(node.inputs):
            if value is None or value.name in names:
                continue
            # No name of the model's is in it: the same nodes have the same data in every model.
            key = f"{len(names)} {node.op_type} {place}"
            tensor = value_for(key, value, node, place, shrink, kept)
            into = constants if value.is_constant or value.constant is not None else given
            # Names of a model are somebody's text: they go no further.
            names[value.name] = f"C{len(constants) + 1}" if into is constants else f"X{len(given) + 1}"
            into.append((names[value.name], tensor))
        for value in node.outputs:
            if value is not None:
                names[value.name] = f"Y{len(names) + 1}"
        links.append(_link(node, names, shrink, kept))
    taken = {name for link in links for name in link.inputs}
    outputs = [name for link in links for name in link.outputs if name and name not in taken]
    shapes = open_shapes(group.nodes, names, dict(given))
    return Chain(
        word=_word(group.path),
        links=tuple(links),
        given=tuple(given),
        constants=tuple(_with_scales_of_biases(group, names, dict(constants)).items()),
        outputs=tuple(outputs),
        why="nodes that stand so in a model",
        levels={SHAPES: OPEN} if shapes else {},
        shapes=shapes,
        opset=opsets.get("ai.onnx", opsets.get("", 0)),
    )


def _with_scales_of_biases(
    group: NodeGroup, names: Mapping[str, str], constants: dict[str, Tensor]
) -> Mapping[str, Tensor]:
    """The constants, with each quantised bias in the steps of the products that it is added to.

    Runtimes compute with integers where that is so, as writers of quantised models make it: what they do
    with other scales is none of a model that has these.
    """
    scales = {
        value.name: node.inputs[1]
        for node in group.nodes
        if node.op_type == "DequantizeLinear"
        for value in node.outputs[:1]
        if value is not None
    }
    for node in group.nodes:
        own = [scales.get(value.name) for value in node.inputs[:3] if value is not None]
        first, second, bias = own if len(own) == 3 else (None, None, None)
        if node.op_type not in _WITH_BIAS or first is None or second is None or bias is None:
            continue
        own_product = _product_like(first.constant, second.constant, bias.constant)
        if constants.get(names[bias.name]) == bias.constant or _are_others(own_product, bias.constant):
            continue
        drawn = [constants.get(names[value.name]) for value in (first, second, bias)]
        if (product := _product_like(*drawn)) is not None:
            constants[names[bias.name]] = product
    return constants


def _are_others(products: Tensor | None, steps: Tensor | None) -> bool:
    """Whether a model's bias is known to have other steps than the products, but for their rounding."""
    if products is None or steps is None:
        return False
    pairs = zip(products.array.reshape(-1).tolist(), steps.array.reshape(-1).tolist(), strict=True)
    return not all(isclose(one, other, rel_tol=1e-3) for one, other in pairs)


def _product_like(first: Tensor | None, second: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """The products of scales in the shape of a bias's; None where one is not known, or they do not fit."""
    if first is None or second is None or bias is None or first.array.ndim > 1 or second.array.ndim > 1:
        return None
    product = first.array.reshape(-1) * second.array.reshape(-1)
    if product.size not in (1, bias.array.size):
        return None
    return Tensor(bias.element_type, np.resize(product, bias.shape).astype(bias.array.dtype))


def _link(node: ModelNode, names: Mapping[str, str], shrink: Shrink, kept: ChainNumbers) -> Link:
    assert node.operator is not None
    inputs, outputs = (
        [names[value.name] if value is not None else "" for value in values]
        for values in (node.inputs, node.outputs)
    )
    while outputs and not outputs[-1]:
        outputs.pop()
    attributes = dict(node.attributes)
    if node.op_type in ("Conv", "ConvTranspose"):
        for name in _EXTENTS & attributes.keys():
            attributes[name] = _shrunk(attributes[name], shrink)
    if node.op_type == "BatchNormalization" and not kept.epsilon:
        attributes["epsilon"] = attribute("float", EXACT_EPSILON)
    return Link(node.operator, attributes, tuple(inputs), tuple(outputs))


def _shrunk(given: Attribute, shrink: Shrink) -> Attribute:
    """An attribute that says extents of weights, with those that stand for them."""
    found = tuple(shrink(int(number)) for number in given.numbers)
    return replace(given, value=found if isinstance(given.value, tuple) else found[0])


def _word(path: str) -> str:
    return "_".join(word.lower() for word in path.replace(".", " ").replace(">", " ").split())[:100]


def _check_told(chain: Chain) -> None:
    """Raise Unpushed where a program that fuses the nodes might honestly be farther off than each of them.

    Nobody is where all is exact, where all but one compute nothing, and where a bound of the two is derived.
    """
    computing = [link for link in chain.links if link.operator.name not in _PLAIN]
    if len(computing) < 2:
        return
    first, second, *more = computing
    of_sum = first.operator.name in _SUMS and second.operator.name in _OF_SUMS
    for world in worlds_of(chain.links, chain.data):
        inexact = [
            link
            for link in computing
            if not all(is_exact(world.values[name]) for name in link.outputs if name)
        ]
        derived = not more and inexact == [second] and (of_sum or folds(first, second))
        if inexact and not derived:
            raise Unpushed("of these together no bound is derived")
