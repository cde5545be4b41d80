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

LABELS: Mapping[str, list[Any]] = {"ints": [7, -1, 2**40, 3], "strings": ["b", "", "ä", "c"]}
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


_COUNT = "(len(classlabels_strings) if present(classlabels_strings) else len(classlabels_ints))"
_PAIRS = f"{_COUNT} * ({_COUNT} - 1) // 2"


@dataclass(frozen=True)
class _SupportClasses(LinearModels):
    """Support vectors of each class with a coefficient beside each other class, and a rho for each pair."""

    covered: ClassVar[tuple[str, ...]] = (
        "classlabels_ints",
        "classlabels_strings",
        "coefficients",
        "kernel_params",
        "kernel_type",
        "post_transform",
        "prob_a",
        "prob_b",
        "rho",
        "support_vectors",
        "vectors_per_class",
    )

    def factors(self) -> Mapping[str, tuple[Level, ...]]:
        return {
            "kernel_type": _KERNELS,
            "classes": (3, 2, 4),
            "labels": tuple(LABELS),
            "probabilities": (OMITTED, "given"),
            "post_transform": TRANSFORMS,
        }

    def candidates(self, levels: Mapping[str, Level], scope: Partial, draw: Draw) -> Iterator[Bindings]:
        classes, width = int(levels["classes"]), int(scope.shape(self.of)[-1])
        are_shares = levels["probabilities"] == "given"
        if not are_shares and (classes == 4 or levels["post_transform"] == "PROBIT"):
            return
        counts = [draw.integer(1, 3) for _ in range(classes)]
        pairs = classes * (classes - 1) // 2
        kind = str(levels["labels"])
        yield {
            **dict.fromkeys(self.covered),
            f"classlabels_{kind}": LABELS[kind][:classes],
            "coefficients": [draw.integer(-16, 16) / 8 or 0.5 for _ in range(sum(counts) * (classes - 1))],
            "kernel_params": [draw.choice(_GAMMAS), draw.choice((0.5, -1.0, 0.0)), draw.choice((2.0, 3.0))],
            "kernel_type": levels["kernel_type"],
            "post_transform": levels["post_transform"],
            "prob_a": [-draw.integer(2, 16) / 8 for _ in range(pairs)] if are_shares else None,
            "prob_b": [draw.integer(-8, 8) / 16 for _ in range(pairs)] if are_shares else None,
            "rho": [draw.integer(-12, 12) / 8 or 0.25 for _ in range(pairs)],
            "support_vectors": [draw.integer(-24, 24) / 10 for _ in range(sum(counts) * width)],
            "vectors_per_class": counts,
        }

    def rules(self) -> Iterable[Constraint]:
        one = "present(classlabels_ints) != present(classlabels_strings)"
        yield self.rule("one_of_labels", one, about="classlabels_ints", otherwise="error")
        yield self.rule("two_classes", f"{_COUNT} >= 2", one, about="classlabels_ints")
        yield self.rule("vectors_per_class_given", "present(vectors_per_class)", about="vectors_per_class")
        counted = f"{one} and present(vectors_per_class)"
        vectors = f"len(vectors_per_class) == {_COUNT} and all(count >= 1 for count in vectors_per_class)"
        yield self.rule("vectors_per_class_count", vectors, counted, about="vectors_per_class")
        for name, count in (
            ("coefficients", f"sum(vectors_per_class) * ({_COUNT} - 1)"),
            ("support_vectors", f"sum(vectors_per_class) * shape({self.of})[-1]"),
            ("kernel_params", "3"),
            ("rho", _PAIRS),
        ):
            yield self.rule(f"{name}_given", f"present({name})", about=name)
            fits = f"len({name}) == {count}"
            yield self.rule(f"{name}_count", fits, f"present({name}) and {counted}", about=name)
        both = "present(prob_a) == present(prob_b)"
        yield self.rule("both_probabilities", both, about="prob_b")
        given = "present(prob_a) and present(prob_b)"
        yield self.rule(
            "same_probabilities", "len(prob_a) == len(prob_b)", given, about="prob_b", otherwise="error"
        )
        yield self.rule(
            "prob_a_count", f"len(prob_a) == {_PAIRS}", f"present(prob_a) and {one}", about="prob_a"
        )
        # Of four classes there are six pairs, and no text says what the scores of the classes are.
        few = f"{_COUNT} <= 3"
        yield self.rule("scores_of_classes", few, f"not present(prob_a) and {one}", about="Z")
        yield self.rule("kernel_type_value", f"kernel_type in {[*_KERNELS]!r}", about="kernel_type")
        degree = "kernel_type != 'POLY' or (kernel_params[2] in [1, 2, 3, 4, 5, 6])"
        params = "present(kernel_params) and len(kernel_params) == 3"
        yield self.rule("degree_whole", degree, params, about="kernel_params")
        transformed = f"post_transform in {[*TRANSFORMS]!r}"
        yield self.rule("post_transform_value", transformed, about="post_transform")

    def breaches(self, scope: Partial, draw: Draw) -> Iterator[tuple[str, Bindings]]:
        none = {"classlabels_ints": None, "classlabels_strings": None}
        classes = len(scope.find("classlabels_ints") or scope.find("classlabels_strings") or ())
        yield "one_of_labels", none
        yield "one_of_labels", {f"classlabels_{kind}": LABELS[kind][:classes] for kind in LABELS}
        for name in ("coefficients", "support_vectors", "kernel_params", "rho"):
            given = list(scope.find(name) or [1.0])
            yield f"{name}_given", {name: None}
            yield f"{name}_count", {name: [*given, 1.0]}
        yield "vectors_per_class_given", {"vectors_per_class": None}
        counts = list(scope.find("vectors_per_class") or [1])
        yield "vectors_per_class_count", {"vectors_per_class": [*counts[:-2], sum(counts[-2:])]}
        shares = scope.find("prob_b")
        if shares is None:
            yield "both_probabilities", {"prob_a": [-1.0] * (classes * (classes - 1) // 2)}
        else:
            yield "both_probabilities", {"prob_a": None} if classes < 4 else {"prob_b": None}
            yield "same_probabilities", {"prob_b": [*shares, 0.0]}
            yield "prob_a_count", {name: [*scope.find(name), -0.5] for name in ("prob_a", "prob_b")}
            yield "scores_of_classes", {"prob_a": None, "prob_b": None}
        yield "kernel_type_value", {"kernel_type": "COSINE"}
        for wrong in (0.5, -1.0):
            yield "degree_whole", {"kernel_type": "POLY", "kernel_params": [0.5, 1.0, wrong]}
        yield "post_transform_value", {"post_transform": "SOFTPLUS"}
        width = int(scope.shape(self.of)[-1])
        alone = {"classlabels_ints": [5], "vectors_per_class": [1], "coefficients": [], "rho": []}
        yield (
            "two_classes",
            {**none, **alone, "support_vectors": [1.0] * width, "prob_a": None, "prob_b": None},
        )

    def changes(self) -> Iterable[KindChange]:
        reading = ("reversed", "{}: from the last to the first", lambda numbers: numbers[::-1])
        for name in ("coefficients", "support_vectors", "kernel_params", "rho", "prob_a"):
            yield from misread_as(name, reading)


LinearModels.variants = {
    "regressor": _Regressor,
    "classifier": _Classifier,
    "supports": _Supports,
    "support_classes": _SupportClasses,
}
