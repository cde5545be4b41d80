"""An eye on memory, for workers in Python: what a run changes of its inputs, and where its outputs lie.

Python 3.9 or newer, the standard library and numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from conformance.workers.worker_protocol import Header, LoadRequest

FORM = "untouched"
_MOST_WORK = 100_000


class Watched(List[Any]):
    """What a run returned, with what was seen of memory (`touched` of the protocol's `outputs`)."""

    touched: List[Header]


class Watch:
    """Looks at the arrays of a model's runs, one after the other: `given` before each, `returned` behind it.

    The outputs of a run stay until the next one, so that their memory is not free for others.
    """

    looks = True

    def __init__(self) -> None:
        self._given: Dict[str, Tuple[Any, Any]] = {}
        self._before: List[Any] = []

    def given(self, inputs: Dict[str, Any]) -> None:
        """The arrays that a run is about to get, by name; what is none is not looked at."""
        arrays = {name: array for name, array in inputs.items() if isinstance(array, np.ndarray)}
        self._given = {name: (array, _content(array)) for name, array in arrays.items()}

    def returned(self, outputs: Sequence[Any], sent: Sequence[Any]) -> Sequence[Any]:
        """`sent`, which goes to the harness, with what is to be said of what was returned (`outputs`).

        Pass no outputs where the runtime says that they are its own until the next run.
        """
        arrays = [output if isinstance(output, np.ndarray) else None for output in outputs]
        found = Watched(sent)
        found.touched = [
            {"input": name} for name, (each, content) in self._given.items() if _content(each) != content
        ]
        for place, output in enumerate(arrays):
            if output is None:
                continue
            for name, (each, _) in self._given.items():
                if _share(output, each):
                    found.touched.append({"output": place, "input": name})
            if any(_share(output, each) for each in self._before):
                found.touched.append({"output": place})
        self._before = [array for array in arrays if array is not None]
        return found


class NoWatch(Watch):
    """Looks at nothing, of a model that is loaded in another form."""

    looks = False

    def given(self, inputs: Dict[str, Any]) -> None:
        """Nothing is kept."""

    def returned(self, outputs: Sequence[Any], sent: Sequence[Any]) -> Sequence[Any]:
        """`sent` as it is."""
        return sent


def watch_for(request: LoadRequest) -> Watch:
    """A Watch for a model that is loaded in the form that asks for it, else one that looks at nothing."""
    return Watch() if request.form == FORM else NoWatch()


def _content(array: Any) -> Any:
    return array.reshape(-1).tolist() if array.dtype.kind == "O" else array.tobytes()


def _share(one: Any, other: Any) -> bool:
    """Whether two arrays have an element in one place; where that is hard to say, they have none."""
    if not np.may_share_memory(one, other):
        return False
    try:
        # numpy takes any number, its types name two of them.
        return bool(np.shares_memory(one, other, max_work=_MOST_WORK))  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - too hard a question: its class has several places in versions of numpy
        return False
