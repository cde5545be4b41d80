"""Which operator version a node means: the newest that is not above the opset of its domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onnx import __version__ as onnx_version
from onnx.defs import SchemaError, get_all_schemas_with_history, get_schema, onnx_opset_version

from conformance.checked_models.inlining import long_domain
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.harmless import one_line
from opcert.vocabulary.names import OperatorName

_LARGEST = 2**31 - 1
Found = tuple[OperatorName | None, str | None]


class OperatorVersions:
    """Operator versions by the installed onnx package, and beside it those that somebody has specs of."""

    def __init__(self, known: Iterable[OperatorName] = ()) -> None:
        self._known: dict[tuple[str, str], list[OperatorName]] = {}
        for each in known:
            self._known.setdefault((each.domain, each.name), []).append(each)
        self._domains = {each.domain for each in get_all_schemas_with_history()}
        self._found: dict[tuple[str, str, int | None], Found] = {}

    def find(self, domain: str, op_type: str, opsets: Mapping[str, int]) -> Found:
        """The operator version of a node; or, where that is none, what is wrong, in a sentence."""
        key = (long_domain(domain), op_type, opsets.get(long_domain(domain)))
        if key not in self._found:
            self._found[key] = self._find(*key)
        return self._found[key]

    def _find(self, domain: str, op_type: str, version: int | None) -> Found:
        if version is None:
            return None, f"the model imports no version of the domain {one_line(domain, 80)}"
        if not 0 < version <= _LARGEST:
            return None, f"opset {version} of {one_line(domain, 80)} is no version that there can be"
        try:
            plain = OperatorName.parse(f"{domain}::{op_type}-{version}")
        except UserError:
            return None, f"no name of an operator: {one_line(f'{domain}::{op_type}', 120)}, opset {version}"
        short = "" if domain == "ai.onnx" else domain
        newest = max(
            (each for each in self._known.get((domain, op_type), ()) if each.since_version <= version),
            key=lambda each: each.since_version,
            default=None,
        )
        too_new = not short and version > onnx_opset_version()
        if short in self._domains and not too_new:
            try:
                since = get_schema(op_type, version, short).since_version
            except SchemaError:
                since = None
            if since is not None and (newest is None or since >= newest.since_version):
                return OperatorName(domain, op_type, since), None
        if newest is not None and not too_new:
            return newest, None
        if too_new:
            known = f"onnx {onnx_version} knows those up to {onnx_opset_version()}"
            return None, f"opset {version} of ai.onnx is newer than is known here: {known}"
        if short in self._domains:
            return None, f"{domain} has no operator {op_type} in opset {version}"
        return plain, None
