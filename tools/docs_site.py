"""What the site of docs/ needs beside mkdocs: its front page, and links that lead out of docs/.

    uv run --group docs mkdocs build --strict       # writes out/docs

On GitHub a link such as `../CONTRIBUTING.md` leads to the file. The site has no such file: there the link
leads to the repository where `repo_url` of mkdocs.yml names one, and is the file's path otherwise.
"""

from __future__ import annotations

import re
from typing import Any

_OUT = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\.\./)+([^)#]+)(#[^)]*)?\)")
FRONT = "start.md"


def outside(markdown: str, repository: str | None, depth: int) -> str:
    """A page at `depth` folders below docs/, with the links that lead out of docs/ replaced."""

    def replaced(link: re.Match[str]) -> str:
        if link[0].count("../") <= depth:
            return link[0]
        label, path, anchor = link[1], link[2], link[3] or ""
        if repository:
            return f"[{label}]({repository.rstrip('/')}/blob/main/{path}{anchor})"
        return f"`{path}`" if label.strip("`") in (path, path.rpartition("/")[2]) else f"{label} (`{path}`)"

    return _OUT.sub(replaced, markdown)


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return outside(markdown, config.repo_url, page.file.src_uri.count("/"))


def on_files(files: Any, *, config: Any, **_: Any) -> Any:
    """Called by mkdocs with all files: the start page is the site's front page as well."""
    start = files.get_file_from_path(FRONT)
    files.append(type(start).generated(config, "index.md", content=start.content_string))
    return files
