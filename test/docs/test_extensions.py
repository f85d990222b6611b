# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The code of the pages about extending the package, saved and run as a reader does."""

import json
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for room in ('docs', 'episodes'):
    sys.path.insert(0, str(HERE.parent / room))

from markdown_blocks import ROOT, blocks  # noqa: E402
from robot_bags import robot_bag  # noqa: E402

from frame_ros.reports.report import EPISODE_SECTIONS  # noqa: E402


def code_of(name: str) -> list[str]:
    """The Python blocks of a page."""
    page = ROOT / 'docs' / 'extend' / f'{name}.md'
    return [block.text for block in blocks(page) if block.language == 'python']


def test_a_report_section_is_in_page_and_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, 'fast_motion', raising=False)
    before = list(EPISODE_SECTIONS)
    robot_bag(tmp_path / 'runs' / 'bag', [])
    module, script = code_of('report-section')
    Path('fast_motion.py').write_text(module, encoding='utf-8')
    try:
        exec(compile(script, 'report-section.md', 'exec'), {})
    finally:
        EPISODE_SECTIONS[:] = before
    (episode,) = json.loads(Path('report.json').read_text(encoding='utf-8'))['episodes']
    assert episode['fast_motion'] == {'steps': 0, 'mean_speed': None}
    page = Path('report.html').read_text(encoding='utf-8')
    assert '<h3>Fast motion</h3>' in page
    assert 'The TCP was faster than 0.25 m/s at 0 steps' in page
