"""Settings of the documentation site, built by ``make docs`` into ``build/site``.

The source folder of the build is the repository itself, so that a link between two files (a page, a notebook, a
configuration) is written once and leads to the same place on the site, in an editor and in a repository browser.
"""

from typing import Any

import cardgym

project = "cardgym"
author = "The cardgym authors"
copyright = author
version = release = cardgym.__version__

root_doc = "docs/index"
include_patterns = ["docs/**", "notebooks/**"]
exclude_patterns = [".*", "**/__pycache__", "build", "dist", "runs", "docs/envs/rules", "docs/envs/baselines"]

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "myst_nb", "sphinx_copybutton"]

# --- Pages and notebooks ---------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # tests execute the notebooks

# --- API reference ---------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_mock_imports = ["pyspiel", "ray"]  # heavy, and nothing of theirs is on a page
autodoc_default_options = {"members": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = False
# A reference into this package that leads nowhere is an error; names of other packages are not looked up, since the
# build must do without a network.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!cardgym\.).*")]
nitpick_ignore = {  # type variables, which have no entry of their own
    ("py:class", "cardgym.kernel.Function"),
    ("py:class", "cardgym.baselines.training.Kind"),
}

# --- Appearance ------------------------------------------------------------------------------

html_theme = "furo"
html_title = f"cardgym {version}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_extra_path = ["_extra"]  # index.html, which leads to the start page
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def skip_member(app: Any, what: str, name: str, member: object, skip: bool, options: Any) -> bool | None:
    """Leaves out the fields of named tuples, of which the docstring of the class speaks already."""
    return True if type(member).__name__ == "_tuplegetter" else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_member)
