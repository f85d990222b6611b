# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The complete policy of docs/own-policy.md, as a user saves it."""

from __future__ import annotations

from pathlib import Path

from markdown_blocks import ROOT, blocks


def save_policy(folder: Path) -> Path:
    """Writes the page's policy into the folder, as wave.py; returns the file."""
    (code,) = (c for c in blocks(ROOT / 'docs' / 'own-policy.md') if c.language == 'python')
    path = folder / 'wave.py'
    path.write_text(code.text, encoding='utf-8')
    return path
