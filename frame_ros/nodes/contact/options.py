# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The contact node's parameters, checked, and the detectors' settings that they make."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import yaml
from rclpy.node import Node

from frame_ros.core.errors import SetupError
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.nodes.runtime.options import RELIABILITIES
from frame_ros.nodes.runtime.parameters import declare
from frame_ros.robots import Robot, load_robot
from frame_ros.robots.dynamics import Payload
from frame_ros.robots.profiles import find_profile
from frame_ros.sensing.contact.expectation import AllowedRegion, ContactExpectations
from frame_ros.sensing.contact.grasp import GraspOptions
from frame_ros.sensing.contact.joints.detector import JointContactOptions
from frame_ros.sensing.contact.joints.stall import StallOptions
from frame_ros.sensing.contact.robot_flags import RobotContactOptions
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool, read_tool

SOURCES = ('wrench', 'joint_effort', 'robot')
Vector = tuple[float, float, float]
ORIGIN = (0.0, 0.0, 0.0)
GRASP_SOURCES = ('position', 'effort', 'none')


@dataclass(frozen=True)
class ContactOptions:
    """The parameters of the node; config/contact.yaml says what each means."""

    robot: str = 'so101'
    frame_prefix: str = ''
    tip: str = ''
    sources: tuple[str, ...] = ('',)
    publish_rate: float = 50.0
    poll_period: float = 0.004
    reliability: str = 'fitting'
    queue_depth: int = 500
    max_joint_age: float = 0.1
    joint_wait: float = 0.0
    max_sensor_age: float = 0.25
    max_command_age: float = 0.5
    wrench_topic: str = 'wrench'
    wrench_frame: str = ''
    wrench_mount_link: str = ''
    wrench_mount_xyz: Vector = ORIGIN
    wrench_mount_rpy: Vector = ORIGIN
    wrench_is_force_on_tool: bool = True
    tool_file: str = ''
    tool_mass: float = 0.0
    tool_centre_of_mass: Vector = ORIGIN
    tare_at_start: bool = True
    tare_timeout: float = 3.0
    wrench_expected_bias: tuple[float, ...] = (0.0,)
    wrench_cutoff: float = 40.0
    wrench_force_on: float = 1.0
    wrench_torque_on: float = 0.2
    wrench_force_axes_on: Vector = ORIGIN
    wrench_torque_axes_on: Vector = ORIGIN
    wrench_hysteresis: float = 0.6
    wrench_on_time: float = 0.002
    wrench_off_time: float = 0.02
    wrench_inertial_gain: float = 0.2
    wrench_unknown_acceleration: float = 2.0
    wrench_gap: float = 0.1
    wrench_tare_window: float = 0.5
    wrench_steady_force: float = 0.3
    wrench_steady_torque: float = 0.03
    wrench_tare_force: float = 1.0
    wrench_tare_torque: float = 0.15
    wrench_drift_time: float = 60.0
    wrench_drift_force_rate: float = 0.002
    wrench_drift_torque_rate: float = 0.0002
    wrench_largest_payload: float = 3.0
    motors_file: str = ''
    joint_rate: float = 250.0
    joint_gain: float = 0.0
    joint_margin: float = 1.25
    joint_combined_threshold: float = 1.4
    joint_scatter_margin: float = 2.0
    joint_least_threshold: float = 0.02
    joint_release: float = 0.7
    joint_on_time: float = 0.02
    joint_off_time: float = 0.06
    joint_max_gap: float = 0.15
    joint_settle_time: float = 0.3
    joint_held_mass: float = 0.05
    joint_limit_margin: float = 0.02
    joint_tool_link: str = ''
    stall_torque: float = 1.45
    stall_position_error: float = 0.05
    stall_time: float = 0.4
    stall_speed: float = 0.1
    robot_topics: str = 'franka_robot_state_broadcaster'
    robot_wrench_frame: str = ''
    robot_wrench_point: str = 'tip'
    robot_is_force_on_robot: bool = False
    robot_force_on: float = 3.0
    robot_torque_on: float = 1.0
    robot_hysteresis: float = 0.6
    robot_on_time: float = 0.02
    robot_off_time: float = 0.05
    robot_offset_force: float = 4.0
    robot_offset_torque: float = 1.0
    robot_speed_gain: float = 1.0
    finger_links: tuple[str, ...] = ('',)
    allowed_links: tuple[str, ...] = ('',)
    allowed_regions: tuple[str, ...] = ('',)
    grasp_phases: tuple[str, ...] = ('',)
    max_force: float = 40.0
    max_grasp_force: float = 20.0
    gripper_motion: float = 0.002
    grasp_settling: float = 0.5
    grasp_doubt: float = 0.03
    held_reach: float = 0.05
    held_clearance: float = 0.02
    grasp_source: str = 'position'
    gripper_joint: str = ''
    gripper_closed: float = 0.0
    gripper_open: float = 0.0
    gripper_smaller_is_closed: bool = True
    gripper_empty: float = 0.0
    gripper_margin: float = 0.0
    effort_on: float = 0.5
    effort_off: float = 0.25
    grasp_debounce: float = 0.1

    @classmethod
    def declare(cls, node: Node) -> ContactOptions:
        """Declares the parameters on `node` and reads them.

        Raises:
            SetupError: a value is of the wrong type or out of its range.
        """
        values: dict[str, Any] = {}
        for setting in fields(cls):
            default: Any = setting.default
            is_list = isinstance(default, tuple)
            given = declare(node, setting.name, list(default) if is_list else default)
            values[setting.name] = tuple(given) if isinstance(given, (list, array)) else given
        settings = cls(**values)
        settings.check()
        return settings

    def check(self) -> None:
        """Raises SetupError if a value is out of its range."""
        given = named(self.sources)
        if not set(given) <= set(SOURCES) or len(set(given)) != len(given):
            raise SetupError(
                f'sources is {list(self.sources)}; it must be some of {", ".join(SOURCES)}, '
                'each at most once'
            )
        ranges = {
            'publish_rate': (0.0 < self.publish_rate <= 1000.0, 'above 0 and at most 1000 Hz'),
            'joint_rate': (1.0 < self.joint_rate * self.max_sensor_age < math.inf,
                           'more than one in max_sensor_age'),
            'joint_wait': (0.0 <= self.joint_wait < self.max_sensor_age,
                           'at least 0 s and below max_sensor_age'),
            'poll_period': (0.0 < self.poll_period <= 0.1, 'above 0 and at most 0.1 s'),
            'queue_depth': (self.queue_depth >= 1, 'at least 1'),
            'tare_timeout': (self.wrench_tare_window <= self.tare_timeout < math.inf,
                             f'at least wrench_tare_window, {self.wrench_tare_window} s, finite'),
            'reliability': (self.reliability in RELIABILITIES, ' or '.join(RELIABILITIES)),
            'grasp_source': (self.grasp_source in GRASP_SOURCES, ', '.join(GRASP_SOURCES)),
            'robot_wrench_point': (self.robot_wrench_point in ('tip', 'base'), 'tip or base'),
            'wrench_expected_bias': (len(self.wrench_expected_bias) in (1, 6), '1 or 6 numbers'),
        }  # fmt: skip
        for name in ('max_joint_age', 'max_sensor_age', 'max_command_age'):
            ranges[name] = (0.0 < getattr(self, name) < math.inf, 'above 0 s')
        for name in _VECTORS:
            values = getattr(self, name)
            is_vector = len(values) == 3 and all(map(math.isfinite, values))
            ranges[name] = (is_vector, '3 finite numbers')
        for name, (is_met, text) in ranges.items():
            if not is_met:
                raise SetupError(f'{name} is {getattr(self, name)!r}; it must be {text}')

    @property
    def chosen_sources(self) -> tuple[str, ...]:
        """Sources as given; of none the wrench, and joint_effort with known motors."""
        known = ('wrench', 'joint_effort') if self.motors_file else ('wrench',)
        return named(self.sources) or known

    def load_robot(self) -> Robot:
        """The robot, with the tip.

        Raises:
            RobotError: there is no such robot, or no such link.
        """
        return load_robot(self.robot, self.tip or None)

    def tool(self) -> Tool:
        """Tool beyond the force-torque sensor.

        Raises:
            FrameRosError: the file cannot be read, or the tool cannot be.
        """
        if self.tool_file:
            return read_tool(self.tool_file)
        return Tool(self.tool_mass, self.tool_centre_of_mass)

    def wrench(self, tip: Vector) -> WrenchOptions:
        """tip: (3,) m, in the sensor's axes.

        Raises:
            ValueRangeError: a value that cannot be.
        """
        bias = self.wrench_expected_bias
        given = self._fields('wrench_', WrenchOptions) | {
            'tip': tip,
            'force_axes_on': _or_infinite(self.wrench_force_axes_on),
            'torque_axes_on': _or_infinite(self.wrench_torque_axes_on),
            'expected_bias': bias if len(bias) == 6 else None,
        }
        return WrenchOptions(**given)

    def joint_contact(self) -> JointContactOptions:
        """Of the momentum observer and of stalls.

        Raises:
            ValueRangeError: a value that cannot be.
        """
        stall = StallOptions(**self._fields('stall_', StallOptions))
        given = self._fields('joint_', JointContactOptions)
        return JointContactOptions(**given, stall=stall)

    def robot_contact(self) -> RobotContactOptions:
        """Of the robot's own flags and external wrench.

        Raises:
            ValueRangeError: a value that cannot be.
        """
        return RobotContactOptions(**self._fields('robot_', RobotContactOptions))

    def fingers(self) -> tuple[str, ...]:
        """The links that close on things."""
        return named(self.finger_links) or find_profile(self.robot).finger_links

    def expectations(self, robot: Robot, beside: Sequence[str] = ()) -> ContactExpectations:
        """From which contacts are meant. beside: links that stand for the fingers, where a sensor
        cannot tell them apart.

        Raises:
            FrameRosError: a link that the robot does not have, or a region that cannot be.
        """
        fingers, allowed = self.fingers(), named(self.allowed_links)
        regions = tuple(map(region_of, named(self.allowed_regions)))
        for link in (*fingers, *allowed, *(link for region in regions for link in region.links)):
            robot.parent_of(link)
        return ContactExpectations(
            finger_links=tuple(dict.fromkeys((*fingers, *beside))),
            allowed_links=allowed,
            regions=regions,
            grasp_phases=named(self.grasp_phases),
            max_force=self.max_force,
            max_grasp_force=self.max_grasp_force,
            smaller_is_closed=self._smaller_is_closed(),
            gripper_motion=self.gripper_motion,
            settling=self.grasp_settling,
            held_reach=self.held_reach,
            held_clearance=self.held_clearance,
            doubt=self.grasp_doubt,
        )

    def joint_tool(self) -> Payload | None:
        """The tool that the URDF does not know, for the joints' dynamics; None without a link."""
        if not self.joint_tool_link:
            return None
        tool = self.tool()
        return Payload(self.joint_tool_link, tool.mass, tool.centre_of_mass)

    def grasp(self) -> tuple[str, GraspOptions] | None:
        """The gripper's joint, and when it holds something; None: the gripper is not known, or
        grasp_source is none.

        Raises:
            FrameRosError: the gripper's positions are not known, or cannot be.
        """
        preset = find_profile(self.robot).gripper
        joint = self.gripper_joint or (preset.joint if preset else '')
        if self.grasp_source == 'none' or not joint:
            return None
        closed, opened = self.gripper_closed, self.gripper_open
        if closed == opened == 0.0:
            if preset is None:
                raise SetupError(
                    f'gripper_closed and gripper_open are not set, and the gripper of '
                    f'{self.robot!r} is not known: give the positions from which it '
                    'counts as closed and as open, or set grasp_source to none'
                )
            closed, opened = preset.closed, preset.opened
        return joint, GraspOptions(
            source=self.grasp_source,
            closed=closed,
            opened=opened,
            smaller_is_closed=self._smaller_is_closed(),
            empty=self.gripper_empty,
            margin=self.gripper_margin,
            effort_on=self.effort_on,
            effort_off=self.effort_off,
            debounce=self.grasp_debounce,
        )

    def _smaller_is_closed(self) -> bool:
        preset = find_profile(self.robot).gripper
        is_set = not (self.gripper_closed == self.gripper_open == 0.0)
        return self.gripper_smaller_is_closed and (
            is_set or preset is None or preset.smaller_is_closed
        )

    def _fields(self, prefix: str, kind: Any) -> dict[str, Any]:
        """The parameters with this prefix that are named as the fields of a class of settings."""
        names = [field.name for field in fields(kind) if hasattr(self, prefix + field.name)]
        return {name: getattr(self, prefix + name) for name in names}


_VECTORS = tuple(field.name for field in fields(ContactOptions) if field.default == ORIGIN)


def named(texts: Sequence[str]) -> tuple[str, ...]:
    """Without the empty ones: a list parameter that holds nothing is ['']."""
    return tuple(text for text in texts if text)


def region_of(text: str) -> AllowedRegion:
    """A region from YAML, as in '{name: table, lower: [0, -0.3, 0], upper: [0.4, 0.3, 0.02]}'.

    Raises:
        SetupError: it is none.
    """
    example = '{name: table, lower: [0, -0.3, -0.01], upper: [0.4, 0.3, 0.02], max_force: 15}'
    try:
        found = load_yaml(text)
        given = {key: _tuples(value) for key, value in found.items()}
        return AllowedRegion(**given)
    except (yaml.YAMLError, AttributeError, TypeError, ValueError) as error:
        raise SetupError(
            f'allowed_regions has {text!r}: {error}; a region is such as {example}, with links, '
            'phases and held_only if wanted'
        ) from error


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _or_infinite(values: Vector) -> Vector:
    x, y, z = (value if value > 0 else math.inf for value in values)
    return x, y, z
