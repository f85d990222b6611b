# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several nodes have."""

from __future__ import annotations

from frame_ros.core.options import option, options

FITTING, RELIABLE, BEST_EFFORT = RELIABILITIES = ('fitting', 'reliable', 'best_effort')


@options
class ManagedOptions:
    """A lifecycle node."""

    autostart: bool = option(
        True, 'configure and activate at start; false: wait for `ros2 lifecycle set`'
    )


@options
class InputOptions:
    """Subscriptions of the node's inputs."""

    reliability: str = option(
        FITTING,
        'fitting: reliable where all publishers are; best_effort: keeps no publisher waiting',
        choices=RELIABILITIES,
    )
    queue_depth: int = option(
        500, 'messages of each input that are kept while the node is busy', at_least=1
    )
    poll_period: float = option(
        0.004,
        'time between two looks at the inputs, which adds at most this to the latency',
        unit='s',
        above=0.0,
        at_most=0.1,
    )
