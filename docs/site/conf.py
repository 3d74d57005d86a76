"""The documentation site: `sphinx-build -W --keep-going -b html docs/site build/site`."""

import sys
from pathlib import Path

import giantstep

sys.path.insert(0, str(Path(__file__).with_name("extensions")))

project = "giantstep"
author = "The giantstep authors"
version = release = giantstep.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "docstrings", "mathml", "pages"]
exclude_patterns = ["extensions", "measured"]  # measured: parts of pages
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "giantstep"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False

# no signs for quotes and dashes: texts hold code
smartquotes = False
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_default_options = {"members": True, "exclude-members": "check", "member-order": "bysource"}
autodoc_typehints_format = "short"
add_module_names = False
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True
