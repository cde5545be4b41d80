"""Recurrent cells, attention, states and transforms as honest programs in float32 and faulty ones have them.

The programs are those that the tests of these families hold against the bounds, several routes of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.trials import Array, Outputs, Trial, share_of
from tests.reference import test_attentions as attentions
from tests.reference import test_fourier_transforms as transforms
from tests.reference import test_linear_attentions as linear
from tests.reference import test_recurrent_cells as cells
from tests.reference.linear_attention_programs import by_steps
from tests.reference.recurrent_programs import Cell, programs

F32 = np.float32
SEEDS = 12
"""Draws of each call of recurrent operators."""


def recurrences() -> Iterator[Trial]:
    ways = programs(F32)
    for name, call in cells.NAMED:
        attributes = cells.CALLS[name][call]
        faults = [each for each, calls in cells.FAULTS.items() if (name, call) in calls]
        for seed in range(SEEDS):
            given = cells.inputs_of(name, call, "float", seed)
            asked = cells.asked(name, call, "float", seed)
            yield Trial(
                name,
                share_of(asked, range(3 if name == "LSTM" else 2)),
                [tuple(Cell(name, way, attributes).run(given)) for way in ways.values()],
                {
                    fault: tuple(Cell(name, ways["matrices"], attributes, fault).run(given))
                    for fault in faults
                    if fault != "past the end"
                },
            )


ATTENTION_FAULTS: Mapping[str, Mapping[str, Any]] = {
    "the scale forgotten": {"scaling": "none"},
    "the root of the scale once": {"scaling": "once"},
    "heads from the last": {"fault": "heads from the last"},
    "queries one place on": {"off": 1},
    "the past behind": {"fault": "the past behind"},
    "the mask twice": {"fault": "mask twice"},
    "the cap after the mask": {"fault": "cap after the mask"},
}


def attended() -> Iterator[Trial]:
    mixes = [attentions.HONEST[each] for each in ("whole rows", "key by key", "powers of two")]
    for call, given in attentions.CALLS.items():
        asked = attentions.asked(call, "float")
        faults = {
            word: each
            for word, each in ATTENTION_FAULTS.items()
            if word != "the cap after the mask" or "softcap" in given
        }
        yield Trial(
            "Attention",
            share_of(asked, (0, len(asked.accepted[0]) - 1)),
            [
                attentions.program(call, "float", mix, scaling=scaling)
                for mix in mixes
                for scaling in ("roots", "at the end", "of queries")
            ],
            {
                word: attentions.program(call, "float", attentions.whole, **each)
                for word, each in faults.items()
            },
        )


LINEAR_FAULTS = (
    "gate of the other sign",
    "gate of values",
    "gate behind",
    "gate not in what is kept",
    "rate of the first head",
    "no delta",
    "no rate",
    "read before it is written",
    "no scale",
    "the last state but one",
    "state in bfloat16",
)


def attended_by_states() -> Iterator[Trial]:
    for call in linear.CALLS:
        held = linear.held(call, "float")
        yield Trial(
            "LinearAttention",
            share_of(linear.asked(call, "float"), (0, 1)),
            [route(held) for route in linear.HONEST.values()],
            {fault: by_steps(held, fault=fault) for fault in LINEAR_FAULTS},
        )


def transformed() -> Iterator[Trial]:
    routes = [transforms.HONEST[each] for each in ("sums", "a table", "factors", "chirps")]
    for seed, count in enumerate(transforms.LENGTHS[1:]):
        signal = (1 + transforms.draws(seed).random(size=(count, 2))).astype(F32)
        wide = signal[:, 0].astype(np.float64) + 1j * signal[:, 1]
        yield Trial(
            "DFT",
            share_of(transforms.asked(signal), (0,)),
            [(transforms.parts(route(wide.astype(np.complex64), False)).astype(F32),) for route in routes],
            {word: (transforms.parts(fault(wide)).astype(F32),) for word, fault in transforms.FAULTS.items()},
        )
    for length in (4, 5, 8):
        yield _framed(length, [*routes])


def _framed(length: int, routes: Sequence[transforms.Transform]) -> Trial:
    signal = (1 + transforms.draws(length).random(size=(1, 20, 1))).astype(F32)
    window = (0.5 + transforms.draws(2).random(length)).astype(F32)

    def frames(route: transforms.Transform, by: Array, start: int = 0) -> Outputs:
        rows = [
            route((signal[0, at + start : at + start + length, 0] * by).astype(np.complex64), False)
            for at in range(0, 20 - length, 3)
        ]
        return (transforms.parts(np.array(rows)[:, : length // 2 + 1]).astype(F32)[None],)

    # One sample more than the frames take, for the fault that begins a sample later.
    asked = transforms.framed(signal[:, :-1], 3, window, None)
    faults = {
        "no window": frames(routes[0], np.ones(length, F32)),
        "the window twice": frames(routes[0], window * window),
        "the window backwards": frames(routes[0], window[::-1]),
        "a sample later": frames(routes[0], window, 1),
    }
    return Trial("STFT", share_of(asked, (0,)), [frames(each, window) for each in routes], faults)
