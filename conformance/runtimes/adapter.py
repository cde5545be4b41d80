"""What a built-in runtime's adapter says: what to install, which worker, what its errors mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal

WORKERS = Path(__file__).parents[1] / "workers"


@dataclass(frozen=True)
class UnsupportedRule:
    """One way in which a runtime says that it does not offer something.

    `example` is such an error as it was seen, `Kind: message`; it must match the rule itself. The name of the
    error's class must be the example's, or what matches the whole of `kind`; `message` must be found in its
    text (both are regular expressions; the text may have several lines). `error_class` limits the rule to
    what the worker itself called `unsupported` or `rejected`.
    """

    example: str
    kind: str = ""
    message: str = ""
    error_class: str | None = None

    def __post_init__(self) -> None:
        if not self.kind:
            object.__setattr__(self, "kind", self.example.partition(": ")[0])

    def matches(self, kind: str, message: str, error_class: str = "rejected") -> bool:
        if self.error_class is not None and self.error_class != error_class:
            return False
        return re.fullmatch(self.kind, kind) is not None and re.search(self.message, message) is not None


@dataclass(frozen=True)
class Connection:
    """How a worker on another machine is reached: that one's name, a command, and variables that it needs."""

    machine: str
    command: tuple[str, ...]
    variables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adapter:
    """One built-in runtime; `conformance/adapters/<name with _ for ->.py` holds it as `ADAPTER`.

    `requirements` are what its environment needs; a version on the command line goes to the first.
    `language` says whose packages they are. `worker` is a file of conformance/workers. `options` maps each
    option that may stand in brackets to its values, the default first; an empty tuple takes any text.
    `companions` are further requirements of older versions: (version, requirements), for versions before that
    one; for packages that do not say themselves what they are not built for.
    `first_line` is what `opcert list runtimes` prints, `issues` the address of a new issue in the tracker of
    its project, one that takes `?title=` and `body=`; empty where there is none. `refine`, where options
    name what is tested, makes of them the adapter that they mean (its own name, packages and rules) and the
    options that its worker gets. `connection`, of an adapter whose workers run on other machines, gives that
    of a runtime as it is written; None where it is not written so.
    """

    name: str
    first_line: str
    requirements: tuple[str, ...]
    worker: str
    unsupported: tuple[UnsupportedRule, ...]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    companions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    language: Literal["python", "node"] = "python"
    issues: str = ""
    refine: Callable[[Adapter, Mapping[str, str]], tuple[Adapter, dict[str, str]]] | None = None
    connection: Callable[[str], Connection | None] | None = None

    @property
    def is_of_the_user(self) -> bool:
        """Whether the worker is the user's own program."""
        return not (self.requirements or self.worker)

    def requirements_of(self, version: str | None) -> tuple[str, ...]:
        """What an environment with a version needs; without one, with the newest."""
        if version is None:
            return self.requirements
        found = [f"{self.requirements[0]}=={version}", *self.requirements[1:]]
        for before, further in self.companions:
            if _release(version) < _release(before):
                found += further
        return tuple(found)

    def find_rule(self, kind: str, message: str, error_class: str = "rejected") -> UnsupportedRule | None:
        """The first rule that an error matches, or None: then a refusal is the runtime's own."""
        return next(
            (
                unsupported_rule
                for unsupported_rule in self.unsupported
                if unsupported_rule.matches(kind, message, error_class)
            ),
            None,
        )


def _release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with: (1, 16, 3) of `1.16.3.dev1`."""
    leading = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(word) for word in leading[0].split(".")) if leading else ()


_FORMS = re.compile(r"(exec|files):|(ssh)://|(adb):[^/]*/")


def named_by_form(text: str) -> str | None:
    """The adapter of a worker that is the user's own, by the form of a runtime's text: `exec:`, `ssh://`."""
    found = _FORMS.match(text)
    return found[found.lastindex] if found and found.lastindex else None


def list_adapters() -> list[str]:
    """The names of the built-in runtimes, found by the files of conformance/adapters."""
    package = import_module("conformance.adapters")
    return sorted(module.name.replace("_", "-") for module in iter_modules(package.__path__))


def load_adapter(name: str) -> Adapter:
    """The adapter of a name that `list_adapters` has; raises ModuleNotFoundError on any other."""
    module = import_module(f"conformance.adapters.{name.replace('-', '_')}")
    found: Adapter = module.ADAPTER
    return found
