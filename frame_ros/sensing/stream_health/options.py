# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Criteria of a stream that is not to be trusted."""

from __future__ import annotations

from frame_ros.core.options import option, options


@options
class StreamHealthOptions:
    """Health of the streams: frozen, repeated, saturated, stamps apart from those of the joints."""

    is_checked: bool = option(True, 'streams are checked, and unavailable where one is wrong')
    frozen_time: float = option(
        0.3,
        'time for which all values of a stream must be the same to count as frozen; and longer '
        'where its own noise does not contradict',
        unit='s',
        at_least=0.05,
    )
    force_range: float = option(
        0.0, 'largest force of an axis that the sensor reads; 0: as seen', unit='N', at_least=0.0
    )
    torque_range: float = option(
        0.0, 'largest torque of an axis, likewise', unit='N m', at_least=0.0
    )
    effort_range: float = option(
        0.0,
        'largest effort of a joint that is reported, in the unit of joint_states; 0: as seen',
        at_least=0.0,
    )
    largest_offset: float = option(
        0.01,
        "difference in time between a stream's stamps and those of the joints, as their motion, "
        'or a jump against their arrival, shows it, from which the stream is not used; 0: none is',
        unit='s',
        at_least=0.0,
    )
    is_offset_corrected: bool = option(
        False, 'a stream with such a difference is used, its stamps corrected'
    )
    least_rate: float = option(
        0.0, 'rate below which a stream is not used; 0: any is', unit='Hz', at_least=0.0
    )
    largest_jitter: float = option(
        0.0,
        'standard deviation of the time between two stamps above which a stream is not used; 0: '
        'any is',
        unit='s',
        at_least=0.0,
    )
    beyond_limits: float = option(
        0.5,
        "distance outside of a joint's limits, a tenth of it in m of one that slides, from which "
        'joint states are not used, as they are in another unit or of another robot; 0: all are',
        unit='rad',
        at_least=0.0,
    )
