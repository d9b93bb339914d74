"""Mathematics as MathML, which browsers draw by themselves: pages need no script and no network.

Sphinx's own renderer loads MathJax from another machine. This one turns LaTeX into MathML while the pages are
built, and a formula that cannot be turned is a warning, so that the build fails.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: What the package does not know, in words that it does.
MISSING = {r"\arg": r"\operatorname{arg}"}
LIMITS_BELOW = re.compile(r"\\(min|max|sup|inf|lim)_")
#: Bars are read as operators between two terms, and get their space, unless it is taken away.
BARS = re.compile(r"<mo(?: fence=\"false\")?(?: stretchy=\"false\")?>(&#x0007C;|&#x02016;)</mo>")
UNKNOWN = re.compile(r"<mi>(\\[A-Za-z]+|&)</mi>")


def to_mathml(latex: str, display: str) -> str:
    """Turn LaTeX into a ``<math>`` element; commands that are not known are an error."""
    for command, known in MISSING.items():
        latex = latex.replace(command, known)
    if display == "block":
        latex = LIMITS_BELOW.sub(r"\\\1\\limits_", latex)
    math = str(convert(latex, display=display))
    if unknown := UNKNOWN.search(math):
        raise ValueError(f"{unknown[1]} is not known")
    return BARS.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', math)


def render(node: nodes.Element, display: str) -> str:
    """Turn a node, or warn."""
    latex = node.astext().strip()
    try:
        return to_mathml(latex, display)
    except Exception as error:  # the package raises many kinds, without a parent of their own
        logger.warning("cannot be turned into MathML, %s: %s", error, latex, location=node)
        return f"<code>{escape(latex)}</code>"


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(render(node, "inline"))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(render(node, "block"))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
