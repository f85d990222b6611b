# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The options of the world of franky-sim."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.robots.options import FrameOptions


@options
class FrankyWorldOptions(FrameOptions):
    """World node: an FR3 of franky-sim at a table, driven by the real arm's protocol."""

    host: str = option('127.0.0.2', 'loopback address at which the arm and its hand answer')
    seed: int = option(
        0, 'seed of the first scene; the service reset_scene draws others', at_least=0
    )
    truth_rate: float = option(25.0, 'rate of ground_truth/*', unit='Hz', above=0.0, at_most=1000.0)
    patience: float = option(
        0.0,
        'time for which the arm waits for a command of its driver that is late, as no real arm '
        'does: for busy machines; 0: none',
        unit='s',
        at_least=0.0,
        at_most=1.0,
    )
    realtime_priority: int = option(
        48,
        "priority of the physics' thread, where the system permits it: no arm waits for a "
        'computer; 0: none',
        at_least=0,
        at_most=99,
    )
