# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the study of labels against metrics."""

from __future__ import annotations

from frame_ros.core.options import option, options


@options
class StudyOptions:
    """The comparison of metrics with labels."""

    metrics: tuple[str, ...] = option(
        (),
        'metrics to compare; none: all of uncertainty, confidence, trajectory and safety that have '
        'a value',
    )
    least: int = option(3, 'fewest episodes of a group that are compared', at_least=2)
    with_static: bool = option(
        False, 'count motion metrics of episodes in which the end effector hardly moved, too'
    )
    resamples: int = option(1000, 'of the bootstrap over episodes', at_least=100)
    seed: int = option(0, 'of the bootstrap', at_least=0)
