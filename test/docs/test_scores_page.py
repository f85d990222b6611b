# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of scores against the scores that there are."""

import re

import numpy as np
from markdown_blocks import ROOT

from frame_ros.confidence.scores import SCORES
from frame_ros.metrics import statistical_consistency

PAGE = (ROOT / 'docs' / 'confidence-scores.md').read_text()


def test_every_score_has_a_row_and_no_row_is_of_something_else():
    section = PAGE.partition('## What each is')[2].partition('## Which policy')[0]
    first = [line.split('|')[1] for line in section.splitlines() if line.startswith('| `')]
    named = {name for cell in first for name in re.findall(r'`(\w+)`', cell)}
    assert named == {*SCORES, 'sample_spread'}


def test_the_figure_of_sampling_noise_is_what_comes_out():
    said = float(re.search(r'of about ([\d.]+)/N', PAGE)[1])
    rng = np.random.default_rng(0)
    for count in (4, 16):
        pairs = rng.normal(size=(60, 2, count, 10, 3))
        values = [float(statistical_consistency(a, b, 2)) for a, b in pairs]
        assert abs(count * np.mean(values) - said) < 0.1
