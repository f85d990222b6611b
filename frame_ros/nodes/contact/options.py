# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node's options."""

from __future__ import annotations

from frame_ros.core.options import group, option, options, rule
from frame_ros.nodes.runtime.options import InputOptions
from frame_ros.sensing.contact.options import SensingOptions


@options
class ContactOptions(SensingOptions):
    """Contact node: wrench, joint effort or the robot's own flags -> contact, contact_events,
    external_wrench. Monitoring, not a certified safety function.
    """

    publish_rate: float = option(
        50.0,
        'rate of contact and external_wrench; a contact that begins, ends or turns '
        'unexpected is published at once',
        unit='Hz',
        above=0.0,
        at_most=1000.0,
        live=True,
    )
    joint_wait: float = option(
        0.0,
        'time for which a sample waits for joint states of its time, which may come late; '
        'without, their motion is that of before',
        unit='s',
        at_least=0.0,
    )
    inputs: InputOptions = group(InputOptions)

    @rule('joint_wait', 'below max_sensor_age')
    def _is_short(self) -> bool:
        return self.joint_wait < self.max_sensor_age
