"""Options that several commands take, each said once: decorators, named as the options are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from conformance.processes.worker_limits import Limits
from opcert.commands.suite_argument import HELP
from opcert.vocabulary.errors import UserError
from opcert.vocabulary.names import DEFAULT_SUITE

if TYPE_CHECKING:
    from opcert.vocabulary.arithmetics import Arithmetic

Command = TypeVar("Command", bound=Callable[..., Any])
_INSECURE = "opcert.insecure_scheduler"


class NumberRange(click.FloatRange):
    """A number within bounds; NaN, which no comparison keeps out, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if found != found:
            self.fail(f"{value} is no number.", param, ctx)
        return found


_SECONDS = NumberRange(0.01, 86400)

suite = click.option("-s", "--suite", "suite_name", default=DEFAULT_SUITE, show_default=True, help=HELP)
suite_that_was_run = click.option(
    "-s",
    "--suite",
    default=DEFAULT_SUITE,
    show_default=True,
    help="The suite that was run: a folder, a zip, a name.",
)


def _one_pattern(_: click.Context, __: click.Parameter, said: tuple[str, ...]) -> str | None:
    if len(said) > 1:
        raise UserError(
            "-k is given more than once",
            got=" and ".join(map(repr, said[:2])),
            remedy="Run several operators with `opcert certify RUNTIME OPERATOR...`, or make a suite of "
            "them with `opcert generate OPERATOR... -o FOLDER` for -s.",
        )
    return said[0] if said else None


pattern = click.option(
    "-k",
    "pattern",
    multiple=True,
    callback=_one_pattern,
    help="Only these cases: an operator (Pad, Pad-1, Pad-1/cover), a part of what follows it in case ids, "
    "or a pattern with * for the whole id.",
)
forms = click.option(
    "--forms",
    default=None,
    help="How inputs arrive: preferred (by the runtime), sample (that, and some cases of each operator in "
    "every other form), all, or of inputs, initializers, dynamic, strided, again, untouched, threads. "
    "Default: sample, and for a worker of your own preferred.",
)
_WORKERS = click.IntRange(1, 256)
jobs = click.option(
    "-j",
    "--jobs",
    type=_WORKERS,
    help="Workers at a time. Default: one for each processor, at most 4, and one for few cases.",
)
jobs_of_calls = click.option(
    "-j", "--jobs", type=_WORKERS, default=1, show_default=True, help="Workers at a time."
)
"""With one, what is left out behind lost workers of a call does not hang on which worker was first."""


@dataclass(frozen=True)
class Scheduler:
    """The address of a scheduler; `insecure` says that it may be beyond this machine without TLS."""

    address: str
    insecure: bool = False


def _note_insecure(context: click.Context, _: click.Parameter, said: bool) -> None:
    context.meta[_INSECURE] = said


def _scheduler(context: click.Context, _: click.Parameter, address: str | None) -> Scheduler | None:
    insecure = bool(context.meta.get(_INSECURE))
    if address is not None:
        return Scheduler(address, insecure)
    if insecure:
        raise UserError("--insecure-scheduler says nothing without --scheduler")
    return None


def scheduler(command: Command) -> Command:
    """`--scheduler`, and `--insecure-scheduler` which belongs to it."""
    address = click.option(
        "--scheduler",
        metavar="ADDRESS",
        callback=_scheduler,
        help="Run on a cluster: tls://HOST:PORT of a scheduler of Dask, tcp://127.0.0.1:PORT of one on "
        "this machine, or local:N for N workers on this machine. Workers execute the code that they are "
        "sent; opcert reads what they return as plain data, and believes it. Needs opcert[dask].",
    )
    insecure = click.option(
        "--insecure-scheduler",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_note_insecure,
        help="Let --scheduler name one beyond this machine without TLS: whoever is on the network between "
        "may run code on the workers and invent what they return.",
    )
    return address(insecure(command))


def formats(known: Sequence[str], *default: str) -> Callable[[Command], Command]:
    """`--format`, of what is to be written."""
    return click.option(
        "--format",
        "formats",
        type=click.Choice(known),
        multiple=True,
        default=default,
        show_default=True,
        help="What to write; may be given several times.",
    )


def _arithmetic(_context: click.Context, _option: click.Parameter, text: str | None) -> Arithmetic | None:
    if text is None:
        return None
    # Imported here, because it needs numpy, which help does not.
    from opcert.vocabulary.arithmetics import Arithmetic

    return Arithmetic.parse(text)


arithmetic = click.option(
    "--arithmetic",
    metavar="FORMAT",
    callback=_arithmetic,
    help="In what the runtime computes float: float32, bf16x3, tf32, float16, bfloat16, with "
    "accumulation=same where sums are in the format as well, subnormals=flushed, functions=relaxed (OpenCL's "
    "unsafe math), and requantise=exact, fixed-point or one-step: float16,accumulation=same. The cases "
    "expect what that may come to, derived as for float32.",
)
processes = click.option(
    "-j", "--jobs", "processes", type=click.IntRange(1), help="Processes that read; one for each processor."
)
timeout = click.option(
    "--timeout",
    type=_SECONDS,
    default=Limits.case_seconds,
    show_default=True,
    help="Seconds for each case.",
)
load_timeout = click.option(
    "--load-timeout",
    type=_SECONDS,
    help="Seconds for a model to load, which may compile it; without it, --timeout is for both.",
)
start_timeout = click.option(
    "--start-timeout",
    type=_SECONDS,
    default=Limits.start_seconds,
    show_default=True,
    help="Seconds for the runtime to start.",
)
network = click.option(
    "--network", is_flag=True, help="Let the runtime reach the network; it is cut off otherwise."
)
python = click.option("--python", help="The interpreter to run the runtime with.")
upgrade = click.option("--upgrade", is_flag=True, help="Install the runtime anew, in its newest version.")
specs = click.option(
    "--specs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder of your own specs; without an operator, all of that folder.",
)
known = click.option(
    "--known",
    "known_files",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file of known causes, in the form of disagreements.yaml; it comes before opcert's own.",
)
beside = click.option(
    "--beside",
    "beside_paths",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The record of another runtime on the same suite, to show who else fails; records in out/ are "
    "found.",
)
diagnose = click.option(
    "--diagnose",
    "diagnose_seconds",
    type=NumberRange(0, 86400),
    help="Seconds of experiments on the runtime that find the causes of its failures; 0 for none. Default: "
    "30 % of the run's time, at least 5 s and at most 90 s. As long again, at most 45 s, opcert makes the "
    "calls that it shows smaller.",
)
profile = click.option("--profile", "profile_name", help="The profile to meet: a name, or a YAML file.")
dialect = click.option("--dialect", help="Read every document as this dialect instead of recognising it.")


@dataclass(frozen=True, kw_only=True)
class RunWords:
    """What the command line says to each command that runs a suite, by its options above."""

    runtime: str
    folders: tuple[Path, ...]
    pattern: str | None
    jobs: int | None
    scheduler: Scheduler | None
    forms: str | None
    arithmetic: Arithmetic | None
    timeout: float
    known_files: tuple[Path, ...]
    beside_paths: tuple[Path, ...]
    diagnose_seconds: float | None
    resume: bool
    baseline: Path | None
    update_baseline: bool
    python: str | None
    upgrade: bool
    output: Path | None
