"""The report of a run as one HTML file that needs no network and no JavaScript."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reports.features import CONSTRAINT
from reports.page import Page
from reports.results import Results
from reports.text import count, plural, shown

_TEMPLATES = "templates"


def render_html(results: Results) -> str:
    """The whole page. Every text in it is escaped, and what would hide or turn text is written out.

    The content security policy allows this page's own style and script by their digests, and nothing else.
    """
    style, script = _resource("style.css"), _resource("script.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    template = _environment().get_template("page.html.j2")
    return template.render(
        page=Page(results), style=Markup(style), script=Markup(script), policy=Markup(policy)
    )


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FunctionLoader(lambda name: _resource(f"{_TEMPLATES}/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["count"] = count
    found.filters["cases"] = lambda number: plural(number, "case")
    found.globals["broken_rule"] = CONSTRAINT
    return found


def _finalize(value: object) -> object:
    """Every text that a template prints passes here, before it is escaped."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _resource(name: str) -> str:
    found = files("reports")
    for part in name.split("/"):
        found = found.joinpath(part)
    return found.read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
