# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds of rules for the mark of a partial distance, and intervals of medians, by hand."""

import math

import numpy as np
import pytest

from frame_ros.evaluation.trials.depth_mark import (
    AHEAD,
    NUMBER,
    PART,
    MarkedFrames,
    marked_frames,
    trade_off,
)
from frame_ros.evaluation.trials.depth_world_scores import median_interval
from frame_ros.evaluation.trials.depth_worlds import nearer_places
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR
from frame_ros.sensing.proximity.link_distances import DistanceReading

ROWS = (  # truth, measured, unavailable, unseen_nearer, places_nearer, unobserved
    (0.10, 0.104, '', 2, 8, 0.05),  # right
    (0.10, 0.150, '', 9, 10, 0.02),  # too far
    (0.10, None, NOTHING_NEAR, 30, 40, 0.10),  # nothing found
    (0.10, None, 'misaligned', 30, 40, 0.10),  # gives none: not judged
    (0.50, 0.700, '', 1, 4, None),  # nothing within 0.3 m
    (0.10, 0.090, '', 0, 0, None),  # too near is not too far
)


def test_frames_are_judged_by_what_lies_nearer_than_the_distance():
    names = ('truth', 'measured', 'unavailable', 'unseen_nearer', 'places_nearer', 'unobserved')
    frames = marked_frames([dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))])
    assert frames.wrong.tolist() == [False, True, True, False]
    assert frames.values[NUMBER].tolist() == [2, 9, 30, 0]
    assert frames.values[PART].tolist() == [0.25, 0.9, 0.75, 0.0]
    assert frames.values[AHEAD].tolist() == pytest.approx([0.054, 0.13, 0.2, -math.inf])


def test_a_threshold_keeps_the_share_of_wrong_frames_it_was_chosen_for():
    values = np.arange(20.0)
    wrong = values >= 10  # by hand: 10 wrong ones, of which 80 % are at 12 or above
    chosen = MarkedFrames({NUMBER: values}, wrong)
    other = MarkedFrames({NUMBER: np.array([5.0, 11.0, 12.0, 13.0])}, np.array([0, 1, 0, 1], bool))
    every, most = (trade_off(NUMBER, kept, chosen, other) for kept in (1.0, 0.8))
    assert (every.threshold, most.threshold) == (10.0, 12.0)
    assert (every.right_chosen.count, every.right.count, every.unmarked.count) == (0, 1, 0)
    assert (most.right.count, most.right.frames) == (1, 2)
    assert (most.unmarked.count, most.unmarked.frames, most.silent.frames) == (1, 2, 4)
    none = MarkedFrames({NUMBER: values}, np.zeros(20, bool))
    assert trade_off(NUMBER, 1.0, none, other).threshold == -math.inf


def test_an_interval_of_a_median_is_wider_when_frames_of_a_trial_are_alike():
    values = np.repeat(np.arange(10.0), 10)
    by_trial = median_interval(values, np.repeat(np.arange(10), 10))
    by_frame = median_interval(values, np.arange(100))
    assert by_trial[0] <= 4.5 <= by_trial[1]
    assert by_trial[1] - by_trial[0] > 1.5 * (by_frame[1] - by_frame[0])
    assert all(math.isnan(end) for end in median_interval(values, np.zeros(100, np.intp)))


def test_a_reading_without_places_has_none_nearer():
    assert nearer_places(DistanceReading.missing(('a',), 'blind')) == (0, 0)
