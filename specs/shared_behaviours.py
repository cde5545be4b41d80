"""What documents of several operators leave to the implementation, said once; `curated.yaml` names the id."""

from __future__ import annotations

from collections.abc import Mapping

SHARED: Mapping[str, Mapping[str, object]] = {
    "integer_conversion": {
        "question": "how a result between two integers becomes an integer",
        "options": {
            "truncate": "towards zero",
            "floor": "downwards",
            "half_even": "to the nearest integer, halves to the even one",
            "half_away": "to the nearest integer, halves away from zero",
            "half_up": "to the nearest integer, halves upwards",
        },
        "why": "the document allows integer types in every mode and says nothing of rounding",
    },
    "integer_overflow": {
        "question": "what becomes of a result beyond an integer type's range",
        "options": {
            "saturate": "the nearest number of the type",
            "wrap": "the number modulo two to the power of the type's width",
        },
        "why": "the document allows integer types in every mode and says nothing of overflow",
    },
    "integer_steps": {
        "question": "when an antialiased mean over several axes becomes an integer",
        "options": {
            "once": "at the end",
            "from_last_axis": "to nearest after each axis, from the last to the first",
            "from_first_axis": "to nearest after each axis, from the first to the last",
        },
        "why": "the document speaks of one mean over all axes, and of integers between two axes nowhere",
    },
    "subnormals": {
        "question": "whether subnormal numbers keep their value",
        "options": {"kept": "they do", "flushed": "each may become zero"},
        "why": "no document of the operator names a floating-point environment",
    },
    "negative_zeros": {
        "question": "whether negative zeros that are moved stay negative",
        "options": {"kept": "they do", "lost": "they may become positive"},
        "why": "no document of the operator names the sign of zero; the two zeros are equal numbers",
    },
    "unlisted_axes": {
        "question": "whether elements are weighed along axes that are not listed",
        "options": {
            "untouched": "they are not",
            "weighed": "with 1 and 0, so that an infinity or NaN beside an element makes NaN of it",
        },
        "why": "the document calls such axes non-resizable, and says nothing of the arithmetic along them",
    },
}
"""By id a question, its options, and why it is open: the fields of an entry under `behaviours`."""
