"""Calls of whole families, with what honest programs in float32 and faulty ones make of them.

The programs are those that the tests of the families hold against the bounds, several routes of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from benchmarks.programs_of_sequences import attended, attended_by_states, recurrences, transformed
from benchmarks.trials import Array, Outputs, Trial, share_of
from tests.reference import test_losses as losses
from tests.reference import test_normalizations as normalizations
from tests.reference import test_quantised_products as products
from tests.reference import test_sampling as sampling
from tests.reference.honest_programs import Asked
from tests.reference.sampling_by_loops import EXACT, Way

F32 = np.float32


def sampled() -> Iterator[Trial]:
    for name, seed in sampling.CALLS:
        call, asked = sampling.tried(name, seed)
        faults = [
            each
            for each in sampling.FAULTS[name]
            if each != "ties upwards" or call.attributes["mode"] == "nearest"
        ]
        yield Trial(
            name,
            share_of(asked, (0,)),
            [(call.computed(way),) for way in (*sampling.WAYS.values(), EXACT)],
            {each: (call.computed(Way(faults=(each,))),) for each in faults},
        )


def normalized() -> Iterator[Trial]:
    x, (scale, bias) = normalizations.rows_of("float"), normalizations.scales_of("float")
    for name in normalizations.NAMES:
        faults = {}
        if name in ("Layer", "Group"):
            faults = {
                word: (normalizations.placed(name, fault(x, scale, bias).astype(F32)),)
                for word, fault in normalizations.FAULTS.items()
            }
        # What text and function body part in is a reading: the first expectations are those of the text.
        asked = Asked("float", normalizations.asked(name, "float").accepted[:1])
        honest = [normalizations.computed(name, "float", way) for way in normalizations.STATISTICS.values()]
        yield Trial(f"{name}Normalization", share_of(asked, (0,)), [(each,) for each in honest], faults)


def lost() -> Iterator[Trial]:
    labels = losses.data_of("float")[1]
    for name in (losses.NEGATIVE, losses.CROSS):
        for reduction in losses.REDUCTIONS:
            for weighted in (False, True):
                loss, shares = losses.losses(name, "float", weighted, F32)
                ways = [losses.reduced(loss, shares, reduction)]
                if reduction != "none":
                    for order in (_pairwise, _from_the_last):
                        summed = order(loss)
                        ways.append(np.asarray(summed if reduction == "sum" else summed / order(shares)))
                faults = losses.FAULTS if reduction == "mean" and weighted else {}
                yield Trial(
                    name,
                    share_of(losses.asked(name, "float", reduction, weighted), (0,)),
                    [(np.asarray(each).astype(F32),) for each in ways],
                    {
                        word: (np.asarray(fault(loss, shares, labels)).astype(F32),)
                        for word, fault in faults.items()
                    },
                )


def _pairwise(values: Array) -> Array:
    return np.asarray(values.sum(dtype=F32))


def _from_the_last(values: Array) -> Array:
    return np.asarray(losses.added(values[::-1]))


def quantised() -> Iterator[Trial]:
    for which in ("matrices", "convolutions"):
        for powers in (False, True):
            for case in products.cases_of(which, powers):
                yield _quantised(case, products.FAULTS | (products.BIAS if which == "convolutions" else {}))


def _quantised(case: products.Case, faults: Mapping[str, products.Program]) -> Trial:
    def run(program: products.Program) -> Outputs:
        return (np.array([program(each) for each in case.sums.values()]),)

    def share(got: Outputs) -> Array:
        places = list(case.sums)
        assert case.answered.allowed is not None
        apart = np.abs(got[0] - [int(case.answered.expected.array[each]) for each in places])
        allowed = np.array([case.answered.allowed[each] for each in places])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((apart == 0) | np.isinf(allowed), 0.0, apart / allowed)

    names = ("multiplied", "by reciprocal", "sum scaled first", "dequantised", "dequantised backwards")
    honest = [run(products.HONEST[each]) for each in names]
    return Trial(case.name, share, honest, {word: run(each) for word, each in faults.items()})


FAMILIES: Mapping[str, Callable[[], Iterator[Trial]]] = {
    "recurrences": recurrences,
    "attention": attended,
    "states instead of keys": attended_by_states,
    "sampling": sampled,
    "Fourier": transformed,
    "normalizations": normalized,
    "losses": lost,
    "quantised products": quantised,
}
