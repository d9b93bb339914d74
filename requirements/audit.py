"""Ask PyPI whether versions pinned in a file have known vulnerabilities.

Usage: python requirements/audit.py requirements/newest.txt

PyPI answers from the Python Packaging Advisory Database and GitHub's advisories, as it does to pip-audit. A
mirror may know no more than the latest release of each package; what could not be asked is named, and is an
error of its own.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)")
SERVICE = "https://pypi.org/pypi"
VULNERABLE, UNKNOWN = 1, 2  # exit statuses; the first wins

Fetch = Callable[[str], dict[str, Any] | None]


def fetch(page: str) -> dict[str, Any] | None:
    """Get a page of PyPI's JSON interface; None where there is none."""
    try:
        with urllib.request.urlopen(f"{SERVICE}/{page}/json", timeout=60) as answer:
            document: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise
    return document


def read_pins(text: str) -> list[tuple[str, str]]:
    """List names and versions of a requirements file, those of every Python version."""
    return [(match[1], match[2]) for line in text.splitlines() if (match := PIN.match(line))]


def find_vulnerabilities(name: str, version: str, fetch: Fetch) -> list[str] | None:
    """Describe the vulnerabilities of a version; None where nobody can tell."""
    document = fetch(f"{name}/{version}")
    if document is None:
        document = fetch(name)  # tells of the latest release alone
        if document is None or document["info"]["version"] != version:
            return None
    return [
        f"{found['id']} ({', '.join(found['aliases'])}), fixed in {', '.join(found['fixed_in']) or 'none'}"
        for found in document["vulnerabilities"]
        if not found.get("withdrawn")
    ]


def audit(pins: list[tuple[str, str]], fetch: Fetch) -> int:
    """Print what is known of each pin; returns the exit status."""
    answers = {pin: find_vulnerabilities(*pin, fetch) for pin in pins}
    unknown = ["==".join(pin) for pin, found in answers.items() if found is None]
    vulnerable = {pin: found for pin, found in answers.items() if found}
    for (name, version), found in vulnerable.items():
        print(f"{name}=={version}: {'; '.join(found)}")
    if unknown:
        print(f"not known to this service, so not checked: {', '.join(unknown)}")
    print(
        f"{len(pins)} pins, {len(pins) - len(unknown)} checked, {len(vulnerable)} with known vulnerabilities"
    )
    return VULNERABLE if vulnerable else UNKNOWN if unknown or not pins else 0


if __name__ == "__main__":
    raise SystemExit(audit(read_pins(Path(sys.argv[1]).read_text(encoding="utf-8")), fetch))
