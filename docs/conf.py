"""Settings of the documentation: ``make docs`` builds it, without a network, every warning an error."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import seqspan

project = "seqspan"
author = "The seqspan developers"
copyright = author
version = release = seqspan.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
]
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
smartquotes = False  # "auto" is a value
default_role = "literal"  # in docstrings, names of parameters

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
# pieces of code without a language are commands and formulas: shown as they are
highlight_language = "none"

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say types and shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the templates list them
numpydoc_xref_param_type = False

nitpicky = True
nitpick_ignore: list[tuple[str, str]] = []

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "subsection_order": [
        "../examples/first_steps",
        "../examples/how_it_works",
        "../examples/scale",
        "../examples/parameters",
    ],
    "backreferences_dir": "gallery/uses",
    "doc_module": ("seqspan",),
    "abort_on_example_error": False,  # all of them are tried, then the build fails
    "only_warn_on_example_error": False,
    "reset_modules": ("matplotlib", "strict_gallery.warnings_fail"),
    "reset_modules_order": "both",
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
}

html_theme = "furo"
html_title = "seqspan"
html_static_path = ["_static"]
html_css_files = ["seqspan.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"
html_theme_options = {"navigation_with_keys": False}
