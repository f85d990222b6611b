# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration. The reference pages are generated from what they describe (generate.py)."""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS)]

project = 'frame_ros'
author = 'The frame_ros authors'
copyright = '2026 The frame_ros authors'
release = re.search(r'<version>(.*?)</version>', (ROOT / 'package.xml').read_text())[1]

extensions = ['myst_parser']
myst_enable_extensions = ['colon_fence', 'deflist']
myst_heading_anchors = 3
exclude_patterns = ['_build', 'images/README.md']
html_theme = 'furo'
html_title = 'frame_ros'
html_static_path = ['_static']
html_css_files = ['wide_tables.css']
suppress_warnings = []


def setup(app) -> None:
    """Writes the generated pages before Sphinx looks for sources."""
    from generate import write_pages

    app.connect('config-inited', lambda *_: write_pages(DOCS / 'reference'))
