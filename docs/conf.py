"""Settings of the documentation: Sphinx, furo, sphinx-gallery, numpydoc. Builds offline."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the examples are small

project = "Precede"
author = "The Precede developers"
copyright = "2026, The Precede developers"
release = version = installed_version("precede")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "command_line",
    "offline_math",
]

templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "generated/commands.md"]
nitpicky = True
nitpick_ignore = [("py:data", "precede.experiments.verdicts.PUBLISHED")]  # a long table of numbers

html_math_renderer = "mathml"

autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"no-value": True}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_.*\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e6,  # times depend on the machine
    "write_computation_times": False,
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "furo"
html_title = "Precede"
html_static_path = ["_static"]
html_css_files = ["precede.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7db8dd", "color-brand-content": "#7db8dd"},
}
