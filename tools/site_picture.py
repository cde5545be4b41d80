"""The picture of the first page of a site, `docs/site.png`.

    uv run python -m tools.site_picture public

`public` is what `opcert site` wrote. Exits with 1 where the browser complains about anything.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from opcert.vocabulary.whole_files import write_bytes

PICTURE = Path("docs/site.png")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((options.site / "index.html").resolve().as_uri())
        write_bytes(PICTURE, page.screenshot(animations="disabled"))
        browser.close()
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
