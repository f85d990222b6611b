# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of depth worlds, by hand: every frame counts, also those that nobody sees."""

import math

import pytest

from frame_ros.evaluation.trials.depth_world_scores import Share, empty_score, near_score
from frame_ros.metrics import wilson_interval
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR


def result(*rows):
    names = ('truth', 'measured', 'unobserved', 'is_partial', 'is_visible', 'unavailable')
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_empty_frames_count_what_is_false_below_each_distance():
    score = empty_score(
        [
            result((None, 0.09, None, False, False, ''), (None, 0.04, None, True, False, '')),
            result(
                (None, None, None, False, False, NOTHING_NEAR),
                (None, None, None, False, False, 'camera front: misaligned by much'),
            ),
        ]
    )
    assert score.frames == 4
    assert (score.false.count, score.false_50.count, score.false_20.count) == (2, 1, 0)
    assert (score.withheld.count, score.partial.count) == (1, 1)


def test_all_frames_with_an_obstacle_near_count():
    score = near_score(
        [
            result(
                (0.10, 0.103, None, False, True, ''),  # right
                (0.10, 0.120, None, False, False, ''),  # hidden and silent
                (0.10, 0.120, 0.05, True, False, ''),  # hidden and marked
                (0.10, 0.080, None, False, True, ''),  # something false is nearer
                (0.10, None, None, False, True, NOTHING_NEAR),  # called free
                (0.10, None, None, False, True, 'no link of the robot is in view'),  # gives it up
                (0.50, 0.900, None, False, True, ''),  # far: not judged
            )
        ]
    )
    assert score.frames == 6
    assert (score.silent.count, score.too_far.count, score.too_near.count) == (2, 3, 1)
    assert (score.partial.count, score.unmeasured.count, score.visible.count) == (1, 2, 4)
    assert (score.partial_right.count, score.partial_right.frames) == (0, 2)
    assert (score.partial_wrong.count, score.partial_wrong.frames) == (1, 3)
    assert (score.cautious_too_far.count, score.visible_silent.count) == (2, 1)
    assert score.median_visible == pytest.approx(0.0115)
    assert score.worst_silent == pytest.approx(0.02)


def test_a_share_has_its_interval_or_says_that_there_are_none():
    low, high = wilson_interval(1, 200)
    assert str(Share(1, 200)) == f'0.50 % ({100 * low:.2f} to {100 * high:.2f})'
    assert str(Share(0, 0)) == 'none' and math.isnan(Share(0, 0).value)
