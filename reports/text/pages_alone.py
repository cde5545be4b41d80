"""Pages that need no network: templates, style and scripts put together under a content security policy.

Templates stand in `templates/`, the pieces of the style in `style/` and those of the script in `script/`.
The pieces of a script are put into one function in the order of their names; they declare functions and
constants only, and the page's `start` is called at the end.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from opcert.vocabulary.harmless import shown
from reports.text.phrasing import count, plural

STYLE_FILE = "style.css"
_SIGN = re.compile(r'<symbol id="(sign-\w+)".*?</symbol>\n?')


def render_page(
    template: str, *, scripts: str | None = None, nonces: Sequence[str] = (), **values: Any
) -> str:
    """A whole page of a template in `templates/`, which extends `layout.html.j2`.

    `scripts` names a folder of the script's pieces (None: a page without one). Every text is escaped, and
    what would hide or turn text is written out. The policy allows the page's own style and script by their
    digests, script files by the `nonces`, one for each, and nothing else.
    """
    style = _concatenated("style", ".css")
    script = _script(scripts) if scripts else ""
    allowed = [f"'{_digest(script)}'" if script else "'none'", *(f"'nonce-{nonce}'" for nonce in nonces)]
    own = {"style": Markup(style), "script": Markup(script), "sheet": None}
    return _render(template, f"'{_digest(style)}'", " ".join(allowed), {**own, **values})


def render_linked_page(
    template: str, root: str, style: str, *, scripts: str | None = None, **values: Any
) -> str:
    """A page of a site, whose style is in a file beside the site's first page; otherwise as `render_page`.

    `root` leads from the page to the first page's folder (`../`), `style` is what `linked_style` gives. The
    file is allowed by a nonce, the digest of what it holds: browsers know no digests of files of `file:`.
    """
    script = _script(scripts) if scripts else ""
    nonce = hashlib.sha256(style.encode()).hexdigest()[:32]
    sheet = {"address": f"{root}{STYLE_FILE}", "nonce": nonce}
    own = {"style": "", "script": Markup(script), "sheet": sheet, "root": root}
    allowed = f"'{_digest(script)}'" if script else "'none'"
    page = _render(template, f"'nonce-{nonce}'", allowed, {**own, **values})
    # Of many pages the signs that they do not show are a good part.
    return _SIGN.sub(lambda found: found[0] if f'"#{found[1]}"' in page else "", page)


def linked_style(folder: str) -> str:
    """The style of a site: what all pages have, and the pieces in a folder."""
    return _resource("style", "base.css") + _concatenated(folder, ".css")


def _render(template: str, styles: str, scripts: str, values: Mapping[str, Any]) -> str:
    policy = (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; base-uri 'none'; form-action 'none'"
    )
    return _environment().get_template(template).render(policy=Markup(policy), **values)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FunctionLoader(lambda name: _resource("templates", name)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["count"] = count
    found.filters["cases"] = lambda number: plural(number, "case")
    return found


def _finalize(value: object) -> object:
    """Every text that a template prints passes here, before it is escaped."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _script(folder: str) -> str:
    return f"'use strict';\n(() => {{\n{_concatenated(folder, '.js')}start();\n}})();\n"


@cache
def _concatenated(folder: str, suffix: str) -> str:
    names = sorted(path.name for path in files("reports").joinpath(folder).iterdir())
    return "".join(_resource(folder, name) for name in names if name.endswith(suffix))


@cache
def _resource(folder: str, name: str) -> str:
    return files("reports").joinpath(folder, name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
