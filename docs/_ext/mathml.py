"""Mathematics as MathML, which browsers draw by themselves: pages need no script and no network.

Sphinx's own renderer loads MathJax from another machine. This one turns LaTeX into MathML while the pages are
built, and a formula that cannot be turned is a warning, so that the build fails.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def to_mathml(node: nodes.math | nodes.math_block, display: str) -> str:
    """Turn the LaTeX of a node into a ``<math>`` element."""
    latex = node.astext().strip()
    if r"\\" in latex and r"\begin" not in latex:  # as MathJax reads lines of a display
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    try:
        return str(convert(latex, display=display))
    except Exception as error:  # the package raises many kinds, none with a common parent
        logger.warning("cannot be turned into MathML (%s): %s", error, latex, location=node)
        return f"<code>{nodes.unescape(latex)}</code>"


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(to_mathml(node, "inline"))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(to_mathml(node, "block"))
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
