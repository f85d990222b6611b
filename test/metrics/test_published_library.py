# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement with robometric-frame, the published library of FRAME, where it is installed."""

import numpy as np
import pytest

from frame_ros import metrics

library = pytest.importorskip('robometric_frame')
torch = pytest.importorskip('torch')

PATH = np.random.default_rng(0).normal(size=(40, 3)).cumsum(axis=0)
REFERENCE = np.random.default_rng(1).normal(size=(40, 3)).cumsum(axis=0)


def published(metric, *arrays):
    metric.update(*(torch.from_numpy(array) for array in arrays))
    return float(metric.compute())


def test_path_length():
    assert published(library.PathLength(), PATH) == pytest.approx(metrics.path_length(PATH))


def test_path_smoothness_is_our_mean_second_difference():
    wanted = metrics.path_smoothness(PATH, 'mean_second_difference')
    assert published(library.PathSmoothness(), PATH) == pytest.approx(wanted)


def test_curvature_change_does_not_wrap():
    headings = np.random.default_rng(2).uniform(-3.0, 3.0, size=40)
    wanted = metrics.curvature_change(PATH, headings, wrap=False)
    assert published(library.CurvatureChange(), PATH, headings) == pytest.approx(wanted)


def test_trajectory_errors():
    ate = metrics.absolute_trajectory_error(PATH, REFERENCE)
    assert published(library.AbsoluteTrajectoryError(), PATH, REFERENCE) == pytest.approx(ate)
    rte = metrics.relative_trajectory_error(PATH, REFERENCE)
    assert published(library.RelativeTrajectoryError(), PATH, REFERENCE) == pytest.approx(rte)
