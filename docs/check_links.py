"""Check that every internal link of the built site leads somewhere, and that nothing is loaded from afar.

``python docs/check_links.py out/docs README.md CONTRIBUTING.md`` prints what is wrong and exits with 1 where
anything is. A site is a folder of HTML; other arguments are Markdown files, whose relative links are
followed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script", "link", "img", "iframe", "source", "video", "audio", "embed", "object"}
AFAR = r"(?:@import|url\()\s*['\"]?((?:https?:)?//[^'\")\s]+)"  # in style sheets
TARGETS = ("href", "src", "srcset", "poster", "data")


class Page(HTMLParser):
    """The names that a page can be entered at, and what it refers to: (tag, address)."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = {"", "top"}
        self.references: list[tuple[str, str]] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect from one element."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.names.add(value)
            elif name in TARGETS and value is not None:
                self.references.append((tag, value.split()[0] if name == "srcset" else value))


page_of = cache(Page)


def names_in(path: Path) -> set[str]:
    """Places in a file that a link can lead to: ids of HTML, headings of Markdown."""
    if path.suffix == ".html":
        return page_of(path).names
    headings = re.findall(r"^#+ +(.*?)\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {"", *(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)}


def wrong(path: Path, tag: str, address: str) -> str | None:
    """Say what is wrong with a reference, if anything."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return "loaded from elsewhere" if tag in LOADED and parts.scheme != "data" else None
    target = path.parent / unquote(parts.path) if parts.path else path
    if not target.exists():
        return "leads nowhere"
    readable = target.is_file() and target.suffix in (".html", ".md")
    if readable and unquote(parts.fragment) not in names_in(target):
        return "no such place in that page"
    return None


def faults(argument: Path) -> Iterator[str]:
    """Yield a line for every fault of a site or of a Markdown file."""
    for page in sorted(page for page in argument.rglob("*.html") if "_static" not in page.parts):
        for tag, address in page_of(page).references:
            if reason := wrong(page, tag, address):
                yield f"{page}: <{tag}> {address}: {reason}"
    for style in sorted(argument.rglob("*.css")):
        for address in re.findall(AFAR, style.read_text(encoding="utf-8")):
            yield f"{style}: {address}: loaded from elsewhere"
    if argument.is_file():
        text = re.sub(r"```.*?```|`[^`\n]*`", "", argument.read_text(encoding="utf-8"), flags=re.DOTALL)
        for address in re.findall(r"\]\(([^)\s]+)\)", text):
            if reason := wrong(argument, "a", address):
                yield f"{argument}: {address}: {reason}"


if __name__ == "__main__":
    found = [fault for argument in sys.argv[1:] for fault in faults(Path(argument))]
    print(*found, f"{len(found)} faults in links", sep="\n")
    sys.exit(bool(found))
