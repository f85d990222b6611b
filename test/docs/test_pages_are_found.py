# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Links of the pages, of README too, which Sphinx does not read: files and headings are there, and
a reader of README comes to every page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_blocks import BLOCK, INLINE, PAGES, ROOT, WRITTEN

LINK = re.compile(r'\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)')
README = ROOT / 'README.md'


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """File and anchor of every link of a page to another page of ours; '': no anchor."""
    text = BLOCK.sub('', page.read_text(encoding='utf-8'))
    for found in LINK.finditer(INLINE.sub(lambda code: code[0].replace('](', ''), text)):
        target = (page.parent / found[1]).resolve() if found[1] else page
        if not target.is_relative_to(WRITTEN[0]):
            yield target, found[2] or ''


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = BLOCK.sub('', page.read_text(encoding='utf-8'))
    titles = re.findall(r'^#+ (.*)$', text, re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-') for title in titles}


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        assert target.exists(), f'{page.name}: {target}'
        assert not anchor or anchor in anchors(target), f'{page.name}: {target.name}#{anchor}'


def test_a_reader_of_readme_comes_to_every_page():
    waiting, found = [README], {README}
    while waiting:
        page = waiting.pop()
        new = {target for target, _ in links(page) if target.suffix == '.md'} - found
        found |= new
        waiting += new
    unlinked = {
        page for page in PAGES if page not in found and page.stem not in ('index', 'changelog')
    }
    assert not unlinked, unlinked
