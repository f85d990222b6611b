# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of identifying a robot's motors, or a tool: the motion, and the fit."""

from __future__ import annotations

from frame_ros.core.options import option, options, rule
from frame_ros.core.ros_names import NamespaceOptions
from frame_ros.sensing.contact.mount_options import MountPlaceOptions

FEWEST_POSES = 4  # that show a tool


@options
class ExcitationOptions:
    """A motion that excites what is to be identified."""

    period: float = option(16.0, 'period of the series at full speed', unit='s', above=0.0)
    harmonics: int = option(5, 'of each joint', at_least=3)
    fastest: float = option(1.2, 'full speed of a joint', unit='rad/s', above=0.0)
    acceleration: float = option(6.0, 'largest of a joint', unit='rad/s^2', above=0.0)
    range_share: float = option(
        0.85, "share of each joint's range that may be used", above=0.0, at_most=1.0
    )
    floor: float = option(0.0, 'height of the table in the base frame', unit='m')
    clearance: float = option(
        0.04,
        'of every link behind the second joint above the table; at the start less is allowed',
        unit='m',
        at_least=0.0,
    )
    self_clearance: float = option(0.01, 'between links', unit='m')
    candidates: int = option(40, 'random motions to choose from', at_least=1)
    seed: int = option(0, 'of the motion', at_least=0)


@options
class MotionOptions(ExcitationOptions, NamespaceOptions):
    """Motion of a robot over ROS."""

    speed: float = option(
        0.5,
        'share of the full speed of the motion; try a small one first',
        above=0.0,
        at_most=1.0,
    )
    rate: float = option(50.0, 'of the commands', unit='Hz', at_least=1.0, at_most=1000.0)


@options
class IdentificationOptions:
    """The fit of a motor model."""

    gain: float | None = option(
        None,
        'of the observer that will use the model; none: 15, or 30 with torque sensors',
        unit='1/s',
        above=0.0,
    )
    effort_scale: float | None = option(
        None,
        "N m per unit of effort, where it is known; none: found from the arm's weight, or 1 with "
        'torque sensors',
    )
    has_torque_sensors: bool = option(False, 'the efforts are torques behind the gears')
    effort_kind: str = option(
        'either',
        "what the efforts are: currents of the motors or torques ('motor'), currents of their "
        "supply ('supply'), which are as the square of a standing motor's torque, or the one of "
        "them that fits better ('either')",
        choices=('motor', 'supply', 'either'),
    )
    play: float = option(
        0.0175,
        "by which a joint that stands may move without load: its gear's; the default is an "
        "STS3215's, with torque sensors there is none",
        unit='rad',
        at_least=0.0,
    )
    margin: float = option(2.0, 'of the thresholds over what free motion showed', above=0.0)
    max_gap: float = option(0.15, 'longest gap between samples', unit='s', above=0.0)

    @rule('effort_scale', 'a number other than 0')
    def _is_scale(self) -> bool:
        return self.effort_scale != 0.0

    @property
    def observer_gain(self) -> float:
        """The gain, 1/s."""
        return self.gain or (30.0 if self.has_torque_sensors else 15.0)

    @property
    def known_scale(self) -> float | None:
        """N m per unit of effort; None: to be fitted."""
        return 1.0 if self.has_torque_sensors and self.effort_scale is None else self.effort_scale


@options
class ToolOptions(MountPlaceOptions):
    """Poses in which a sensor shows the tool that it carries."""

    sensor_link: str = option(
        '',
        "the link that carries the sensor, whose axes it has, but for its mount; none: the robot's",
    )
    wrench_topic: str = option('', 'topic of the wrench; none: wrench; of a bag, the only one')
    poses: int = option(10, 'number of poses to collect', at_least=FEWEST_POSES)
    most_residual: float | None = option(
        None,
        'residual force with which the tool is written all the same, for a sensor known to be no'
        ' better; none: what noise, drift and 1 % of the weight explain',
        unit='N',
        above=0.0,
    )
