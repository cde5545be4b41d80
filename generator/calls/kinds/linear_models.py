"""Linear models: a row of coefficients for each target or class, and what is added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from generator.calls.data.draws import Draw
from generator.calls.data.grown_trees import TRANSFORMS
from generator.calls.solver.partial import OMITTED, Bindings, Partial
from generator.calls.variables.kind import InputName, Kind, KindChange, Level, misread_as
from specs.model.spec import Constraint, Otherwise

LABELS: Mapping[str, list[Any]] = {"ints": [7, -1, 2**40], "strings": ["b", "", "ä"]}
_GAMMAS = (0.25, 0.5, 0.1)
_KERNELS = ("RBF", "LINEAR", "POLY", "SIGMOID")


@dataclass(frozen=True)
class LinearModels(Kind):
    """Coefficients over the features of an input, of a `regressor` or a `classifier`."""

    of: InputName

    counted: ClassVar[str]
    """The factor that says how many rows there are."""
    rows: ClassVar[str]
    """An expression for how many rows there are."""

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({f"shape:{self.of}"})

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {"post_transform": TRANSFORMS, "intercepts": ("given", OMITTED)}

    def numbers(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> dict[str, Any]:
        """Coefficients and intercepts; of a probit scores between 0 and 1, whatever the input."""
        rows, width = int(levels[self.counted]), int(scope.shape(self.of)[-1])
        small = levels["post_transform"] == "PROBIT"
        coefficients = [0.0 if small else draw.integer(-24, 24) / 10 for _ in range(rows * width)]
        intercepts = [draw.integer(1, 15) / 16 if small else draw.integer(-20, 20) / 8 for _ in range(rows)]
        return {
            "coefficients": coefficients,
            "intercepts": None if levels["intercepts"] == OMITTED and not small else intercepts,
            "post_transform": levels["post_transform"],
        }

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("coefficients_given", "present(coefficients)", about="coefficients")
        count = f"len(coefficients) == {self.rows} * shape({self.of})[-1]"
        yield self.rule("coefficients_count", count, "present(coefficients)", about="coefficients")
        stated: Otherwise = "error" if self.counted == "targets" else "undefined"
        matches = f"len(intercepts) == {self.rows}"
        yield self.rule("intercepts_count", matches, "present(intercepts)", about="summary", otherwise=stated)
        listed = f"post_transform in {[*TRANSFORMS]!r}"
        yield self.rule("post_transform_value", listed, about="post_transform")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        given = list(scope.find("coefficients") or [1.0])
        yield "coefficients_given", {"coefficients": None}
        yield "coefficients_count", {"coefficients": [*given, 1.0]}
        yield "coefficients_count", {"coefficients": given[:-1]}
        for count in (7, 0):
            yield "intercepts_count", {"intercepts": [0.5] * count}
        yield "post_transform_value", {"post_transform": "SOFTPLUS"}

    def changes(self) -> Iterable[KindChange]:
        reading = ("reversed", "{}: from the last to the first", lambda numbers: numbers[::-1])
        for name in ("coefficients", "intercepts"):
            yield from misread_as(name, reading)


@dataclass(frozen=True)
class _Regressor(LinearModels):
    """A row for each target."""

    covered: ClassVar[tuple[str, ...]] = ("coefficients", "intercepts", "post_transform", "targets")
    counted: ClassVar[str] = "targets"
    rows: ClassVar[str] = "targets"

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {**super().factors(), "targets": (1, 3, 2)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        yield {**self.numbers(levels, scope, draw), "targets": levels["targets"]}


@dataclass(frozen=True)
class _Classifier(LinearModels):
    """A row for each class, of which there are two at least."""

    covered: ClassVar[tuple[str, ...]] = (
        "coefficients",
        "intercepts",
        "post_transform",
        "classlabels_ints",
        "classlabels_strings",
    )
    counted: ClassVar[str] = "classes"
    rows: ClassVar[str] = (
        "(len(classlabels_strings) if present(classlabels_strings) else len(classlabels_ints))"
    )

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {**super().factors(), "classes": (3, 2), "labels": tuple(LABELS)}

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        found = {**dict.fromkeys(self.covered), **self.numbers(levels, scope, draw)}
        kind = str(levels["labels"])
        yield {**found, f"classlabels_{kind}": LABELS[kind][: int(levels["classes"])]}

    def rules(self) -> Iterable[Constraint]:
        one = "present(classlabels_ints) != present(classlabels_strings)"
        yield self.rule("one_of_labels", one, about="classlabels_ints", otherwise="error")
        for each in super().rules():
            when = one if each.when is None else f"{each.when} and {one}"
            yield (
                each
                if self.rows not in str(each.require)
                else self.rule(each.id, str(each.require), when, about="coefficients")
            )
        yield self.rule("two_classes", f"{self.rows} >= 2", one, about="classlabels_ints")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        yield from super().breaches(scope, draw)
        none = {"classlabels_ints": None, "classlabels_strings": None}
        width = int(scope.shape(self.of)[-1])
        yield "one_of_labels", none
        yield (
            "one_of_labels",
            {each: LABELS["ints"][:2] if each.endswith("ints") else ["a", "b"] for each in none},
        )
        one = {"classlabels_ints": [5], "coefficients": [1.0] * width, "intercepts": None}
        yield "two_classes", none | one


@dataclass(frozen=True)
class _Supports(LinearModels):
    """Support vectors with a coefficient each, a kernel, and what is added."""

    covered: ClassVar[tuple[str, ...]] = (
        "coefficients",
        "kernel_params",
        "kernel_type",
        "n_supports",
        "one_class",
        "post_transform",
        "rho",
        "support_vectors",
    )

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "kernel_type": _KERNELS,
            "supports": (3, 1, 7),
            "one_class": (0, 1),
            "post_transform": ("NONE", "LOGISTIC"),
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        if levels["one_class"] and levels["post_transform"] != "NONE":
            return
        count, width = int(levels["supports"]), int(scope.shape(self.of)[-1])
        yield {
            "coefficients": [draw.integer(-16, 16) / 8 or 0.5 for _ in range(count)],
            "kernel_params": [draw.choice(_GAMMAS), draw.choice((0.5, -1.0, 0.0)), draw.choice((2.0, 3.0))],
            "kernel_type": levels["kernel_type"],
            "n_supports": count,
            "one_class": levels["one_class"],
            "post_transform": levels["post_transform"],
            "rho": [draw.integer(-12, 12) / 8 or 0.25],
            "support_vectors": [draw.integer(-24, 24) / 10 for _ in range(count * width)],
        }

    def rules(self) -> Iterable[Constraint]:
        yield self.rule("supports_given", "n_supports >= 1", about="n_supports")
        for name, count in (
            ("coefficients", "n_supports"),
            ("support_vectors", f"n_supports * shape({self.of})[-1]"),
            ("kernel_params", "3"),
            ("rho", "1"),
        ):
            yield self.rule(f"{name}_given", f"present({name})", about=name)
            yield self.rule(f"{name}_count", f"len({name}) == {count}", f"present({name})", about=name)
        yield self.rule("kernel_type_value", f"kernel_type in {[*_KERNELS]!r}", about="kernel_type")
        degree = "kernel_type != 'POLY' or (kernel_params[2] in [1, 2, 3, 4, 5, 6])"
        params = "present(kernel_params) and len(kernel_params) == 3"
        yield self.rule("degree_whole", degree, params, about="kernel_params")
        yield self.rule("one_class_value", "one_class in [0, 1]", about="one_class")
        transformed = f"post_transform in {[*TRANSFORMS]!r}"
        yield self.rule("post_transform_value", transformed, about="post_transform")
        untouched = "one_class == 0 or post_transform == 'NONE'"
        yield self.rule("one_class_untouched", untouched, about="one_class")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        for name in ("coefficients", "support_vectors", "kernel_params", "rho"):
            given = list(scope.find(name) or [1.0])
            yield f"{name}_given", {name: None}
            yield f"{name}_count", {name: [*given, 1.0]}
        yield "supports_given", {"n_supports": 0, "coefficients": [], "support_vectors": []}
        yield "supports_given", {"n_supports": -1}
        yield "kernel_type_value", {"kernel_type": "COSINE"}
        for degree in (0.5, -1.0):
            yield "degree_whole", {"kernel_type": "POLY", "kernel_params": [0.5, 1.0, degree]}
        yield "one_class_value", {"one_class": 2, "post_transform": "NONE"}
        yield "post_transform_value", {"one_class": 0, "post_transform": "SOFTPLUS"}
        yield "one_class_untouched", {"one_class": 1, "post_transform": "LOGISTIC"}

    def changes(self) -> Iterable[KindChange]:
        reading = ("reversed", "{}: from the last to the first", lambda numbers: numbers[::-1])
        for name in ("coefficients", "support_vectors", "kernel_params"):
            yield from misread_as(name, reading)
        yield from misread_as("rho", ("negated", "{} is taken away", lambda numbers: -numbers))


LinearModels.variants = {"regressor": _Regressor, "classifier": _Classifier, "supports": _Supports}
