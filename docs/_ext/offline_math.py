"""Formulas as MathML, which browsers draw themselves: no script from elsewhere, so the pages work offline."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

UNKNOWN_TO_DOCUTILS = {r"\iff": r"\Longleftrightarrow", r"\Big(": r"\left(", r"\Big)": r"\right)"}


def to_mathml(text: str, as_block: bool, node: nodes.Node) -> str:
    """Translate; what cannot be translated is a warning and stays LaTeX."""
    for command, other in UNKNOWN_TO_DOCUTILS.items():
        text = text.replace(command, other)
    try:
        return tex2mathml(text, as_block=as_block)
    except MathError as error:
        logger.warning("formula %r: %s", text, error, location=node)
        return f"<code>{text}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(to_mathml(node.astext(), False, node))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math">{to_mathml(node.astext(), True, node)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
