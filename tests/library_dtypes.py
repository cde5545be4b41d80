"""The element types of floats as numpy and ml_dtypes have them: witnesses without code of the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

ML_DTYPES: Mapping[str, Any] = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
}
"""Those that numpy lacks, and that have a sign."""
DTYPES: Mapping[str, Any] = {"float": np.float32, "double": np.float64, "float16": np.float16, **ML_DTYPES}
"""All that have a sign."""
